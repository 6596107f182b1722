"""A platform of SimGrid: servers and storage are hosts, switches routers; routes are the shortest.

SimGrid takes one route between two nodes, so that all cables between them are one split-duplex link with the rate of
all; a property lists the cables. A host's speed is not what such a platform is for: it is 1 Gf, as the file says.
Latencies are those of the link kinds.
Sources: SimGrid documentation 4.1, platform description; simgrid.dtd.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

from designer import atomic
from designer.catalog.parttype import link_kinds
from designer.design.document import Design
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.network_view import Cable, network_view

#: properties that say what SimGrid has no place for
ROLE: Final = "role"
STORAGE: Final = "storage"
CABLES: Final = "cables"


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the platform."""
    del options
    view = network_view(design)
    lines = [
        "<?xml version='1.0'?>",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        "<!-- speed of hosts: 1 Gf, not known; bandwidth: all cables between two nodes together -->",
        '<platform version="4.1">',
        '  <zone id="world" routing="Dijkstra">',
    ]
    for node in view.nodes:
        if node.switch:
            lines.append(f"    <router id={quoteattr(node.name)}/>")
        elif node.storage:
            lines.append(
                f'    <host id={quoteattr(node.name)} speed="1Gf"><prop id="{ROLE}" value="{STORAGE}"/></host>'
            )
        else:
            lines.append(f'    <host id={quoteattr(node.name)} speed="1Gf"/>')
    bundles: dict[tuple[int, int], list[Cable]] = {}
    for cable in view.cables:
        bundles.setdefault((min(cable.a, cable.b), max(cable.a, cable.b)), []).append(cable)
    for n, cables in enumerate(bundles.values()):
        latency = max(link_kinds()[cable.kind].latency.value for cable in cables) * 1e9
        bandwidth = f"{sum(cable.rate * cable.count for cable in cables):.12g}Bps"
        alike = Counter[tuple[float, str]]()
        for cable in cables:
            alike[cable.rate, cable.kind] += cable.count
        made_of = "; ".join(f"{count} x {rate:.12g}Bps {kind}" for (rate, kind), count in alike.items())
        lines.append(
            f'    <link id="cable{n}" bandwidth="{bandwidth}" latency="{latency:.6g}ns" sharing_policy="SPLITDUPLEX">'
            f'<prop id="{CABLES}" value="{made_of}"/></link>'
        )
    for n, (one, other) in enumerate(bundles):
        for a, b, way in ((one, other, "UP"), (other, one, "DOWN")):
            src, dst = quoteattr(view.nodes[a].name), quoteattr(view.nodes[b].name)
            lines.append(
                f'    <route src={src} dst={dst} symmetrical="NO"><link_ctn id="cable{n}" direction="{way}"/></route>'
            )
    lines += ["  </zone>", "</platform>"]
    return atomic.write(path, ("\n".join(lines) + "\n").encode("utf-8"))


EXPORTER = Exporter("simgrid", ".simgrid.xml", "SimGrid platform", write)

"""A platform of SimGrid: servers are hosts, switches routers, cables split-duplex links; routes are the shortest.

A host's speed is not what such a platform is for: it is 1 Gf, told in the file. Latencies are those of the link kinds.
Sources: SimGrid documentation 4.1, platform description; simgrid.dtd.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

from designer import atomic
from designer.catalog.parttype import link_kinds
from designer.design.document import Design
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.network_view import network_view


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the platform."""
    del options
    view = network_view(design)
    lines = [
        "<?xml version='1.0'?>",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        "<!-- speed of hosts: 1 Gf, not known; bandwidth: all cables of a bundle together -->",
        '<platform version="4.1">',
        '  <zone id="world" routing="Dijkstra">',
    ]
    for node in view.nodes:
        if node.switch:
            lines.append(f"    <router id={quoteattr(node.name)}/>")
        else:
            lines.append(f'    <host id={quoteattr(node.name)} speed="1Gf"/>')
    for n, cable in enumerate(view.cables):
        kind = link_kinds()[cable.kind]
        latency = f"{kind.latency.value * 1e9:.6g}ns"
        bandwidth = f"{cable.rate * cable.count:.12g}Bps"
        lines.append(
            f'    <link id="cable{n}" bandwidth="{bandwidth}" latency="{latency}" sharing_policy="SPLITDUPLEX"/>'
        )
    chosen: dict[tuple[int, int], int] = {}
    for n, cable in enumerate(view.cables):
        key = (min(cable.a, cable.b), max(cable.a, cable.b))
        chosen.setdefault(key, n)
    for n in chosen.values():
        cable = view.cables[n]
        for a, b, way in ((cable.a, cable.b, "UP"), (cable.b, cable.a, "DOWN")):
            src, dst = quoteattr(view.nodes[a].name), quoteattr(view.nodes[b].name)
            lines.append(
                f'    <route src={src} dst={dst} symmetrical="NO"><link_ctn id="cable{n}" direction="{way}"/></route>'
            )
    lines += ["  </zone>", "</platform>"]
    notes = atomic.write(path, ("\n".join(lines) + "\n").encode("utf-8"))
    unused = len(view.cables) - len(chosen)
    if unused:
        return (*notes, f"SimGrid takes one route between two nodes: {unused} parallel bundles are in no route")
    return notes


EXPORTER = Exporter("simgrid", ".simgrid.xml", "SimGrid platform", write)

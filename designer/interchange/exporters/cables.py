"""Lists of cables: ports of switches, and topologies of ibdiagnet."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from pathlib import Path
from typing import Final

from designer import atomic
from designer.design.document import Design
from designer.errors import ExchangeError
from designer.interchange.exporters._exporter import Exporter, ExportOptions, without_formula
from designer.interchange.network_view import Cable, Node, network_view, one_line

_COLUMNS = ("device", "shown as", "port", "far device", "far port", "network", "rate [Gb/s]")


def write_ports(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the list, switches first."""
    del options
    view = network_view(design)
    rows: list[tuple[bool, int, int, tuple[str, ...]]] = []
    for serial, cable in enumerate(view.singles()):
        for here, port, there, far in (
            (cable.a, cable.a_port, cable.b, cable.b_port),
            (cable.b, cable.b_port, cable.a, cable.a_port),
        ):
            node = view.nodes[here]
            row = (node.name, node.title, port, view.nodes[there].name, far, cable.kind, f"{cable.rate * 8 / 1e9:.6g}")
            rows.append((not node.switch, here, serial, row))
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow(_COLUMNS)
    sheet.writerows(tuple(without_formula(cell) for cell in row) for *_, row in sorted(rows))
    return atomic.write(path, out.getvalue().encode("utf-8"))


_LANES = 4


def write_ibdiagnet(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the InfiniBand cables, each under both of its systems.

    Raises
    ------
    ExchangeError
        If the design holds nothing that this format can say.
    """
    del options
    view = network_view(design)
    cables = [c for c in view.singles() if c.kind == "infiniband"]
    if not cables:
        raise ExchangeError("the design has no InfiniBand cables", remedy="a .topo file is for InfiniBand fabrics")
    at: defaultdict[int, list[str]] = defaultdict(list)
    for cable in cables:
        for here, here_port, there, there_port in (
            (cable.a, cable.a_port, cable.b, cable.b_port),
            (cable.b, cable.b_port, cable.a, cable.a_port),
        ):
            other = view.nodes[there]
            at[here].append(
                f"   {_port(here_port)} -{_LANES}x-{_rate(cable)}G-> {_system(other)} {other.name} {_port(there_port)}"
            )
    lines = [f"# planned fabric of {one_line(design.title or design.name)}"]
    for n, cabled in at.items():
        lines += ["", f"{_system(view.nodes[n])} {view.nodes[n].name}", *cabled]
    return atomic.write(path, ("\n".join(lines) + "\n").encode("utf-8"))


def _port(port: str) -> str:
    return f"P{port}" if port.isdigit() else port


def _rate(cable: Cable) -> str:
    """Rate of one lane [Gb/s]."""
    return f"{cable.rate * 8 / _LANES / 1e9:.6g}"


def _system(node: Node) -> str:
    if not node.switch:
        return "HOST"
    return f"M{node.model.upper()}" if node.model[:2] in ("qm", "sb") else "SWITCH"


EXPORTERS: Final = (
    Exporter("port-list", ".ports.csv", "Switch port list", write_ports),
    Exporter("ibdiagnet", ".topo", "Planned fabric for ibdiagnet", write_ibdiagnet),
)

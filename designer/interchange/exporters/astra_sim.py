"""The analytical network of ASTRA-sim: the links inside a server, then the network, each a dimension.

Only designs with equal servers can be written. The simulator's GB is 2^30 bytes, and its switch counts a latency twice.
Sources: astra-sim/astra-network-analytical, input examples.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from designer import atomic
from designer.catalog.partkind import Capability, Domain
from designer.catalog.parttype import link_kinds, part_kinds
from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.network_view import network_view, one_line

_GIB = float(2**30)


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the dimensions.

    Raises
    ------
    ExchangeError
        If the design holds nothing that this format can say.
    """
    del options
    rows: list[tuple[str, int, float, float]] = []
    gpus, inner = _inside(design)
    view = network_view(design)
    hosts = [n for n, node in enumerate(view.nodes) if not node.switch and node.gpus]
    each: Counter[int] = Counter()
    for cable in view.cables:
        for end in (cable.a, cable.b):
            each[end] += round(cable.rate * cable.count)
    if len({each[n] for n in hosts}) != 1 or {view.nodes[n].gpus for n in hosts} != {gpus}:
        raise ExchangeError(
            "the servers are not all alike", remedy="ASTRA-sim's analytical network has equal servers only"
        )
    if gpus > 1 and inner > 0:
        rows.append(("Switch", gpus, inner, link_kinds()["nvlink"].latency.value))
    elif gpus > 1:
        raise ExchangeError("the GPUs of a server are not joined", remedy="draw their NVLinks or xGMI links")
    if len(hosts) > 1:
        kind = view.cables[0].kind
        rows.append(("Switch", len(hosts), each[hosts[0]] / gpus, link_kinds()[kind].latency.value))
    lines = [f"# {one_line(design.title or design.name)}: innermost first, rates of one GPU and direction"]
    for name, cells in (
        ("topology", [row[0] for row in rows]),
        ("npus_count", [str(row[1]) for row in rows]),
        ("bandwidth", [f"{row[2] / _GIB:.10g}" for row in rows]),
        ("latency", [f"{row[3] * 1e9 / 2:.6g}" for row in rows]),
    ):
        lines.append(f"{name}: [ {', '.join(cells)} ]")
    lines[3] += "  # GB/s, 1 GB = 2^30 bytes"
    lines[4] += "  # ns, half of a switch's: the simulator counts it twice"
    return atomic.write(path, ("\n".join(lines) + "\n").encode("utf-8"))


def _inside(design: Design) -> tuple[int, float]:
    """The GPUs of a server, and the bandwidth at which one reaches the others [B/s]."""
    net = elaborate(design)
    kinds = part_kinds()
    accelerates = [Capability.ACCELERATE in kinds[d.kind].capabilities for d in net.part_defs]
    at = [p for p, d in enumerate(net.part_def.tolist()) if accelerates[d]]
    if not at:
        raise ExchangeError("the design has no GPUs", remedy="ASTRA-sim simulates GPUs")
    joins = {name for name, kind in link_kinds().items() if kind.domain is Domain.ACCELERATOR}
    rates: Counter[int] = Counter()
    for a, b, d in zip(net.link_a.tolist(), net.link_b.tolist(), net.link_def.tolist(), strict=True):
        link = net.link_defs[d]
        if link.kind in joins:
            for end in (a, b):
                rates[end] += round(raw_rate(link)[0] * link.count)
    homes = Counter(int(net.parent[p]) for p in at)
    if len(set(homes.values())) != 1 or len({rates[p] for p in at}) != 1:
        raise ExchangeError("the servers are not all alike", remedy="ASTRA-sim's network has equal servers only")
    return next(iter(homes.values())), float(rates[at[0]])


EXPORTER = Exporter("astra-sim", ".astra.yml", "ASTRA-sim network", write)

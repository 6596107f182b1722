"""Networks of ASTRA-sim: the analytical backend's YAML, the ns-3 backend's text and htsim's fat trees.

The analytical file states dimensions, innermost first, and not what they are made of: the innermost is taken for the
links between the GPUs of a server where it is fast or not the only one, the others for a network with NICs. Its GB is
2^30 bytes, as the simulator counts.
Sources: astra-sim/astra-network-analytical and astra-network-ns3, input examples; Broadcom csg-htsim, topology files.

The analytical network of ASTRA-sim: the links inside a server, then the network, each a dimension.

Only designs with equal servers can be written. The simulator's GB is 2^30 bytes, and its switch counts a latency twice.
Sources: astra-sim/astra-network-analytical, input examples.

The system layer of ASTRA-sim for a design: which algorithm each collective takes in each dimension, and its chunks.

One entry a dimension, in the order of the network file: direct exchange inside a server whose GPUs share switches, ring
where they are joined pairwise, and halving and doubling between servers of a power of two, ring else.
Sources: astra-sim/astra-sim, examples/system and docs on system configuration.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from pathlib import Path
from typing import Final

from designer import atomic
from designer.catalog.partkind import Capability, Domain
from designer.catalog.parttype import link_kinds, part_kinds
from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.foreign.fabric import FabricDrawing
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.node_links import GpuNetwork, latency_text, parse_nodes
from designer.interchange.foreign.rates import number
from designer.interchange.foreign.yaml_text import items, mapping, parse_yaml, text_of
from designer.interchange.network_view import network_view, one_line
from designer.units import write as spelled

_NS3: Final = re.compile(
    r"\A\s*\d+[ \t]+\d+[ \t]+\d+[ \t]*\r?\n[ \t]*[\d \t]*\r?\n[ \t]*\d+[ \t]+\d+[ \t]+[\d.]+[kMGT]?[bB]ps"
)
_HTSIM: Final = re.compile(r"^Nodes\s+\d+\s*$(?:.*\n){0,6}?\s*^Tiers\s+\d+", re.MULTILINE)
_YAML: Final = re.compile(r"^[ \t]*npus_count\s*:", re.MULTILINE)
_GIB: Final = float(2**30)
_MOST_NPUS: Final = 20_000
_MOST_LINKS: Final = 200_000
#: a single dimension faster than this [B/s] is no network of today
_FAST: Final = 100e9


def _sniff(head: str) -> float:
    if _YAML.search(head) and re.search(r"^[ \t]*topology\s*:", head, re.MULTILINE):
        return 0.95
    return 0.9 if _NS3.match(head) or _HTSIM.search(head) else 0.0


def _read(text: str, file: str) -> Imported:
    if _YAML.search(text):
        return _analytical(text, file)
    return _htsim(text, file) if _HTSIM.search(text) else _ns3(text, file)


# -- ns-3 ----------------------------------------------------------------------------------------------------------


def _ns3(text: str, file: str) -> Imported:
    nodes = parse_nodes(text.lstrip(), file, links_at=2)
    fabric = FabricDrawing(file, "an ns-3 topology of ASTRA-sim", "astra-sim", "ethernet")
    network = GpuNetwork(fabric, 0)
    switches = set(nodes.switches)
    if nodes.header[1] != str(len(nodes.switches)):
        raise ExchangeError(
            f"the header counts {nodes.header[1]} switches, line 2 lists {len(nodes.switches)}",
            file=file,
            place="line 2",
            remedy="check the header",
        )
    for n in range(int(nodes.header[0])):
        if n in switches:
            fabric.switch(str(n), f"switch {n}", {"node": str(n)})
        else:
            network.gpu(n)
    for connection in nodes.connections:
        ends = [fabric.nodes[str(n)] if n in switches else network.nic(n) for n in (connection.a, connection.b)]
        fabric.join(ends[0], ends[1], connection.rate, latency=latency_text(connection.delay))
    return fabric.finish()


# -- the analytical backend ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Dimension:
    """One dimension: its shape, how many NPUs it has, rate [B/s] and latency [s] of a link."""

    shape: str
    size: int
    rate: float
    latency: float


def _analytical(text: str, file: str) -> Imported:
    top = mapping(parse_yaml(text, file))
    columns = [items(top.get(name)) for name in ("topology", "npus_count", "bandwidth", "latency")]
    if not columns[0] or len({len(c) for c in columns}) != 1:
        lengths = ", ".join(str(len(c)) for c in columns)
        raise ExchangeError(
            f"topology, npus_count, bandwidth and latency have {lengths} entries",
            file=file,
            remedy="give each of the four lists one entry for each dimension",
        )
    dimensions = [_dimension(n, [text_of(c) for c in row], file) for n, row in enumerate(zip(*columns, strict=True))]
    total = prod(d.size for d in dimensions)
    if total > _MOST_NPUS:
        raise ExchangeError(f"it has {total:,} NPUs", file=file, remedy=f"networks are read up to {_MOST_NPUS:,}")
    return _draw(dimensions, total, file)


def _dimension(index: int, row: list[str], file: str) -> _Dimension:
    place = f"dimension {index + 1}"
    shape = row[0].strip()
    if shape.lower() not in ("ring", "fullyconnected", "switch"):
        raise ExchangeError(
            f"{shape[:40]!r} is no shape of a dimension",
            file=file,
            place=place,
            remedy="use Ring, FullyConnected or Switch",
        )
    values = [number(word) for word in row[1:]]
    for name, word, value in zip(("npus_count", "bandwidth", "latency"), row[1:], values, strict=True):
        if value is None or (name != "latency" and value <= 0):
            raise ExchangeError(
                f"{name} is {word[:40]!r}, not a number", file=file, place=place, remedy="fill in the real value"
            )
    size, rate, latency = (value or 0.0 for value in values)
    if size != int(size) or size < 1:
        raise ExchangeError(f"{size:g} NPUs", file=file, place=place, remedy="give a whole number")
    return _Dimension(shape.lower(), int(size), rate * _GIB, latency * 1e-9)


def _draw(dimensions: Sequence[_Dimension], total: int, file: str) -> Imported:
    fabric = FabricDrawing(file, "an ASTRA-sim network", "astra-sim", "ethernet")
    inside = len(dimensions) > 1 or dimensions[0].rate >= _FAST
    network = GpuNetwork(fabric, dimensions[0].size if inside else 1)
    for n in range(total):
        network.gpu(n)
    links = 0
    stride = 1
    for index, dimension in enumerate(dimensions):
        for members in _groups(total, stride, dimension.size):
            links += _join(fabric, network, members, dimension, inside and index == 0, index)
            if links > _MOST_LINKS:
                raise ExchangeError(f"it has more than {_MOST_LINKS:,} links", file=file, remedy="use fewer NPUs")
        stride *= dimension.size
    fabric.note(
        "IMP-DIMENSIONS",
        "an ASTRA-sim network names no parts: the innermost dimension is taken for the links inside a server, "
        "the others for a network with a NIC for each of its links"
        if inside
        else "an ASTRA-sim network names no parts: its dimension is taken for a network with a NIC for each link",
        remedy="choose part types, and move GPUs to other servers where that is wrong",
    )
    fabric.note("IMP-GIB", "bandwidths are read as the simulator counts them: 1 GB is 2^30 bytes")
    return fabric.finish()


def _groups(total: int, stride: int, size: int) -> list[list[int]]:
    """NPUs that differ in one dimension only."""
    starts = [n for n in range(total) if n // stride % size == 0]
    return [[start + i * stride for i in range(size)] for start in starts]


def _join(
    fabric: FabricDrawing, network: GpuNetwork, members: list[int], dimension: _Dimension, inner: bool, index: int
) -> int:
    latency = spelled(dimension.latency, "duration") if dimension.latency else ""
    if len(members) < 2:
        return 0
    if dimension.shape == "switch":
        stated = {"dimension": str(index + 1), **({"derived": "yes"} if inner else {})}
        key = f"dimension {index} of {members[0]}"
        machine = fabric.machine
        if inner:
            switch = machine.add("nvswitch", parent=machine.parts[network.gpu(members[0])].parent, attributes=stated)
        else:
            switch = fabric.switch(key, "", stated)
        for n in members:
            _pair(fabric, network, network.gpu(n) if inner else network.nic(n), switch, dimension, inner, latency)
        return len(members)
    if dimension.shape == "ring":
        pairs = list(zip(members, [*members[1:], members[0]], strict=True)) if len(members) > 2 else [tuple(members)]
    else:
        pairs = list(combinations(members, 2))
    if len(pairs) > _MOST_LINKS:
        raise ExchangeError(f"it has more than {_MOST_LINKS:,} links", file=fabric.machine.file)
    for a, b in pairs:
        ends = (network.gpu(a), network.gpu(b)) if inner else (network.nic(a), network.nic(b))
        _pair(fabric, network, ends[0], ends[1], dimension, inner, latency)
    return len(pairs)


def _pair(
    fabric: FabricDrawing, network: GpuNetwork, a: str, b: str, dimension: _Dimension, inner: bool, latency: str
) -> None:
    if inner:
        network.accelerator_link(a, b, dimension.rate, latency)
    else:
        fabric.join(a, b, dimension.rate, latency=latency)


# -- htsim -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Tier:
    """One tier of a fat tree, from the top of racks up."""

    rate: float = 0.0
    down: int = 0
    up: int = 0
    latency: float = 0.0
    bundle: int = 1


def _htsim(text: str, file: str) -> Imported:
    head: dict[str, int] = {}
    tiers: list[_Tier] = []
    for line_number, raw in enumerate(text.splitlines(), start=1):
        words = raw.split("#")[0].split()
        if not words:
            continue
        value = number(words[1]) if len(words) == 2 else None
        name = words[0].lower()
        if value is None or value > 1e9:
            raise ExchangeError(
                f"{raw.strip()[:60]!r} has no number", file=file, place=f"line {line_number}", remedy="check the line"
            )
        if name == "tier":
            tiers.append(_Tier())
        elif tiers:
            _tier_value(tiers[-1], name, value)
        else:
            head[name] = int(value)
    return _fat_tree(head, tiers, file)


def _tier_value(tier: _Tier, name: str, value: float) -> None:
    if name == "downlink_speed_gbps":
        tier.rate = value * 1e9 / 8
    elif name == "radix_down":
        tier.down = int(value)
    elif name == "radix_up":
        tier.up = int(value)
    elif name == "downlink_latency_ns":
        tier.latency = value * 1e-9
    elif name == "bundle":
        tier.bundle = max(1, int(value))


def _fat_tree(head: dict[str, int], tiers: list[_Tier], file: str) -> Imported:
    nodes = head.get("nodes", 0)
    if nodes < 1 or nodes > _MOST_NPUS or len(tiers) != head.get("tiers") or not 1 <= len(tiers) <= 3:
        raise ExchangeError(
            f"it has {nodes} nodes and {len(tiers)} of {head.get('tiers', 0)} tiers",
            file=file,
            remedy=f"fat trees are read with 1 to 3 tiers and up to {_MOST_NPUS:,} nodes",
        )
    if any(t.rate <= 0 or t.down < 1 or (t.up < 1 and t is not tiers[-1]) for t in tiers):
        raise ExchangeError("a tier lacks speed or radix", file=file, remedy="check Downlink_speed_Gbps and Radix")
    fabric = FabricDrawing(file, "an htsim topology", "astra-sim", "ethernet")
    low = [fabric.nic(f"nic {n}", fabric.host(str(n), f"node {n}")) for n in range(nodes)]
    per_pod = head.get("podsize", nodes) or nodes
    ends = [(nic, n // per_pod) for n, nic in enumerate(low)]
    for level, tier in enumerate(tiers):
        ends = _level(fabric, ends, tier, level, 1 if level == 0 else tiers[level - 1].up, file)
    return fabric.finish()


def _level(
    fabric: FabricDrawing, below: list[tuple[str, int]], tier: _Tier, level: int, ups: int, file: str
) -> list[tuple[str, int]]:
    """Switches of one tier, joined to what is below; (id, pod) of each."""
    latency = spelled(tier.latency, "duration") if tier.latency else ""
    if ups % tier.bundle or tier.down % tier.bundle or len(below) * ups % tier.down:
        raise ExchangeError(
            f"tier {level} does not fit the one below: {len(below)} times {ups} links into {tier.down} ports",
            file=file,
            remedy="check Radix_Up, Radix_Down and Bundle",
        )
    count = len(below) * ups // tier.down
    if level == 0:
        made = [(fabric.switch(f"0 {i}", f"tier 0 switch {i}"), below[i * tier.down][1]) for i in range(count)]
        for n, (nic, _) in enumerate(below):
            fabric.join(nic, made[n // tier.down][0], tier.rate, latency=latency)
        return made
    # the last tier joins all pods, the one below it only its own
    pods: dict[int, list[str]] = {}
    for switch, pod in below:
        pods.setdefault(pod, []).append(switch)
    reach = tier.down // tier.bundle
    whole = reach > max(map(len, pods.values()))
    groups = [[s for s, _ in below]] if whole else list(pods.values())
    made = []
    share = count // len(groups)
    for number_of, members in enumerate(groups):
        fresh = [
            fabric.switch(f"{level} {number_of} {i}", f"tier {level} switch {number_of * share + i}")
            for i in range(share)
        ]
        made += [(s, number_of) for s in fresh]
        if (not whole and len(pods) > 1) or len(pods) == 1:
            pairs = [(m, s) for m in members for s in fresh]
        else:
            pairs = _to_cores(list(pods.values()), fresh, ups // tier.bundle)
        for a, b in pairs:
            fabric.join(a, b, tier.rate, count=tier.bundle, latency=latency)
    return made


def _to_cores(pods: list[list[str]], cores: list[str], reach: int) -> list[tuple[str, str]]:
    """Switch i of every pod to its own share of the cores."""
    return [(s, cores[(i * reach + k) % len(cores)]) for pod in pods for i, s in enumerate(pod) for k in range(reach)]


IMPORTER = Importer("astra-sim", "ASTRA-sim network", (".yml", ".yaml", ".txt", ".topo"), _sniff, _read)


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the dimensions.

    Raises
    ------
    ExchangeError
        If the design holds nothing that this format can say.
    """
    del options
    rows: list[tuple[str, int, float, float]] = []
    gpus, inner = _gpus_of_server(design)
    view = network_view(design)
    hosts = [n for n, node in enumerate(view.nodes) if not node.switch and node.gpus]
    each: Counter[int] = Counter()
    for cable in view.cables:
        for end in (cable.a, cable.b):
            each[end] += round(cable.rate * cable.count)
    if len({each[n] for n in hosts}) != 1 or {view.nodes[n].gpus for n in hosts} != {gpus}:
        raise ExchangeError(
            "the servers differ from one another", remedy="ASTRA-sim's analytical network has equal servers only"
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


def _gpus_of_server(design: Design) -> tuple[int, float]:
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
        raise ExchangeError("the servers differ from one another", remedy="ASTRA-sim's network has equal servers only")
    return next(iter(homes.values())), float(rates[at[0]])


EXPORTER = Exporter("astra-sim", ".astra.yml", "ASTRA-sim network", write)

_SPLITS = 4


def write_system(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the configuration.

    Raises
    ------
    ExchangeError
        If the design has no GPUs, or servers that differ.
    """
    del options
    algorithms = _algorithms(design)
    stated = {
        "scheduling-policy": "LIFO",
        "endpoint-delay": 10,
        "active-chunks-per-dimension": 1,
        "preferred-dataset-splits": _SPLITS,
        "all-reduce-implementation": algorithms,
        "all-gather-implementation": algorithms,
        "reduce-scatter-implementation": algorithms,
        "all-to-all-implementation": algorithms,
        "collective-optimization": "localBWAware",
        "local-mem-bw": 1600,
        "boost-mode": 0,
    }
    return atomic.write(path, (json.dumps(stated, indent=2) + "\n").encode())


def _algorithms(design: Design) -> list[str]:
    net = elaborate(design)
    kinds = part_kinds()
    accelerates = [Capability.ACCELERATE in kinds[d.kind].capabilities for d in net.part_defs]
    homes: dict[int, int] = {}
    for part, definition in enumerate(net.part_def.tolist()):
        if accelerates[definition]:
            home = int(net.parent[part])
            homes[home] = homes.get(home, 0) + 1
    if not homes:
        raise ExchangeError("the design has no GPUs", remedy="ASTRA-sim simulates GPUs")
    if len(set(homes.values())) > 1:
        raise ExchangeError("the servers differ from one another", remedy="ASTRA-sim's network has equal servers only")
    found: list[str] = []
    if next(iter(homes.values())) > 1:
        switched = any(d.kind == "nvswitch" for d in net.part_defs)
        found.append("direct" if switched else "ring")
    if len(homes) > 1:
        found.append("halvingDoubling" if len(homes) & (len(homes) - 1) == 0 else "ring")
    return found or ["ring"]


SYSTEM_EXPORTER = Exporter("astra-sim-system", ".astra-system.json", "ASTRA-sim system", write_system)

"""Edits that might lift a bottleneck: what can be bought or set for what binds, and what each costs.

Nothing here is promised to help: every candidate, alone and with others, is analysed before it is stated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import Capability, PartType, part_kinds, value_of
from designer.decisions.suggest_cost import Cost
from designer.design.address import Address, block_at, split_path, where_stored
from designer.design.channels import channel_number
from designer.design.copies import name_of_copy, shifted
from designer.design.document import Block, Design, Link, Part, Wiring
from designer.design.edit import Edit
from designer.design.edits.groups import SetReplicas
from designer.design.edits.links import AddLinks, ChangeLinks, Reconnect
from designer.design.edits.parts import AddParts, SetType, SetValue
from designer.design.edits.properties import SetPolicy
from designer.design.edits.together import Together
from designer.design.edits.wirings import AddWirings, ChangeWirings
from designer.design.ids import Numberer, next_id
from designer.design.naming import one_of, several, without_number
from designer.design.query import links_of
from designer.engine.network import Network
from designer.engine.network.capacities import NETWORK
from designer.engine.results import Bottleneck, WorkloadResult
from designer.errors import DesignerError
from designer.fields import amount
from designer.plain_text import counted

#: lanes a slot can have
_LANES: Final = (1, 2, 4, 8, 16)
#: line rates that cables and ports are sold with: IEEE 802.3, and InfiniBand from EDR on [bit/s]
_LINE_RATES: Final = (1e9, 10e9, 25e9, 40e9, 50e9, 100e9, 200e9, 400e9, 800e9)
_BITS: Final = 8
#: what a type of a kind is chosen by: the rate that a better one has more of
_RATE: Final[Mapping[str, str]] = {
    "nic": "bandwidth_per_direction",
    "dpu": "bandwidth_per_direction",
    "drive": "read_bandwidth",
    "memory": "memory_bandwidth",
}
#: a limit of what one client gets of a storage system is called so, with the path of the system after it
_CLIENT: Final = "client:"
#: so many better types of a part are tried, the nearest first
_TYPES_LIMIT: Final = 2
#: one route policy a line: its value that may help, and what it is called
_POLICIES: Final = (
    ("gpudirect", True, "let NICs and drives reach GPU memory directly (GPUDirect)"),
    ("pcie_acs", False, "let devices below a PCIe switch talk without the root (ACS off)"),
    ("numa_local", True, "keep traffic at the socket of its GPU"),
    ("rail_affinity", True, "send each GPU's traffic over its own rail"),
    ("relay_through_gpu", True, "let GPUs pass data on for others"),
    ("ecmp", "split", "spread flows evenly over equal paths instead of hashing them"),
)


@dataclass(frozen=True, eq=False)
class Candidate:
    """One edit that might help.

    Parameters
    ----------
    title
        For scripts: with ids.
    about
        What it changes: of candidates about the same thing only one can be taken.
    named
        The title with names in place of ids, for people; empty where the title has no ids.
    """

    title: str
    about: str
    edit: Edit
    cost: Cost
    named: str = ""

    @property
    def words(self) -> str:
        """The change in words, for people."""
        return self.named or self.title


@dataclass(frozen=True, slots=True)
class Prices:
    """What parts cost: from the user's list by id or title, in small letters; without one ports and watts count."""

    by_part: Mapping[str, float] | None = None
    currency: str = ""

    def of(self, part_type: PartType | None, count: int) -> float | None:
        """The price of some parts; None where the list does not hold it."""
        if self.by_part is None or part_type is None:
            return None
        found = self.by_part.get(part_type.id.lower(), self.by_part.get(part_type.title.lower()))
        return None if found is None else found * count

    def of_link(self, kind: str, count: int) -> float | None:
        """The price of some cables, listed by the kind of link."""
        found = self.by_part.get(kind.lower()) if self.by_part is not None else None
        return None if found is None else found * count


def candidates(network: Network, result: WorkloadResult, prices: Prices) -> list[Candidate]:
    """What might lift what binds a workload, or what binds next; each thing once, cheapest first."""
    found: dict[tuple[str, str], Candidate] = {}
    makers: tuple[Callable[[Network, Bottleneck, Prices], Iterable[Candidate]], ...] = (_links, _parts)
    for bottleneck in (*result.binding, *result.next):
        for make in makers:
            for one in make(network, bottleneck, prices):
                found.setdefault((one.about, one.title), one)
    for one in _policies(network.design):
        found.setdefault((one.about, one.title), one)
    kept = [one for one in found.values() if _applies(network.design, one)]
    return sorted(kept, key=lambda one: (one.cost.key, one.title))


def _applies(design: Design, candidate: Candidate) -> bool:
    try:
        return candidate.edit.apply(design) is not design
    except DesignerError:
        return False


def _policies(design: Design) -> Iterator[Candidate]:
    for name, value, title in _POLICIES:
        if getattr(design.policy, name) != value:
            yield Candidate(title, f"policy.{name}", SetPolicy({name: value}), Cost())


def _links(network: Network, bottleneck: Bottleneck, prices: Prices) -> Iterator[Candidate]:
    """For a link that binds: a wider slot, one more cable, a GPU that moves, better cards at its ends."""
    number = channel_number(network.net, bottleneck.id) if bottleneck.what == "channel" else None
    if number is None:
        return
    link = number >> 1
    definition = network.net.link(link)
    ends = [int(network.net.link_a[link]), int(network.net.link_b[link])]
    if definition.kind == "pcie":
        yield from _slots(network, link, prices)
        yield from _uplinks(network, link, prices)
        yield from _moves(network, link)
    if network.domain[link] == NETWORK:
        yield from _cables(network, link, prices)
        for end in ends:
            if Capability.ATTACH in network.kind(end).capabilities:
                yield from _types(network, end, prices)
    for end in ends:
        if Capability.MEMORY in network.kind(end).capabilities:
            yield from _types(network, end, prices)


def _parts(network: Network, bottleneck: Bottleneck, prices: Prices) -> Iterator[Candidate]:
    """For a part that binds, or what one client gets of it: a better one, or one more of it where it stores."""
    client = bottleneck.what == "limit" and bottleneck.id.startswith(_CLIENT)
    if bottleneck.what != "part" and not client:
        return
    try:
        number = network.net.index_of(bottleneck.id.removeprefix(_CLIENT) if client else bottleneck.id)
    except DesignerError:
        return
    if network.net.part(number).kind == "storage":
        yield from storage_types(network, number, prices, client=client)
    else:
        yield from _types(network, number, prices)
    if Capability.STORE in network.kind(number).capabilities:
        yield from _add_storage(network, number, prices)


def _place(network: Network, path: str) -> tuple[Address, str, Block]:
    """Path of the definition of something, its id there, and the block."""
    within, name = split_path(path)
    stored = where_stored(network.design, within)
    return stored, name, block_at(network.design, stored)


def _equal_links(network: Network, link: int) -> tuple[Address, list[Link | Wiring], int]:
    """Links of the same block that are as the given one and join the same kinds, and how many there are in all."""
    net = network.net
    path, definition = net.link_path(link), net.link(link)
    if isinstance(definition, Wiring):
        outer, _, _ = path.rpartition("/")
        within = where_stored(network.design, split_path(f"{outer}/x")[0]) if outer else ()
        own: list[Link | Wiring] = [definition]
    else:
        within, _, block = _place(network, path)
        kinds = {block.parts[e].kind if e in block.parts else "" for e in (definition.a, definition.b)}
        own = []
        for other in block.links.values():
            values = ("kind", "count", "lanes", "generation", "bandwidth_per_direction")
            same = all(getattr(other, v) == getattr(definition, v) for v in values)
            if same and {block.parts[e].kind if e in block.parts else "" for e in (other.a, other.b)} == kinds:
                own.append(other)
    wanted = {id(d) for d in own}
    defs = [k for k, d in enumerate(net.link_defs) if id(d) in wanted]
    return within, own, int(np.isin(net.link_def, defs).sum())


def _slots(network: Network, link: int, prices: Prices) -> Iterator[Candidate]:
    """A PCIe link with the lanes and generation that both of its ends can do."""
    net = network.net
    definition = net.link(link)
    within, own, times = _equal_links(network, link)
    ids = tuple(x.id for x in own)
    ends = [net.part(int(e[link])) for e in (net.link_a, net.link_b)]
    lanes, generation = definition.lanes or 16, definition.generation or 0
    most_lanes = min(_count_of(network, e, "pcie_lanes", 16) for e in ends)
    most_generation = min(_count_of(network, e, "pcie_generation", generation) for e in ends)
    what = _ids_text(ids, "the slot at", "slots such as")
    slots = _links_text(network, link, f"{counted(times, 'PCIe link')}")
    for wider in (n for n in _LANES if lanes < n <= most_lanes):
        edit = ChangeLinks(ids, {"lanes": wider, "bandwidth_per_direction": None}, within=within)
        cost, named = Cost.of(prices.by_part, 0.0, times), f"widen {slots} to x{wider}"
        yield Candidate(f"widen {what} to x{wider}", f"slot:{within}{ids}", edit, cost, named)
    if generation and most_generation > generation:
        changes = {"generation": most_generation, "bandwidth_per_direction": None}
        edit = ChangeLinks(ids, changes, within=within)
        title, named = (f"run {which} at PCIe {most_generation}.0" for which in (what, slots))
        yield Candidate(title, f"slot:{within}{ids}", edit, Cost.of(prices.by_part, 0.0, times), named)


def _uplinks(network: Network, link: int, prices: Prices) -> Iterator[Candidate]:
    """A second uplink of a PCIe switch, where both of its ends have lanes left."""
    net = network.net
    definition = net.link(link)
    ends = [int(e[link]) for e in (net.link_a, net.link_b)]
    kinds = [net.part(end).kind for end in ends]
    if definition.count > 1 or "pcie_switch" not in kinds or not set(kinds) <= {"pcie_switch", "cpu", "numa"}:
        return
    within, own, times = _equal_links(network, link)
    lanes = definition.count * (definition.lanes or 16)
    if any(_free_lanes(network, end) < lanes * _ends_at(network, own, end) for end in ends):
        return
    ids = tuple(x.id for x in own)
    change = ChangeWirings if isinstance(definition, Wiring) else ChangeLinks
    edit = change(ids, {"count": 2 * definition.count}, within=within)
    what = f"a second x{definition.lanes or 16} uplink"
    title = f"add {what} at {ids[0]}" if len(ids) == 1 else f"add {what} at each of {len(ids)} such as {ids[0]}"
    cost = Cost.of(prices.by_part, prices.of_link("pcie", definition.count * times), 2 * definition.count * times)
    named = _links_text(network, link, f"add {what} to {counted(times, 'PCIe link')}")
    yield Candidate(title, f"uplink:{within}{ids}", edit, cost, named)


def _ends_at(network: Network, own: Sequence[Link | Wiring], number: int) -> int:
    """How many links of some definitions end at a part."""
    net = network.net
    defs = [k for k, d in enumerate(net.link_defs) if any(d is one for one in own)]
    return int((np.isin(net.link_def, defs) & ((net.link_a == number) | (net.link_b == number))).sum())


def _free_lanes(network: Network, number: int) -> float:
    """PCIe lanes of a part that no link has; infinite where it does not say how many it has."""
    net = network.net
    lanes = _count_of(network, net.part(number), "pcie_lanes", 0)
    if not lanes:
        return np.inf
    at = np.flatnonzero((net.link_a == number) | (net.link_b == number)).tolist()
    return lanes - sum(d.count * (d.lanes or 0) for d in map(net.link, at) if d.kind == "pcie")


def _count_of(network: Network, part: Part, name: str, otherwise: int) -> int:
    quantity = network.design.quantity(part, name)
    found = value_of(part.kind, name, quantity) if quantity is not None else None
    return int(found) if found else otherwise


def _ids_text(ids: Sequence[str], one: str, several: str) -> str:
    return f"{one} {ids[0]}" if len(ids) == 1 else f"{len(ids)} {several} {ids[0]}"


def _parts_text(network: Network, number: int, times: int) -> str:
    """Parts such as the given one, in words: ``256 NICs``, or the name of the one there is."""
    part = network.net.part(number)
    if times == 1:
        return part.label
    title = network.kind(number).title
    return counted(times, title, several(title))


def _links_text(network: Network, link: int, what: str) -> str:
    """What is done to links such as the given one, and between what: ``cables … between NIC and Leaf switch``."""
    net = network.net
    names: list[str] = []
    for number in (int(net.link_a[link]), int(net.link_b[link])):
        within, name, block = _place(network, net.path(number))
        group = block_at(network.design, within[:-1]).groups[within[-1][0]] if within else None
        alone = group is not None and len(block.parts) == 1
        own = without_number(block.parts[name].label)
        # parts that have no name but their id are called by their kind
        own = network.kind(number).title if own == own.lower() else own
        names.append(one_of(group.label).split(",")[0] if group is not None and alone else own)
    return f"{what} between {names[0]} and {names[1]}"


def _moves(network: Network, link: int) -> Iterator[Candidate]:
    """A GPU from below a link that binds to a part like its own that fewer GPUs hang on."""
    net = network.net
    path = net.link_path(link)
    if isinstance(net.link(link), Wiring):
        return
    within, link_id, block = _place(network, path)
    crowded = _gpus_below(block)
    definition = block.links[link_id]
    for switch in (definition.a, definition.b):
        part = block.parts.get(switch)
        if part is None or len(crowded.get(switch, ())) < 2:
            continue
        for other in block.parts.values():
            fewer = len(crowded.get(other.id, ())) + 1 < len(crowded[switch])
            if other.kind == part.kind and other.id != switch and fewer:
                gpu, own = crowded[switch][-1]
                side = "a" if own.a == switch else "b"
                edit = Reconnect(own.id, side, other.id, within=within)
                times = int((net.link_def == int(net.link_def[link])).sum())
                title = f"move {gpu} from {switch} to {other.id}"
                named = f"move {block.parts[gpu].label} from {part.label} to {other.label}"
                yield Candidate(title, f"gpu:{within}{gpu}", edit, Cost(ports=times), named)


def _gpus_below(block: Block) -> dict[str, list[tuple[str, Link]]]:
    """GPUs of a block by the part their PCIe link leads to."""
    found: dict[str, list[tuple[str, Link]]] = {}
    for part in block.parts.values():
        if part.kind != "gpu":
            continue
        for one in links_of(block, part.id):
            if one.kind == "pcie":
                found.setdefault(one.b if one.a == part.id else one.a, []).append((part.id, one))
    return found


def _cables(network: Network, link: int, prices: Prices) -> Iterator[Candidate]:
    """One more parallel cable, twice as many, and the same cables at the rate of the faster end."""
    net = network.net
    definition = net.link(link)
    within, own, times = _equal_links(network, link)
    ids = tuple(x.id for x in own)
    change = ChangeWirings if isinstance(definition, Wiring) else ChangeLinks
    what = _ids_text(ids, "", "such as").strip()
    ends = [network.kind(int(e[link])) for e in (net.link_a, net.link_b)]
    about = f"cables:{within}{ids}"
    uplink = all(Capability.SWITCH in kind.capabilities and Capability.ATTACH not in kind.capabilities for kind in ends)
    name = "uplink" if uplink else "cable"
    free = min(_free_ports(network, int(end[link])) for end in (net.link_a, net.link_b))
    for more in sorted(k for k in {1, definition.count} if k <= free):
        edit = change(ids, {"count": definition.count + more}, within=within)
        cost = Cost.of(prices.by_part, prices.of_link(definition.kind, more * times), 2 * more * times)
        title = (
            f"add {more} {name}{'s' if more > 1 else ''} to each of {what}" if times > 1 else f"add a {name} to {what}"
        )
        yield Candidate(title, about, edit, cost, _links_text(network, link, f"add {counted(more * times, name)}"))
    rate = amount(definition.bandwidth_per_direction, "rate") if definition.bandwidth_per_direction else 0.0
    faster = next((r for r in _LINE_RATES if rate * _BITS < r * (1 - 1e-9)), None)
    if rate and faster is not None:
        text = f"{faster / 1e9:g} Gb/s"
        edit = change(ids, {"bandwidth_per_direction": text}, within=within)
        cost = Cost.of(prices.by_part, prices.of_link(definition.kind, definition.count * times), 2 * times)
        named = _links_text(network, link, f"cables of {text}")
        yield Candidate(f"cables of {text} for {what}", about, edit, cost, named)


def _free_ports(network: Network, number: int) -> float:
    """Network ports of a part that no cable is in; infinite where it does not say how many it has."""
    net = network.net
    ports = _count_of(network, net.part(number), "ports", 0)
    if not ports:
        return np.inf
    at = np.flatnonzero(((net.link_a == number) | (net.link_b == number)) & (network.domain == NETWORK))
    return max(0, ports - int(network.count[at].sum()))


def _types(network: Network, number: int, prices: Prices) -> Iterator[Candidate]:
    """A better type of the catalog for all parts of the block that have the same."""
    net, design = network.net, network.design
    part = net.part(number)
    name = _RATE.get(part.kind)
    if name is None:
        return
    within, _, block = _place(network, net.path(number))
    ids = tuple(p.id for p in block.parts.values() if p.kind == part.kind and p.type == part.type)
    wanted = {id(block.parts[i]) for i in ids}
    times = int(np.isin(net.part_def, [k for k, d in enumerate(net.part_defs) if id(d) in wanted]).sum())
    quantity = design.quantity(part, name)
    has = value_of(part.kind, name, quantity) if quantity is not None else None
    old = design.type_of(part)
    technology = _technology(network, number)
    better = _better_types(part.kind, name, has or 0.0, lambda other: _fits(other, technology))
    for other in better[:_TYPES_LIMIT]:
        watts = (most_power(other) - most_power(old)) * times
        cost = Cost.of(prices.by_part, prices.of(other, times), times, max(0.0, watts))
        what = _ids_text(ids, "", "such as").strip()
        edit = _swap(block, within, ids, other, name)
        named = f"replace {_parts_text(network, number, times)} by {other.title}"
        yield Candidate(f"swap {what} for {other.title}", f"type:{within}{ids}", edit, cost, named)


def _better_types(kind: str, name: str, has: float, fits: Callable[[PartType], bool]) -> list[PartType]:
    """Types of the catalog that state more of a value, the nearest first."""
    catalog = load_catalog()
    rows = [
        (rate, other.id, other)
        for type_id in catalog.ids()
        if type_id.startswith(f"{kind}/")
        and (rate := (other := catalog.get(type_id)).number(name))
        and rate > has * (1 + 1e-9)
        and fits(other)
    ]
    return [other for _, _, other in sorted(rows, key=lambda row: row[:2])]


def _swap(block: Block, within: Address, ids: tuple[str, ...], other: PartType, name: str) -> Edit:
    swap: Edit = SetType(ids, other.id, other, other.sources, within=within)
    again = _without_manual_values(block, ids, name)
    first = block.parts[next(iter(ids))]
    what = f"{len(ids)} × {part_kinds()[first.kind].title}" if len(ids) > 1 else first.label
    return Together((swap, *again(within)), f"Replace {what} by {other.title}") if again else swap


def most_power(part_type: PartType | None) -> float:
    """What a part of a type draws at most [W]; 0 where it does not say."""
    if part_type is None:
        return 0.0
    return part_type.number("power_per_part") or part_type.number("power_max") or 0.0


def storage_types(network: Network, number: int, prices: Prices, *, client: bool) -> Iterator[Candidate]:
    """Other storage of the catalog that is reached in the same way, and the same served by another kind of mount.

    Parameters
    ----------
    client
        True if what one client gets binds, false if it is the sum of all.
    """
    net, design = network.net, network.design
    part = net.part(number)
    within, _, block = _place(network, net.path(number))
    ids = tuple(p.id for p in block.parts.values() if p.kind == part.kind and p.type == part.type)
    wanted = {id(block.parts[i]) for i in ids}
    members = np.isin(net.part_def, [k for k, d in enumerate(net.part_defs) if id(d) in wanted])
    name = "client_read_bandwidth" if client or design.quantity(part, "read_bandwidth") is None else "read_bandwidth"
    quantity = design.quantity(part, name)
    has = value_of(part.kind, name, quantity) if quantity is not None else None
    old = design.type_of(part)
    # what takes the place of a system is cabled again
    at = (members[net.link_a] | members[net.link_b]) & (network.domain == NETWORK)
    cables = max(int(network.count[at].sum()), int(members.sum()))
    what = _ids_text(ids, "", "such as").strip()
    bought = 0
    for other in _better_types(
        part.kind, name, has or 0.0, lambda one: one.id != part.type and _storage_access(one) == _storage_access(old)
    ):
        edit, about = _swap(block, within, ids, other, name), f"type:{within}{ids}"
        if _same_server(old, other):
            named = f"mount {_parts_text(network, number, int(members.sum()))} as {other.title}"
            yield Candidate(f"mount {what} as {other.title}", about, edit, Cost(), named)
        elif bought < _TYPES_LIMIT:
            bought += 1
            times = int(members.sum())
            watts = max(0.0, (most_power(other) - most_power(old)) * times)
            cost = Cost.of(prices.by_part, prices.of(other, times), cables, watts)
            named = f"replace {_parts_text(network, number, times)} by {other.title}"
            yield Candidate(f"swap {what} for {other.title}", about, edit, cost, named)


def _protocol(part_type: PartType | None) -> str:
    stated = part_type.values.get("protocol") if part_type is not None else None
    return str(stated.value) if stated is not None else ""


def _storage_access(part_type: PartType | None) -> str:
    """How storage is reached: as files, as objects, as a datastore of hypervisors, or as a drive of the server."""
    protocol = _protocol(part_type)
    if (part_type is not None and part_type.vendor == "VMware") or protocol.startswith(("VMFS", "vSAN", "vVols")):
        return "datastore"
    return "object" if protocol.startswith("S3") else "drive" if protocol.startswith("NVMe") else "file"


def _same_server(old: PartType | None, other: PartType) -> bool:
    """True where a mount option is all that differs: any NFS server of no certain vendor takes it."""
    if old is None or old.vendor or other.vendor:
        return False
    return _protocol(old).startswith("NFS") and _protocol(other).startswith("NFS")


def _without_manual_values(block: Block, ids: Sequence[str], name: str) -> Callable[[Address], tuple[Edit, ...]] | None:
    """Edits that take away values given by hand, which would hold back a better type."""

    held = tuple(i for i in ids if name in block.parts[i].overrides)
    if not held:
        return None
    return lambda within: (SetValue(held, name, None, within=within),)


def _technology(network: Network, number: int) -> frozenset[str]:
    """Kinds of network links at a part: a card of another technology could not be cabled."""
    net = network.net
    links = np.flatnonzero(((net.link_a == number) | (net.link_b == number)) & (network.domain == NETWORK))
    return frozenset(net.link(int(k)).kind for k in links)


def _fits(part_type: PartType, kinds: frozenset[str]) -> bool:
    technology = part_type.values.get("technology")
    if not kinds or technology is None:
        return True
    return any(kind in str(technology.value).lower() for kind in kinds)


#: how far from the original a copy is placed, until it is moved to where it covers nothing [px]
_COPY_OFFSET: Final = (24, 24)


def _add_storage(network: Network, number: int, prices: Prices) -> Iterator[Candidate]:
    """One more drive or storage system next to the one that binds, joined in the same way."""
    net = network.net
    within, name, block = _place(network, net.path(number))
    part = block.parts[name]
    links = links_of(block, name)
    wirings = [w for w in block.wirings.values() if name in (w.a, w.b)]
    if not links and not wirings:
        yield from _one_more_member(network, number, prices)
        return
    times = int((net.part_def == int(net.part_def[number])).sum())
    new_id = next_id(block.parts, name)
    copied = {
        "id": new_id,
        "name": name_of_copy(block, part, new_id),
        "position": shifted(part.position, *_COPY_OFFSET),
    }
    new = part.model_copy(update=copied)
    link_ids, wiring_ids = Numberer(block.links), Numberer(block.wirings)
    joints = [x.model_copy(update={"id": link_ids.take(x.id), _side(x, name): new.id}) for x in links]
    joined = [w.model_copy(update={"id": wiring_ids.take(w.id), _side(w, name): new.id}) for w in wirings]
    part_type = network.design.type_of(part)
    watts = most_power(part_type) * times
    ends = net.link_a == number, net.link_b == number
    ports = int(np.array([d.count for d in net.link_defs])[net.link_def[ends[0] | ends[1]]].sum()) * times
    cost = Cost.of(prices.by_part, prices.of(part_type, times), ports, watts)
    edits: list[Edit] = [AddParts((new,), within=within)]
    edits += [AddLinks(tuple(joints), within=within)] if joints else []
    edits += [AddWirings(tuple(joined), within=within)] if joined else []
    kind = network.kind(number).title.lower()
    edit = Together(tuple(edits), f"Add {new.label}")
    copies = f"{new.label}, a copy of {part.label}" if times == 1 else f"a copy of {part.label} to each of {times:,}"
    yield Candidate(f"add a {kind} like {name}", f"another:{within}{name}", edit, cost, f"add {copies}")


def _one_more_member(network: Network, number: int, prices: Prices) -> Iterator[Candidate]:
    """One more member of the group that a storage system is all there is in: its wirings join that one too."""
    net, design = network.net, network.design
    within, _, block = _place(network, net.path(number))
    if not within or len(block.parts) != 1 or block.groups or within[-1][1] is not None:
        return  # a member that differs from the others is not what one more would be
    outer, group_id = within[:-1], within[-1][0]
    group = block_at(design, outer).groups[group_id]
    times = max(1, int((net.part_def == int(net.part_def[number])).sum()) // group.replicas)
    at = np.flatnonzero((net.link_a == number) | (net.link_b == number))
    part_type = design.type_of(net.part(number))
    cost = Cost.of(
        prices.by_part, prices.of(part_type, times), int(network.count[at].sum()) * times, most_power(part_type) * times
    )
    edit = SetReplicas(group_id, group.replicas + 1, within=outer)
    yield Candidate(f"add one more {group.label}", f"another:{outer}{group_id}", edit, cost)


def _side(link: Link | Wiring, name: str) -> str:
    return "a" if link.a == name else "b"

"""The matrix of ``nvidia-smi topo -m``: distance classes between GPUs and NICs, turned into the tree they allow.

The matrix states classes (same switch, same host bridge, same NUMA domain …), not parts and no speeds: switches,
sockets
and NVSwitches are derived, PCIe generations assumed from the number of NVLinks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from designer.catalog.architectures import Architecture, architecture, link_counts
from designer.design.document import LinkValues
from designer.errors import ExchangeError
from designer.fields import Quantity, amount
from designer.interchange.foreign.accelerator_links import join_accelerators
from designer.interchange.foreign.cpus import NumaHint, memory_share, processor, unknown_processor
from designer.interchange.foreign.finishing import finish
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.machine import MachineDrawing
from designer.interchange.foreign.matrix import Matrix, clean, parse_matrix
from designer.interchange.foreign.pcie import join_pcie, unknown_pcie
from designer.interchange.foreign.sockets import group_into_sockets
from designer.sources import Status
from designer.units import write

#: classes from near to far
CLASSES: Final = ("PIX", "PXB", "PHB", "NODE", "SYS")
_RANK: Final = {name: rank for rank, name in enumerate(CLASSES)}
_NODE: Final = _RANK["NODE"]


@dataclass(frozen=True, slots=True)
class Domain:
    """Devices of one NUMA domain: host bridges, in them families (PXB), in those groups that share a switch (PIX).

    Parameters
    ----------
    key
        What the table calls it, empty where nothing does.
    """

    key: str
    bridges: tuple[tuple[tuple[tuple[int, ...], ...], ...], ...]

    @property
    def members(self) -> list[int]:
        """Its devices in order."""
        return sorted(i for bridge in self.bridges for family in bridge for group in family for i in group)


@dataclass(frozen=True, slots=True)
class ClassTree:
    """Domains in the order of their first device, and where the table contradicts itself.

    Parameters
    ----------
    moved
        Devices the table puts into another domain than their classes allow, with its name.
    apart
        Devices whose names of a domain are equal although their class is SYS.
    lost
        Pairs that come out in another class than the table has: (one, other, table, tree).
    """

    domains: tuple[Domain, ...]
    moved: Mapping[int, str]
    apart: frozenset[int]
    lost: tuple[tuple[int, int, str, str], ...]


def class_tree(count: int, cell: Callable[[int, int], str], keys: Mapping[int, str]) -> ClassTree:
    """The tree of `count` devices; `keys` names the domains of those whose domain the table states.

    Classes decide. Names join what classes leave open, never what they keep apart.
    """
    ranks = {(a, b): _RANK[text] for a in range(count) for b in range(a + 1, count) if (text := cell(a, b)) in _RANK}
    levels = [_components(count, ranks, rank) for rank in range(_NODE + 1)]
    far = _distant_pairs(ranks, levels[_NODE])
    groups = _members(levels[_NODE])
    named = {first: _most_common([keys[i] for i in members if i in keys]) for first, members in groups.items()}
    joined = _join(named, far)
    moved = {i: key for i, key in keys.items() if key != named[levels[_NODE][i]]}
    homes: dict[str, set[int]] = {}
    for place, firsts in enumerate(joined):
        for first in firsts:
            homes.setdefault(named[first], set()).add(place)
    apart = frozenset(
        i
        for firsts in joined
        for first in firsts
        if named[first] and len(homes[named[first]]) > 1
        for i in groups[first]
    )
    domains = tuple(
        Domain(named[firsts[0]], _nest_by_level([i for first in firsts for i in groups[first]], levels))
        for firsts in sorted(joined)
    )
    place = {i: number for number, domain in enumerate(domains) for i in domain.members}
    lost: list[tuple[int, int, str, str]] = []
    for (a, b), rank in ranks.items():
        found = next((r for r, level in enumerate(levels) if level[a] == level[b]), _NODE + (place[a] != place[b]))
        if found != rank:
            lost.append((a, b, CLASSES[rank], CLASSES[found]))
    return ClassTree(domains, moved, apart, tuple(lost))


def _components(count: int, ranks: Mapping[tuple[int, int], int], most: int) -> list[int]:
    """The first device of the group each one is in, joined by classes no farther than `most`."""
    first = list(range(count))

    def root(i: int) -> int:
        while first[i] != i:
            first[i] = first[first[i]]
            i = first[i]
        return i

    for (a, b), rank in ranks.items():
        if rank <= most:
            low, high = sorted((root(a), root(b)))
            first[high] = low
    return [root(i) for i in range(count)]


def _members(level: Sequence[int]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = {}
    for index, first in enumerate(level):
        groups.setdefault(first, []).append(index)
    return groups


def _distant_pairs(ranks: Mapping[tuple[int, int], int], level: Sequence[int]) -> frozenset[tuple[int, int]]:
    """Pairs of groups that lie SYS apart somewhere."""
    found = {(level[a], level[b]) for (a, b), rank in ranks.items() if rank > _NODE}
    return frozenset(found | {(b, a) for a, b in found})


def _most_common(names: Sequence[str]) -> str:
    """The name most devices have, the first of several; empty where none has one."""
    return max(dict.fromkeys(names), key=names.count) if names else ""


def _join(named: Mapping[int, str], far: frozenset[tuple[int, int]]) -> list[list[int]]:
    """Groups of one name in one domain, unless they are SYS apart."""
    domains: list[list[int]] = []
    of_name: dict[str, list[list[int]]] = {}
    for first, name in named.items():
        open_to = (d for d in of_name.get(name, []) if not any((first, other) in far for other in d))
        domain = next(open_to, None)
        if domain is None:
            domain = []
            domains.append(domain)
            of_name.setdefault(name, []).append(domain)
        domain.append(first)
    return domains


def _nest_by_level(
    members: Sequence[int], levels: Sequence[Sequence[int]]
) -> tuple[tuple[tuple[tuple[int, ...], ...], ...], ...]:
    tree: dict[int, dict[int, dict[int, list[int]]]] = {}
    for i in sorted(members):
        pix, pxb, phb = (levels[rank][i] for rank in range(3))
        tree.setdefault(phb, {}).setdefault(pxb, {}).setdefault(pix, []).append(i)
    return tuple(
        tuple(tuple(tuple(group) for group in family.values()) for family in bridge.values())
        for bridge in tree.values()
    )


_TITLE = "the matrix of nvidia-smi topo -m"
#: the CPU next to GPUs whose memory is a NUMA node of its own
_COHERENT = "cpu/nvidia/grace"


def _sniff(head: str) -> float:
    text = "\n".join(clean(head))
    header = re.search(r"^[ \t]*GPU[0-9]", text, re.MULTILINE | re.ASCII)
    row = re.search(
        r"^[ \t]*GPU[0-9]{1,4}[ \t]+(?:X|NV[0-9]+|PIX|PXB|PHB|NODE|SYS|SOC)\b", text, re.MULTILINE | re.ASCII
    )
    if header and row:
        return 0.95
    if row or re.search(r"^[ \t]*(?:SYS|SOC|PXB)[ \t]*=[ \t]*Connection traversing", text, re.MULTILINE):
        return 0.6
    return 0.3 if header and "Affinity" in text else 0.0


def _read(text: str, file: str) -> Imported:
    if "<" in text[:200] and re.search(r"<(?:system|topology)\b", text[:2000]):
        raise ExchangeError("this is XML, not a table", file=file, remedy="import it as nccl-xml or hwloc-xml")
    return _Reader(parse_matrix(text, file), file).run()


class _Reader:
    """Draws what the matrix allows."""

    def __init__(self, matrix: Matrix, file: str) -> None:
        self.matrix = matrix
        self.machine = MachineDrawing(file, _TITLE, "nvidia-smi-topology")
        self.server = self.machine.add("server")
        self.parts: dict[int, str] = {}
        self.pairs = _pairs(matrix)
        self.totals = _totals(matrix.gpus, self.pairs)
        #: GPUs that hang together by NVSwitches, and how many links each has into them
        self.fabrics = _fabrics(self.totals, self.pairs)
        through = {g: links for members, links in self.fabrics for g in members}
        self.links_per_gpu = {g: through.get(g, total) for g, total in self.totals.items()}
        self.architecture = self._guess_architecture()
        #: GPUs with memory of their own in the list of NUMA nodes: those of Grace
        self.coherent = any(matrix.rows[g].gpu_numa for g in matrix.gpus)
        self.tree = class_tree(len(matrix.rows), matrix.cell, self._keys())
        self.bridges = self._host_bridges()

    def run(self) -> Imported:
        machine, matrix = self.machine, self.matrix
        for index, row in enumerate(matrix.rows):
            gpu = index in matrix.gpus
            attributes = {
                name: value
                for name, value in (
                    ("cpus", row.cpus),
                    ("numa", row.numa),
                    ("gpu_numa", row.gpu_numa),
                    ("row", row.name),
                    ("host_bridge", self.bridges.get(index, "")),
                )
                if value
            }
            number = int(row.name[3:]) if gpu or re.fullmatch(r"NIC[0-9]{1,4}", row.name, re.ASCII) else None
            name = "" if gpu else matrix.legend.get(row.name, row.name)
            self.parts[index] = machine.add(
                "gpu" if gpu else "nic",
                number=number,
                parent=self.server,
                name=name,
                attributes=attributes,
                overrides=self._guess_product() if gpu else None,
            )
        self._note_contradictions()
        homes = self._draw_domains()
        for domain, home in zip(self.tree.domains, homes, strict=True):
            self._draw_tree(domain, home)
        self._nvlinks()
        machine.note(
            "IMP-CLASSES",
            "the matrix gives classes of distance, no parts and no speeds: the tree is derived from them",
            remedy="import an NCCL or hwloc file of the same machine for the real tree",
        )
        return finish(machine)

    # -- NUMA domains ------------------------------------------------------------------------------------------------

    def _keys(self) -> dict[int, str]:
        """What the table calls the NUMA domain of each GPU."""
        rows = self.matrix.rows
        by_cpus = _usable_cpus(self.matrix)
        keys: dict[int, str] = {}
        for g in self.matrix.gpus:
            if rows[g].numa:
                keys[g] = f"numa {rows[g].numa}"
            elif by_cpus:
                keys[g] = f"cpus {rows[g].cpus}"
        return keys

    def _host_bridges(self) -> dict[int, str]:
        """The host bridge of each device, numbered in its domain, where a class of PHB or NODE describes it."""
        cell = self.matrix.cell
        found: dict[int, str] = {}
        for domain in self.tree.domains:
            members = domain.members
            for number, bridge in enumerate(domain.bridges):
                inside = [i for family in bridge for group in family for i in group]
                if any(cell(i, j) in ("PHB", "NODE") for i in inside for j in members):
                    found |= dict.fromkeys(inside, str(number))
        return found

    def _note_contradictions(self) -> None:
        machine, tree, names = self.machine, self.tree, [row.name for row in self.matrix.rows]
        if tree.moved or tree.apart:
            machine.note(
                "IMP-CONTRADICTION",
                "affinity columns and classes contradict each other about these devices, as in virtual machines: the "
                "classes were followed",
                *(self.parts[i] for i in sorted({*tree.moved, *tree.apart})),
                remedy="check which NUMA domain they belong to",
            )
        if tree.lost:
            a, b, said, drawn = tree.lost[0]
            more = f", and {len(tree.lost) - 1} more" if len(tree.lost) > 1 else ""
            machine.note(
                "IMP-CLASS-CONFLICT",
                "classes of this table contradict each other, so no tree has them all: "
                f"{names[a]} to {names[b]} is {said} in the table and {drawn} as drawn{more}",
                *(self.parts[i] for i in sorted({i for pair in tree.lost for i in pair[:2]})),
                remedy="check the switches above these devices",
            )
        if any(len({self.bridges[i] for i in d.members if i in self.bridges}) > 1 for d in tree.domains):
            machine.note(
                "IMP-HOST-BRIDGES",
                "several host bridges in one NUMA domain (NODE) are not drawn apart from one (PHB): which one a device "
                "is on is in its attributes",
                *(self.parts[i] for i in sorted(self.bridges)),
            )

    def _draw_domains(self) -> list[str]:
        machine = self.machine
        model = unknown_processor(self.architecture.pcie_generation if self.architecture is not None else 0)
        if self.coherent:
            model = processor(_COHERENT)
        hints: dict[str, NumaHint] = {}
        homes: list[str] = []
        domains = [(domain.key, domain.members) for domain in self.tree.domains]
        held = {key for key, _ in domains}
        # a domain that only an affinity column describes has no device, but its memory is there
        empty = dict.fromkeys(k for k in self.tree.moved.values() if k not in held and k.startswith("numa "))
        taken = {number for key in (*held, *empty) if (number := _number(key)) >= 0}
        used: set[int] = set()
        for key, members in (*domains, *((key, []) for key in empty)):
            number = _number(key)
            if number < 0 or number in used:
                number = next(n for n in range(len(taken) + 1) if n not in taken)
                taken.add(number)
            used.add(number)
            cpus = next((self.matrix.rows[i].cpus for i in members if self.matrix.rows[i].cpus), "")
            attributes = {"derived": "yes", "cpus": cpus}
            if key.startswith("numa "):
                attributes["numa_affinity"] = key.removeprefix("numa ")
            home = machine.add("numa", number=number, parent=self.server, attributes=attributes)
            if not key:
                machine.note(
                    "IMP-DERIVED-NUMA",
                    "the table names no NUMA domain for these: one was derived from the classes",
                    home,
                )
            hints[home] = NumaHint(number, _cpu_mask(cpus), model=model)
            homes.append(home)
        group_into_sockets(machine, self.server, hints)
        share = memory_share(list(hints.values()))
        for home in homes:
            machine.memory(home, self.server, assumed=share, number=int(home.removeprefix("numa").split("-")[0]))
        return homes[: len(domains)]

    # -- PCIe --------------------------------------------------------------------------------------------------------

    def _draw_tree(self, domain: Domain, home: str) -> None:
        """Switches of one NUMA domain: one for what shares a bridge, one above for what shares several."""
        chips = [i for i in domain.members if self.matrix.rows[i].gpu_numa] if self.coherent else []
        for family in (family for bridge in domain.bridges for family in bridge):
            # each group of a family has its own switch, one device too: else two of them would share the upper one
            upper = self._switch(home) if len(family) > 1 else home
            for group in family:
                above = self._switch(upper) if len(group) > 1 or len(family) > 1 else upper
                for index in group:
                    if index not in chips or above != home:
                        join_pcie(self.machine, above, self.parts[index], unknown_pcie(self.architecture))
        for index in chips:
            self._chip_link(home, index, len(chips))

    def _chip_link(self, home: str, index: int, sharing: int) -> None:
        """A GPU whose memory is a NUMA node of its own talks to its CPU over the chip-to-chip link."""
        whole = processor(_COHERENT).socket_rate
        rate = write(amount(whole, "rate") / sharing, "rate")
        values = LinkValues(
            kind="c2c", bandwidth_per_direction=rate, status=Status.ASSUMED, note=f"one Grace has {whole} in all"
        )
        link_id = self.machine.link(home, self.parts[index], values)
        self.machine.note(
            "IMP-ASSUMED-C2C",
            "these GPUs have a NUMA node of their own, as on Grace: joined to the CPU by a chip-to-chip link, whose "
            f"speed is not in the table: {rate} per direction is assumed",
            link_id,
            remedy="set the bandwidth of these links",
        )

    def _switch(self, above: str) -> str:
        switch = self.machine.add("pcie_switch", parent=self.server, attributes={"derived": "yes"})
        join_pcie(self.machine, above, switch, unknown_pcie(self.architecture))
        self.machine.note("IMP-DERIVED-SWITCH", "these PCIe switches are derived from the classes PIX and PXB", switch)
        return switch

    # -- NVLink ------------------------------------------------------------------------------------------------------

    def _nvlinks(self) -> None:
        machine, matrix = self.machine, self.matrix
        hopper, blackwell = architecture("hopper"), architecture("blackwell")
        if self.architecture is hopper and max(self.links_per_gpu.values(), default=0) >= hopper.links:
            machine.note(
                "IMP-ASSUMED-GPU",
                f"{hopper.links} NVLinks have {hopper.name} GPUs, {hopper.link_rate} each and per direction, and "
                f"{blackwell.name} GPUs, {blackwell.link_rate}; the table does not say which: the slower are assumed",
                *(self.parts[g] for g in matrix.gpus),
                remedy=f"for B200, B300, GB200 or GB300 set {blackwell.link_rate} on the links and a type on the GPUs",
            )
        switched: set[int] = set()
        for members, links in self.fabrics:
            switched |= set(members)
            switch = machine.add("nvswitch", parent=self.server, name="NVSwitch fabric", attributes={"derived": "yes"})
            for g in members:
                join_accelerators(machine, self.parts[g], switch, links, self.architecture, "nvlink", Status.ASSUMED)
            machine.note(
                "IMP-DERIVED-FABRIC",
                f"every pair lists {links} NVLinks, more in all than a GPU has: an NVSwitch fabric, drawn as one",
                switch,
                remedy="split it into its switches if you know them",
            )
            self._note_uneven(members, links)
        for a, b, count in self.pairs:
            if a not in switched:
                join_accelerators(
                    machine, self.parts[a], self.parts[b], count, self.architecture, "nvlink", Status.ASSUMED
                )

    def _note_uneven(self, members: Sequence[int], links: int) -> None:
        """Report GPUs of a fabric that list a peer with fewer links, or not at all."""
        even = links * (len(members) - 1)
        odd = [self.parts[g] for g in members if self.totals[g] != even]
        if odd:
            self.machine.note(
                "IMP-UNEVEN-FABRIC",
                f"these GPUs do not list all peers of their NVSwitch fabric with {links} NVLinks: drawn with all",
                *odd,
                remedy="check the state of their NVLinks",
            )

    def _guess_product(self) -> dict[str, Quantity]:
        """What the number of NVLinks describes a GPU; models of the algorithms of collectives need it."""
        if self.architecture is None or not self.architecture.links:
            return {}
        note = "from the number of NVLinks"
        return {"compute_capability": self.machine.fact(self.architecture.compute_capability, note, Status.ASSUMED)}

    def _guess_architecture(self) -> Architecture | None:
        """Which GPUs have so many NVLinks. V100 pairs may have fewer than all, so the largest total decides."""
        most = max(self.links_per_gpu.values(), default=0)
        counts = {count for *_, count in self.pairs}
        if self.matrix.old:
            return architecture("pascal")
        if most == 0:
            return architecture("ada") if self.matrix.gpus else None
        volta, ampere = architecture("volta"), architecture("ampere-ga100")
        if most <= 4 and len(self.matrix.gpus) > 2:
            return architecture("pascal") if counts == {1} else volta if counts == {1, 2} else None
        if most <= 4:
            return None
        return volta if most <= volta.links else ampere if most <= ampere.links else architecture("hopper")


def _pairs(matrix: Matrix) -> list[tuple[int, int, int]]:
    """GPU pairs with NVLinks and how many."""
    return [
        (a, b, int(matrix.cell(a, b)[2:]))
        for a in matrix.gpus
        for b in matrix.gpus
        if a < b and matrix.cell(a, b).startswith("NV")
    ]


def _totals(gpus: Sequence[int], pairs: Sequence[tuple[int, int, int]]) -> dict[int, int]:
    """NVLinks each GPU lists over all its peers."""
    totals = dict.fromkeys(gpus, 0)
    for a, b, count in pairs:
        totals[a] += count
        totals[b] += count
    return totals


def _fabrics(totals: Mapping[int, int], pairs: Sequence[tuple[int, int, int]]) -> list[tuple[list[int], int]]:
    """GPUs behind NVSwitches, and the links of each into them; GPUs that are joined directly are in none.

    Through a fabric every pair shows all links of a GPU, so the sum over peers exceeds what any GPU has. A complete set
    of equal pairs within that limit is a board of directly joined GPUs if the sum is what some GPU has in all.
    """
    peers: dict[int, dict[int, int]] = {}
    for a, b, count in pairs:
        peers.setdefault(a, {})[b] = count
        peers.setdefault(b, {})[a] = count
    waiting = dict.fromkeys(peers)
    found: list[tuple[list[int], int]] = []
    while waiting:
        island = [next(iter(waiting))]
        del waiting[island[0]]
        for g in island:
            new = [peer for peer in peers[g] if peer in waiting]
            island += new
            for peer in new:
                del waiting[peer]
        counts = {count for g in island for count in peers[g].values()}
        most = max(totals[g] for g in island)
        complete = all(len(peers[g]) == len(island) - 1 for g in island)
        equal = complete and len(counts) == 1 and len(island) > 4 and most not in link_counts("nvlink")
        if len(island) >= 3 and (most > max(link_counts("nvlink")) or equal):
            found.append((sorted(island), max(counts)))
    return found


def _usable_cpus(matrix: Matrix) -> bool:
    """True if the CPU lists of the GPUs state NUMA domains: all there, and no two with the same list are SYS apart."""
    rows = matrix.rows
    gpus = matrix.gpus
    if not gpus or any(not rows[g].cpus for g in gpus):
        return False
    return not any(rows[a].cpus == rows[b].cpus and matrix.cell(a, b) == "SYS" for a in gpus for b in gpus if a < b)


def _number(key: str) -> int:
    match = re.fullmatch(r"numa ([0-9]{1,4})", key, re.ASCII)
    return int(match[1]) if match else -1


def _cpu_mask(cpus: str) -> int:
    mask = 0
    for piece in cpus.split(",") if cpus else []:
        low, _, high = piece.partition("-")
        first, last = int(low), int(high or low)
        if last < 8192 and first <= last:
            mask |= ((1 << (last - first + 1)) - 1) << first
    return mask


IMPORTER = Importer("nvidia-smi-topo", "nvidia-smi topo -m", (".txt", ".log"), _sniff, _read)

"""The matrix of ``nvidia-smi topo -m``: distance classes between GPUs and NICs, turned into the tree they allow.

The matrix tells classes (same switch, same host bridge, same NUMA domain …), not parts and no speeds: switches, sockets
and NVSwitches are derived, PCIe generations assumed from the number of NVLinks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from designer.errors import ExchangeError
from designer.fields import Quantity
from designer.findings import Severity
from designer.interchange.foreign.cpus import GRACE, UNKNOWN, UNKNOWN_GEN5, NumaHint, memory_share
from designer.interchange.foreign.devices import (
    ADA,
    AMPERE,
    BLACKWELL,
    HOPPER,
    PASCAL,
    VOLTA,
    Architecture,
    unknown_pcie,
)
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.links import MOST_LINKS
from designer.interchange.foreign.machine import Machine
from designer.interchange.foreign.matrix import Matrix, clean, parse_matrix
from designer.sources import Status

_TITLE = "the matrix of nvidia-smi topo -m"
#: classes from near to far
_ORDER = ("PIX", "PXB", "PHB", "NODE", "SYS")


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
        self.machine = Machine(file, _TITLE, "nvidia-smi-topology")
        self.server = self.machine.add("server")
        self.parts: dict[int, str] = {}
        self.fabric = _links_through_fabric(matrix)
        self.links_per_gpu = {g: self.fabric or _links_of(matrix, g) for g in matrix.gpus}
        self.architecture = self._guess_architecture()

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
                overrides=self._guessed() if gpu else None,
            )
        domains = self._domains()
        homes = self._draw_domains(domains)
        for members, home in zip(domains.values(), homes, strict=True):
            self._tree(members, home)
        self._nvlinks()
        machine.note(
            "IMP-CLASSES",
            Severity.INFO,
            "the matrix gives classes of distance, no parts and no speeds: the tree is derived from them",
            remedy="import an NCCL or hwloc file of the same machine for the real tree",
        )
        return machine.finish()

    # -- NUMA domains ------------------------------------------------------------------------------------------------

    def _domains(self) -> dict[str, list[int]]:
        """Devices by NUMA domain: as the table says, else what is nearer to each other than SYS."""
        matrix = self.matrix
        keys: dict[int, str] = {}
        by_cpus = _usable_cpus(matrix)
        for g in matrix.gpus:
            row = matrix.rows[g]
            if row.numa:
                keys[g] = f"numa {row.numa}"
            elif by_cpus:
                keys[g] = f"cpus {row.cpus}"
        near = _components(range(len(matrix.rows)), lambda a, b: matrix.cell(a, b) in _ORDER[:4])
        for group in near:
            known = [keys[i] for i in group if i in keys]
            if not known:
                keys |= dict.fromkeys(group, f"near {group[0]}")
                continue
            for i in group:
                if i not in keys:
                    keys[i] = self._nearest_key(i, group, keys, known)
        domains: dict[str, list[int]] = {}
        for index in range(len(matrix.rows)):
            domains.setdefault(keys[index], []).append(index)
        self._note_contradictions(domains, near)
        return domains

    def _nearest_key(self, index: int, group: Sequence[int], keys: dict[int, str], known: list[str]) -> str:
        order = {name: rank for rank, name in enumerate(_ORDER)}
        candidates = [i for i in group if i in keys and self.matrix.cell(index, i) in order]
        if not candidates:
            return max(sorted(set(known)), key=known.count)
        return keys[min(candidates, key=lambda i: order[self.matrix.cell(index, i)])]

    def _note_contradictions(self, domains: dict[str, list[int]], near: Sequence[Sequence[int]]) -> None:
        spread = [g for g in near if sum(any(i in members for i in g) for members in domains.values()) > 1]
        apart = [m for m in domains.values() if any(self.matrix.cell(a, b) == "SYS" for a in m for b in m if a < b)]
        if spread or apart:
            self.machine.note(
                "IMP-CONTRADICTION",
                Severity.WARNING,
                "affinity columns and classes contradict each other about these devices, as in virtual machines",
                *(self.parts[i] for group in (spread or apart) for i in group),
                remedy="check which NUMA domain they belong to",
            )

    def _draw_domains(self, domains: dict[str, list[int]]) -> list[str]:
        machine = self.machine
        model = UNKNOWN_GEN5 if self.architecture is HOPPER else UNKNOWN
        if any(self.matrix.rows[g].gpu_numa for g in self.matrix.gpus):
            model = GRACE
        hints: dict[str, NumaHint] = {}
        homes: list[str] = []
        taken = {number for key in domains if (number := _number(key)) >= 0}
        for key, members in domains.items():
            number = _number(key)
            if number < 0:
                number = next(n for n in range(len(taken) + 1) if n not in taken)
                taken.add(number)
            cpus = next((self.matrix.rows[i].cpus for i in members if self.matrix.rows[i].cpus), "")
            attributes = {"derived": "yes", "cpus": cpus, "numa_affinity": key.removeprefix("numa ")}
            if not key.startswith("numa "):
                del attributes["numa_affinity"]
            home = machine.add("numa", number=number, parent=self.server, attributes=attributes)
            if key.startswith("near "):
                machine.note(
                    "IMP-DERIVED-NUMA",
                    Severity.INFO,
                    "the table names no NUMA domain for these: one was derived from the classes",
                    home,
                )
            hints[home] = NumaHint(number, _cpu_mask(cpus), model=model)
            homes.append(home)
        machine.sockets(self.server, hints)
        share = memory_share(list(hints.values()))
        for home in homes:
            machine.memory(home, self.server, assumed=share, number=int(home.removeprefix("numa").split("-")[0]))
        return homes

    # -- PCIe --------------------------------------------------------------------------------------------------------

    def _tree(self, members: Sequence[int], home: str) -> None:
        """Switches of one NUMA domain: one for what shares a bridge, one above for what shares several."""
        cell = self.matrix.cell
        for family in _components(members, lambda a, b: cell(a, b) in ("PIX", "PXB")):
            groups = _components(family, lambda a, b: cell(a, b) == "PIX")
            upper = home
            if len(groups) > 1:
                upper = self._switch(home)
            for group in groups:
                above = self._switch(upper) if len(group) > 1 else upper
                for index in group:
                    self.machine.pcie(above, self.parts[index], unknown_pcie(self.architecture))

    def _switch(self, above: str) -> str:
        switch = self.machine.add("pcie_switch", parent=self.server, attributes={"derived": "yes"})
        self.machine.pcie(above, switch, unknown_pcie(self.architecture))
        self.machine.note(
            "IMP-DERIVED-SWITCH", Severity.INFO, "these PCIe switches are derived from the classes PIX and PXB", switch
        )
        return switch

    # -- NVLink ------------------------------------------------------------------------------------------------------

    def _nvlinks(self) -> None:
        machine, matrix = self.machine, self.matrix
        if self.architecture is HOPPER and max(self.links_per_gpu.values(), default=0) >= HOPPER.links:
            machine.note(
                "IMP-ASSUMED-GPU",
                Severity.WARNING,
                f"{HOPPER.links} NVLinks have {HOPPER.name} GPUs, {HOPPER.link_rate} each and per direction, and "
                f"{BLACKWELL.name} GPUs, {BLACKWELL.link_rate}; the table does not tell which: the slower are assumed",
                *(self.parts[g] for g in matrix.gpus),
                remedy=f"for B200, B300, GB200 or GB300 set {BLACKWELL.link_rate} on the links and a type on the GPUs",
            )
        if self.fabric:
            switch = machine.add("nvswitch", parent=self.server, name="NVSwitch fabric", attributes={"derived": "yes"})
            for g in matrix.gpus:
                machine.accelerator_link(
                    self.parts[g], switch, self.fabric, self.architecture, "nvlink", Status.ASSUMED
                )
            machine.note(
                "IMP-DERIVED-FABRIC",
                Severity.INFO,
                f"every pair lists {self.fabric} NVLinks, more in all than a GPU has: an NVSwitch fabric, drawn as one",
                switch,
                remedy="split it into its switches if you know them",
            )
            return
        for a, b, count in _pairs(matrix):
            machine.accelerator_link(self.parts[a], self.parts[b], count, self.architecture, "nvlink", Status.ASSUMED)

    def _guessed(self) -> dict[str, Quantity]:
        """What the number of NVLinks tells of a GPU; models of the algorithms of collectives need it."""
        if self.architecture is None or not self.architecture.compute_capability:
            return {}
        note = "from the number of NVLinks"
        return {"compute_capability": self.machine.fact(self.architecture.compute_capability, note, Status.ASSUMED)}

    def _guess_architecture(self) -> Architecture | None:
        """Which GPUs have so many NVLinks. V100 pairs may have fewer than all, so the largest total decides."""
        most = max(self.links_per_gpu.values(), default=0)
        counts = {count for *_, count in _pairs(self.matrix)}
        if self.matrix.old:
            return PASCAL
        if most == 0:
            return ADA if self.matrix.gpus else None
        if most <= 4 and len(self.matrix.gpus) > 2:
            return PASCAL if counts == {1} else VOLTA if counts == {1, 2} else None
        if most <= 4:
            return None
        return VOLTA if most <= 6 else AMPERE if most <= 12 else HOPPER


def _pairs(matrix: Matrix) -> list[tuple[int, int, int]]:
    """GPU pairs with NVLinks and how many."""
    return [
        (a, b, int(matrix.cell(a, b)[2:]))
        for a in matrix.gpus
        for b in matrix.gpus
        if a < b and matrix.cell(a, b).startswith("NV")
    ]


def _links_of(matrix: Matrix, gpu: int) -> int:
    return sum(count for a, b, count in _pairs(matrix) if gpu in (a, b))


def _links_through_fabric(matrix: Matrix) -> int:
    """NVLinks of each GPU into an NVSwitch fabric, or 0 where the pairs are joined directly.

    Through a fabric every pair shows all links of a GPU, so the sum over peers exceeds what any GPU has. A complete set
    of equal pairs within that limit is a board of directly joined GPUs if the sum is what some GPU has in all.
    """
    pairs = _pairs(matrix)
    gpus = len(matrix.gpus)
    if not pairs or gpus < 3:
        return 0
    counts = {count for *_, count in pairs}
    total = max(_links_of(matrix, g) for g in matrix.gpus)
    complete = len(pairs) == gpus * (gpus - 1) // 2
    if total > MOST_LINKS:
        return max(counts)
    if complete and len(counts) == 1 and gpus > 4 and total not in (4, 6, 12, 18):
        return max(counts)
    return 0


def _usable_cpus(matrix: Matrix) -> bool:
    """Whether the CPU lists of the GPUs tell NUMA domains: all there, and no two with the same list are SYS apart."""
    rows = matrix.rows
    gpus = matrix.gpus
    if not gpus or any(not rows[g].cpus for g in gpus):
        return False
    return not any(rows[a].cpus == rows[b].cpus and matrix.cell(a, b) == "SYS" for a in gpus for b in gpus if a < b)


def _components(members: Iterable[int], joined: Callable[[int, int], bool]) -> list[list[int]]:
    """Groups of members that are joined directly or through others, in order."""
    waiting = list(members)
    groups: list[list[int]] = []
    while waiting:
        group = [waiting.pop(0)]
        at = 0
        while at < len(group):
            new = [m for m in waiting if joined(group[at], m)]
            group += new
            waiting = [m for m in waiting if m not in new]
            at += 1
        groups.append(sorted(group))
    return groups


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

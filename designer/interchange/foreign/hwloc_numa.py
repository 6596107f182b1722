"""Packages and NUMA domains of an hwloc file as sockets with their memory, and which of them a PCI device belongs to.

Which NUMA domain belongs to which package is reported by CPU sets in all three versions, so one rule reads them all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from designer.errors import ExchangeError
from designer.interchange.foreign import hwloc
from designer.interchange.foreign.cpus import CpuModel, cpu_model
from designer.interchange.foreign.devices import Device
from designer.interchange.foreign.hwloc import HwlocDump
from designer.interchange.foreign.sockets import join_on_die, join_sockets, note_cpu
from designer.interchange.foreign.xml import Element


@dataclass(slots=True)
class Place:
    """A NUMA domain or package: its part, its logical CPUs and its NUMA nodes as bits."""

    part: str
    cpus: int
    nodes: int = 0
    memory_only: bool = False
    model: CpuModel = field(default_factory=lambda: cpu_model("", "", ""))


class NumaDomains:
    """The sockets and NUMA domains of a file."""

    def __init__(self, dump: HwlocDump) -> None:
        self.dump, self.machine = dump, dump.machine
        self.packages: list[Place] = []
        self.domains: list[Place] = []
        # packages that share a CPU with a set of CPUs, and homes of devices by their sets: both are asked for again
        self._overlaps: dict[int, list[Place]] = {}
        self._homes: dict[tuple[int, int], tuple[str, bool]] = {}
        self._packages()
        self._domains()

    def _packages(self) -> None:
        machine, architecture = self.machine, self.dump.about.get("Architecture", "")
        for element in self.dump.objects:
            if element.get("type") not in ("Package", "Socket"):
                continue
            infos = hwloc.infos(element)
            model = cpu_model(
                infos.get("CPUVendor", "") or infos.get("CPUModel", ""),
                infos.get("CPUFamilyNumber", ""),
                infos.get("CPUModelNumber", ""),
                "ppc64" if "pvr" in infos.get("CPURevision", "") else architecture,
                infos.get("CPUModel", ""),
            )
            title = " ".join(infos.get("CPUModel", "").split()) or model.title
            cores = sum(1 for e in element.walk() if e.get("type") == "Core")
            part = machine.add(
                "cpu",
                parent=self.dump.server,
                device=Device(title, model.type) if title else None,
                attributes={**infos, **hwloc.attributes(element, "os_index", "cpuset")},
                overrides={"cores": machine.fact(cores)} if cores else None,
            )
            note_cpu(machine, model, title, part)
            self.dump.register(element, part)
            self.packages.append(
                Place(part, hwloc.cpu_set(element.get("cpuset")), hwloc.cpu_set(element.get("nodeset")), model=model)
            )

    def _domains(self) -> None:
        machine = self.machine
        bandwidth = self._memory_bandwidths()
        elements = [e for e in self.dump.objects if e.get("type") == "NUMANode"]
        elements = [e for e in elements if not self._is_gpu_memory(e)]
        numbers = Counter(hwloc.integer(e.get("os_index")) for e in elements)
        sets = [hwloc.cpu_set(e.get("cpuset")) for e in elements]
        tiers = [hwloc.memory_tier(e) for e in elements]
        homes = [self._sockets_of(e, cpus) for e, cpus in zip(elements, sets, strict=True)]
        # memory of one tier behind the same sockets shares the bandwidth of that tier
        sharing = Counter(
            (_ids(home), hwloc.is_dram(tier)) for home, cpus, tier in zip(homes, sets, tiers, strict=True) if cpus
        )
        homes_of = [_ids(home) for home in homes]
        seen: set[int] = set()
        for element, cpus, tier, sockets in zip(elements, sets, tiers, homes, strict=True):
            number = hwloc.integer(element.get("os_index"))
            number = number if numbers[number] == 1 else -1
            infos = hwloc.infos(element)
            attributes = {**infos, **hwloc.attributes(element, "os_index", "cpuset", "subtype", "local_memory")}
            part = machine.add("numa", number=number, parent=self.dump.server, attributes=attributes, name=tier)
            for socket in sockets:
                join_on_die(machine, socket.part, part)
            model = sockets[0].model if sockets else cpu_model("", "", "")
            dram = hwloc.is_dram(tier)
            whole = model.memory if dram else hwloc.tier_bandwidth(tier)
            machine.memory(
                part,
                self.dump.server,
                number=number,
                assumed=_rate_per_domain(
                    whole, len(sockets) if dram else 1, sharing[_ids(sockets), dram] if dram else 1
                ),
                capacity=hwloc.integer(element.get("local_memory")),
                bandwidth=bandwidth.get(element.get("gp_index"), 0.0),
                tier=tier,
            )
            only = not cpus or cpus in seen or not dram
            seen.add(cpus)
            self.domains.append(Place(part, cpus, hwloc.cpu_set(element.get("nodeset")), memory_only=only))
        if not elements and self.packages:
            for package in self.packages:
                machine.memory(package.part, self.dump.server, assumed=package.model.memory)
        if len(self.packages) > 1:
            latencies = numa_latencies(self.dump.root, [e.get("os_index") for e in elements], self.machine.file)
            join_sockets(
                machine, [p.part for p in self.packages], self.packages[0].model, socket_distances(latencies, homes_of)
            )

    def _is_gpu_memory(self, element: Element) -> bool:
        """True if a NUMA node is the memory of an accelerator, which the accelerator has already."""
        if element.get("subtype") != "GPUMemory":
            return False
        self.machine.note(
            "IMP-GPU-MEMORY", "NUMA nodes that are the memory of GPUs were left out: the GPUs have it", self.dump.server
        )
        return True

    def _sockets_of(self, element: Element, cpus: int) -> list[Place]:
        """The packages a NUMA domain is part of, or is made of."""
        if shared := self._overlapping_packages(cpus):
            return shared
        around = self.dump.inside(element, "Package", "Socket")
        wanted = self.dump.parts.get(f"{around.get('type')}:{around.get('gp_index')}") if around is not None else None
        return [p for p in self.packages if p.part == wanted] or self.packages[:1]

    def _memory_bandwidths(self) -> dict[str, float]:
        """Bandwidth of each NUMANode by gp_index [B/s], where the file gives it; from its own CPUs."""
        found: dict[str, float] = {}
        for attribute in self.dump.root.all("memattr"):
            if attribute.get("name") not in ("Bandwidth", "ReadBandwidth"):
                continue
            for value in attribute.all("memattr_value"):
                megabytes = hwloc.integer(value.get("value"))
                key = value.get("target_obj_gp_index")
                if 0 < megabytes < 10**8 and (attribute.get("name") == "Bandwidth" or key not in found):
                    found[key] = max(found.get(key, 0.0), megabytes * 1e6)
        return found

    def home(self, element: Element) -> tuple[str, bool]:
        """The NUMA domain, else CPU, that a host bridge belongs to, and whether the file is clear about its socket."""
        above = self.dump.above.get(id(element))
        cpus = nodes = 0
        while above is not None and not cpus:
            cpus, nodes = hwloc.cpu_set(above.get("cpuset")), hwloc.cpu_set(above.get("nodeset"))
            above = self.dump.above.get(id(above))
        if (cpus, nodes) not in self._homes:
            self._homes[cpus, nodes] = self._home_of(cpus, nodes)
        return self._homes[cpus, nodes]

    def _home_of(self, cpus: int, nodes: int) -> tuple[str, bool]:
        usual = [d for d in self.domains if not d.memory_only] or self.domains
        by_cpus = [d for d in usual if d.cpus & cpus]
        near = by_cpus or [d for d in usual if d.nodes & nodes] or usual
        if not near:
            near = [p for p in self.packages if p.cpus & cpus] or self.packages
        if not near:
            near = [Place(self.machine.add("cpu", parent=self.dump.server, attributes={"derived": "yes"}), 0)]
            self.packages += near
            self.machine.memory(near[0].part, self.dump.server, assumed=near[0].model.memory)
        return near[0].part, len(near) == 1 or not self._spans_sockets(near)

    def _spans_sockets(self, places: list[Place]) -> bool:
        found = (package.part for place in places for package in self._overlapping_packages(place.cpus))
        first = next(found, None)
        return any(part != first for part in found)

    def _overlapping_packages(self, cpus: int) -> list[Place]:
        """The packages that share a logical CPU with a set of them."""
        if cpus not in self._overlaps:
            self._overlaps[cpus] = [p for p in self.packages if cpus and p.cpus & cpus]
        return self._overlaps[cpus]


def _ids(places: list[Place]) -> tuple[str, ...]:
    return tuple(place.part for place in places)


def _rate_per_domain(memory: str, sockets: int, domains: int) -> str:
    rate = float(memory.split()[0]) * max(sockets, 1) / max(domains, 1)
    return f"{rate:.6g} {memory.split()[1]}"


# The matrices of hwloc files: which objects NVLink joins and how fast, and how far NUMA nodes are from each other.

MOST_OBJECTS: Final = 2048
_KEY = re.compile(r"(?:[A-Za-z0-9]{1,20}:)?[0-9]{1,20}\Z", re.ASCII)


def nvlink_bandwidths(root: Element, file: str) -> dict[tuple[str, str], int]:
    """Bandwidth between two objects [MB/s] by ``Type:gp_index``, zero entries and the diagonal left out.

    Raises
    ------
    ExchangeError
        If the matrix does not have the size it says.
    """
    found: dict[tuple[str, str], int] = {}
    for element in root.children:
        if element.tag in ("distances2", "distances2hetero") and element.get("name") == "NVLinkBandwidth":
            _read_matrix(element, file, found)
    return found


def _read_matrix(element: Element, file: str, found: dict[tuple[str, str], int]) -> None:
    keys = " ".join(e.text for e in element.all("indexes")).split()
    if element.tag == "distances2":
        keys = [f"{element.get('type')}:{key}" for key in keys]
    values = " ".join(e.text for e in element.all("u64values")).split()
    size = len(keys)
    if size > MOST_OBJECTS or element.get("nbobjs") != str(size) or len(values) != size * size:
        raise ExchangeError(
            f"the NVLink matrix of {element.get('nbobjs')[:20]} objects has {size} names and {len(values)} values",
            file=file,
            place=f"line {element.line}",
            remedy="the file is damaged; write it again with lstopo",
        )
    if not all(_KEY.match(key) for key in keys):
        raise ExchangeError("the NVLink matrix names no objects", file=file, place=f"line {element.line}")
    for row in range(size):
        for column in range(size):
            text = values[row * size + column]
            value = int(text) if re.fullmatch(r"[0-9]{1,12}", text, re.ASCII) else 0
            if value and row != column and (keys[column], keys[row]) not in found:
                found[keys[row], keys[column]] = value


def numa_latencies(root: Element, numbers: Sequence[str], file: str) -> list[list[float]]:
    """Relative latencies between the NUMA nodes with these numbers of the system; empty where the file has none.

    Versions 2 and 3 write ``<distances2 name="NUMALatency">`` at the end, version 1 ``<distances>`` inside an object.

    Raises
    ------
    ExchangeError
        If the matrix does not have the size it says.
    """
    for element in root.walk():
        if element.tag == "distances2" and element.get("type") == "NUMANode" and "Latency" in element.get("name"):
            keys = " ".join(e.text for e in element.all("indexes")).split()
            values = " ".join(e.text for e in element.all("u64values")).split()
            if len(keys) > MOST_OBJECTS or len(values) != len(keys) ** 2:
                raise ExchangeError(
                    f"the latency matrix of NUMA nodes has {len(keys)} names and {len(values)} values",
                    file=file,
                    place=f"line {element.line}",
                    remedy="the file is damaged; write it again with lstopo",
                )
            found = _latency_rows(values, len(keys))
            row = {key: i for i, key in enumerate(keys)}
            if found and element.get("indexing", "os") == "os" and set(numbers) <= set(row):
                return [[found[row[a]][row[b]] for b in numbers] for a in numbers]
        elif element.tag == "distances" and element.get("nbobjs") == str(len(numbers)):
            found = _latency_rows([e.get("value") for e in element.all("latency")], len(numbers))
            if found:
                return found
    return []


def _latency_rows(values: Sequence[str], size: int) -> list[list[float]]:
    if len(values) != size * size or not all(re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", v, re.ASCII) for v in values):
        return []
    return [[float(v) for v in values[row * size : (row + 1) * size]] for row in range(size)]


def socket_distances(
    latencies: Sequence[Sequence[float]], sockets: Sequence[Sequence[str]]
) -> dict[tuple[str, str], float]:
    """The least latency between two sockets, by the NUMA nodes each has; ``sockets`` names those of each node."""
    found: dict[tuple[str, str], float] = {}
    for row, ones in zip(latencies, sockets, strict=False):
        for value, others in zip(row, sockets, strict=False):
            for a in ones:
                for b in others:
                    if a != b:
                        key = (a, b) if a < b else (b, a)
                        found[key] = min(found.get(key, value), value)
    return found

"""Known processors by CPUID: memory bandwidth, socket links, and how NUMA domains make up sockets.

Dumps tell neither sockets nor memory speeds nor socket links. Memory: all channels filled, source ``import-cpus``;
socket links: what NCCL plans for traffic between sockets, source ``import-socket-links``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from designer.fields import amount
from designer.units import write


@dataclass(frozen=True, slots=True)
class CpuModel:
    """A processor family.

    Parameters
    ----------
    cores
        The most cores of one socket; 0 where unknown.
    memory
        Memory bandwidth of one socket with all channels filled, spelled.
    socket_link
        Kind of the link between sockets.
    planned
        What NCCL plans per direction between two sockets, spelled.
    """

    title: str
    type: str
    cores: int
    memory: str
    socket_link: str
    planned: str


_GB = "GB/s"
BROADWELL: Final = CpuModel("Xeon E5/E7", "cpu/intel/xeon-e5v4", 24, f"76.8 {_GB}", "upi", f"6 {_GB}")
SKYLAKE: Final = CpuModel(
    "Xeon Scalable, first or second generation", "cpu/intel/xeon-clx", 28, f"140.8 {_GB}", "upi", f"10 {_GB}"
)
ICELAKE: Final = CpuModel("Xeon Ice Lake-SP", "cpu/intel/xeon-icx", 40, f"204.8 {_GB}", "upi", f"10 {_GB}")
SAPPHIRE: Final = CpuModel("Xeon Sapphire Rapids", "cpu/intel/xeon-spr", 60, f"307.2 {_GB}", "upi", f"22 {_GB}")
EMERALD: Final = CpuModel("Xeon Emerald Rapids", "cpu/intel/xeon-emr", 64, f"358.4 {_GB}", "upi", f"40 {_GB}")
XEON6: Final = CpuModel("Xeon 6", "cpu/intel/xeon-gnr-ap", 144, f"614.4 {_GB}", "upi", f"40 {_GB}")
ROME: Final = CpuModel("EPYC Rome or Milan", "cpu/amd/epyc-rome", 64, f"204.8 {_GB}", "infinity_fabric", f"16 {_GB}")
NAPLES: Final = CpuModel("EPYC Naples", "", 32, f"170.6 {_GB}", "infinity_fabric", f"16 {_GB}")
GENOA: Final = CpuModel("EPYC Genoa", "cpu/amd/epyc-genoa", 128, f"460.8 {_GB}", "infinity_fabric", f"16 {_GB}")
TURIN: Final = CpuModel("EPYC Turin", "cpu/amd/epyc-turin", 192, f"576 {_GB}", "infinity_fabric", f"16 {_GB}")
POWER: Final = CpuModel("POWER8 or POWER9", "", 24, f"170 {_GB}", "upi", f"32 {_GB}")
GRACE: Final = CpuModel("NVIDIA Grace", "cpu/nvidia/grace", 72, f"500 {_GB}", "c2c", f"450 {_GB}")
ARM: Final = CpuModel("Arm", "", 0, f"204.8 {_GB}", "infinity_fabric", f"6 {_GB}")
GB10: Final = CpuModel("NVIDIA GB10", "cpu/nvidia/gb10-cpu", 20, f"273 {_GB}", "infinity_fabric", f"6 {_GB}")
UNKNOWN: Final = CpuModel("", "", 0, f"204.8 {_GB}", "upi", f"10 {_GB}")


def cpu_model(vendor: str, family: str, model: str, arch: str = "") -> CpuModel:
    """The processor family of these CPUID values; AMD families are printed as base or as display family."""
    vendor, number = vendor.strip().lower(), _number(model)
    fam = _number(family)
    if "amd" in vendor or "hygon" in vendor or "shanghai" in vendor:
        if fam in (23, 143):
            return NAPLES if number < 0x10 else ROME
        if fam in (25, 175):
            return GENOA if 0x10 <= number < 0x20 or 0x90 <= number < 0xB0 else ROME
        return TURIN if fam in (26, 191) else GENOA
    if "intel" in vendor:
        return BROADWELL if re.search(r"\be[57]-", vendor) else _intel(number)
    if "ibm" in vendor or arch.startswith("ppc"):
        return POWER
    if "arm" in vendor or "nvidia" in vendor or arch.startswith(("arm", "aarch")):
        return GRACE if "nvidia" in vendor else ARM
    return UNKNOWN


def _intel(model: int) -> CpuModel:
    table = {85: SKYLAKE, 106: ICELAKE, 108: ICELAKE, 143: SAPPHIRE, 207: EMERALD, 173: XEON6, 174: XEON6, 175: XEON6}
    if model in table:
        return table[model]
    return BROADWELL if 0 < model < 85 else SKYLAKE if model == 0 else XEON6


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text.strip(), re.ASCII) else 0


#: host of the newest accelerators, maker unknown
UNKNOWN_GEN5: Final = CpuModel("", "", 0, f"307.2 {_GB}", "upi", f"22 {_GB}")


@dataclass(frozen=True, slots=True)
class NumaHint:
    """What a dump says about one NUMA domain.

    Parameters
    ----------
    number
        Its id as the operating system gives it, −1 where unknown.
    cpus
        Numbers of its logical CPUs as a bit mask, 0 where unknown.
    width
        How many logical CPUs the mask could name, 0 where unknown.
    own_socket
        Whether it is known to be a socket of its own.
    """

    number: int
    cpus: int = 0
    width: int = 0
    own_socket: bool = False
    model: CpuModel = field(default=UNKNOWN)


def sockets_of(domains: Sequence[NumaHint]) -> list[int]:
    """Which socket each NUMA domain belongs to, by the usual ways of cutting sockets (NPS1/2/4, SNC2).

    The number of domains of the whole machine is the highest id plus one, or what the CPU masks leave room for; domains
    without devices are often missing from a dump. It is a guess, good for telling which traffic crosses sockets.
    """
    if not domains:
        return []
    model = domains[0].model
    numbers = [d.number for d in domains]
    if any(n < 0 for n in numbers) or len(set(numbers)) < len(numbers):
        return [0] * len(domains) if len(set(numbers)) == 1 else list(range(len(domains)))
    if all(d.own_socket for d in domains) or model in (POWER, GRACE):
        order = sorted(numbers)
        return [order.index(n) for n in numbers]
    per_socket = _per_socket(_domains_in_machine(domains), domains)
    groups = sorted({n // per_socket for n in numbers})
    return [groups.index(n // per_socket) for n in numbers]


def memory_share(domains: Sequence[NumaHint]) -> str:
    """Memory bandwidth of one of these NUMA domains with all channels filled, spelled; sockets as `sockets_of` says."""
    chosen, numbers = sockets_of(domains), [d.number for d in domains]
    model = domains[0].model
    together = max(chosen.count(socket) for socket in chosen)
    if together > 1 and min(numbers) >= 0:
        together = _per_socket(_domains_in_machine(domains), domains)
    return write(amount(model.memory, "rate") / together, "rate")


def _domains_in_machine(domains: Sequence[NumaHint]) -> int:
    highest = max(d.number for d in domains) + 1
    sizes = [d.cpus.bit_count() for d in domains if d.cpus]
    seen = max((d.cpus.bit_length() for d in domains), default=0)
    room = seen // max(sizes) if sizes else 0
    # Masks are padded to whole words, so only CPUs that are named count as room.
    total = max(highest, room if room in (1, 2, 4, 8) else 0, len(domains))
    return next((power for power in (1, 2, 4, 8, 16, 32, 64) if power >= total), total)


def _per_socket(total: int, domains: Sequence[NumaHint]) -> int:
    """Domains of one socket when the machine has `total`: two sockets, unless the cores show that one is enough."""
    model = domains[0].model
    if total <= 2:
        return 1
    if model.socket_link == "infinity_fabric" and total == 4:
        cores = max((_cores(d) for d in domains), default=0) * total
        return 4 if 0 < cores <= (model.cores or ROME.cores) // 2 else 2
    return max(total // 2, 1)


def _cores(domain: NumaHint) -> int:
    """Cores of a domain: half its CPUs where the mask has two equal runs, which are the halves of each core."""
    runs = [len(run) for run in re.findall("1+", f"{domain.cpus:b}")] if domain.cpus else []
    total = sum(runs)
    return total // 2 if len(runs) == 2 and runs[0] == runs[1] else total

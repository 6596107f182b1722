"""Known processors by CPUID: memory bandwidth, socket links, and how NUMA domains make up sockets.

Dumps tell neither sockets nor memory speeds nor socket links. Memory: all channels filled, source ``import-cpus``;
socket links: what NCCL plans for traffic between sockets, source ``import-socket-links``.
"""

from __future__ import annotations

import re
from collections import Counter
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
    guess
        What of it was guessed, for people; empty where it is known.
    """

    title: str
    type: str
    cores: int
    memory: str
    socket_link: str
    planned: str
    guess: str = ""


_GB = "GB/s"
BROADWELL: Final = CpuModel("Xeon E5 v4 (Broadwell)", "cpu/intel/xeon-e5v4", 24, f"76.8 {_GB}", "upi", f"6 {_GB}")
HASWELL: Final = CpuModel("Xeon E5 v3 (Haswell)", "cpu/intel/xeon-e5v3", 18, f"68.3 {_GB}", "upi", f"6 {_GB}")
IVY_BRIDGE: Final = CpuModel("Xeon E5 v2 (Ivy Bridge)", "", 12, f"59.7 {_GB}", "upi", f"6 {_GB}")
SANDY_BRIDGE: Final = CpuModel("Xeon E5 (Sandy Bridge)", "cpu/intel/xeon-e5v1", 8, f"51.2 {_GB}", "upi", f"6 {_GB}")
NEHALEM: Final = CpuModel("Xeon of 2009 to 2011 (Nehalem, Westmere)", "", 10, f"32 {_GB}", "upi", f"6 {_GB}")
CORE2: Final = CpuModel("Xeon of 2006 to 2008 (front-side bus)", "", 6, f"21.3 {_GB}", "upi", f"6 {_GB}")
XEON_PHI: Final = CpuModel("Xeon Phi", "", 72, f"115.2 {_GB}", "upi", f"6 {_GB}")
#: by CPUID numbers alone the first two generations of Xeon Scalable are one
SKYLAKE: Final = CpuModel(
    "Xeon Scalable, first or second generation", "cpu/intel/xeon-clx", 28, f"140.8 {_GB}", "upi", f"10 {_GB}",
    "first or second generation of Xeon Scalable: taken for the second",
)  # fmt: skip
SKYLAKE_1: Final = CpuModel("Xeon Skylake-SP", "cpu/intel/xeon-skx", 28, f"128 {_GB}", "upi", f"10 {_GB}")
CASCADE_LAKE: Final = CpuModel("Xeon Cascade Lake", "cpu/intel/xeon-clx", 28, f"140.8 {_GB}", "upi", f"10 {_GB}")
COOPER_LAKE: Final = CpuModel("Xeon Cooper Lake", "cpu/intel/xeon-cpx", 28, f"153.6 {_GB}", "upi", f"10 {_GB}")
ICELAKE: Final = CpuModel("Xeon Ice Lake-SP", "cpu/intel/xeon-icx", 40, f"204.8 {_GB}", "upi", f"10 {_GB}")
SAPPHIRE: Final = CpuModel("Xeon Sapphire Rapids", "cpu/intel/xeon-spr", 60, f"307.2 {_GB}", "upi", f"22 {_GB}")
EMERALD: Final = CpuModel("Xeon Emerald Rapids", "cpu/intel/xeon-emr", 64, f"358.4 {_GB}", "upi", f"40 {_GB}")
XEON6: Final = CpuModel("Xeon 6", "cpu/intel/xeon-gnr-ap", 144, f"614.4 {_GB}", "upi", f"40 {_GB}")
NAPLES: Final = CpuModel("EPYC Naples", "", 32, f"170.6 {_GB}", "infinity_fabric", f"16 {_GB}")
ROME: Final = CpuModel("EPYC Rome", "cpu/amd/epyc-rome", 64, f"204.8 {_GB}", "infinity_fabric", f"16 {_GB}")
MILAN: Final = CpuModel("EPYC Milan", "cpu/amd/epyc-milan", 64, f"204.8 {_GB}", "infinity_fabric", f"16 {_GB}")
GENOA: Final = CpuModel("EPYC Genoa", "cpu/amd/epyc-genoa", 128, f"460.8 {_GB}", "infinity_fabric", f"16 {_GB}")
TURIN: Final = CpuModel("EPYC Turin", "cpu/amd/epyc-turin", 192, f"576 {_GB}", "infinity_fabric", f"16 {_GB}")
HYGON: Final = CpuModel("Hygon", "", 32, f"170.6 {_GB}", "infinity_fabric", f"16 {_GB}")
ZHAOXIN: Final = CpuModel("Zhaoxin", "", 0, f"51.2 {_GB}", "upi", f"6 {_GB}")
POWER: Final = CpuModel("POWER8 or POWER9", "", 24, f"170 {_GB}", "upi", f"32 {_GB}")
POWER8: Final = CpuModel("POWER8 with NVLink", "cpu/ibm/power8nvl", 24, f"170 {_GB}", "upi", f"32 {_GB}")
POWER9: Final = CpuModel("POWER9", "cpu/ibm/power9", 24, f"170 {_GB}", "upi", f"32 {_GB}")
GRACE: Final = CpuModel("NVIDIA Grace", "cpu/nvidia/grace", 72, f"500 {_GB}", "c2c", f"450 {_GB}")
ARM: Final = CpuModel("Arm", "", 0, f"204.8 {_GB}", "infinity_fabric", f"6 {_GB}")
GB10: Final = CpuModel("NVIDIA GB10", "cpu/nvidia/gb10-cpu", 20, f"273 {_GB}", "infinity_fabric", f"6 {_GB}")
UNKNOWN: Final = CpuModel("", "", 0, f"204.8 {_GB}", "upi", f"10 {_GB}")
UNKNOWN_INTEL: Final = CpuModel("", "", 0, f"140.8 {_GB}", "upi", f"10 {_GB}")
UNKNOWN_AMD: Final = CpuModel("", "", 0, f"204.8 {_GB}", "infinity_fabric", f"16 {_GB}")

_INTEL: Final = {
    15: CORE2, 23: CORE2, 29: CORE2, 26: NEHALEM, 30: NEHALEM, 37: NEHALEM, 44: NEHALEM, 46: NEHALEM, 47: NEHALEM,
    45: SANDY_BRIDGE, 62: IVY_BRIDGE, 63: HASWELL, 79: BROADWELL, 86: BROADWELL, 85: SKYLAKE, 106: ICELAKE,
    108: ICELAKE, 143: SAPPHIRE, 207: EMERALD, 173: XEON6, 174: XEON6, 175: XEON6, 87: XEON_PHI, 133: XEON_PHI,
}  # fmt: skip
_SCALABLE: Final = {"1": SKYLAKE_1, "2": CASCADE_LAKE, "3": ICELAKE, "4": SAPPHIRE, "5": EMERALD}


def cpu_model(vendor: str, family: str, model: str, arch: str = "", name: str = "") -> CpuModel:
    """The processor family of these CPUID values, or of its name where they are missing.

    AMD families are printed as base or as display family.
    """
    vendor, number, fam = vendor.strip().lower(), _number(model), _number(family)
    named = _named(" ".join(name.split()))
    if "hygon" in vendor:
        return HYGON
    if "shanghai" in vendor or "centaur" in vendor or "zhaoxin" in vendor:
        return ZHAOXIN
    if "amd" in vendor:
        return _amd(fam, number) or named or UNKNOWN_AMD
    if "intel" in vendor:
        known = _INTEL.get(number) if fam in (0, 6) else None
        # one number stands for three generations, which their names tell apart
        return (named if known is SKYLAKE else known) or known or named or UNKNOWN_INTEL
    if "ibm" in vendor or arch.startswith("ppc"):
        return named or POWER
    if "arm" in vendor or "nvidia" in vendor or arch.startswith(("arm", "aarch")):
        return GRACE if "nvidia" in vendor else ARM
    return named or UNKNOWN


def _amd(family: int, model: int) -> CpuModel | None:
    if family in (23, 143):
        return NAPLES if model < 0x10 else ROME
    if family in (25, 175):
        return GENOA if 0x10 <= model < 0x20 or 0x90 <= model < 0xB0 else MILAN
    return TURIN if family in (26, 191) else None


def _named(name: str) -> CpuModel | None:
    """The family a product name such as ``Intel(R) Xeon(R) CPU E5-2680 0`` or ``AMD EPYC 7742`` belongs to."""
    if old := re.search(r"\bE([57])-\s?[0-9]{4}[A-Z]?(?: v([2-4]))?", name, re.ASCII):
        first = NEHALEM if old[1] == "7" else SANDY_BRIDGE
        return {"2": IVY_BRIDGE, "3": HASWELL, "4": BROADWELL}.get(old[2] or "", first)
    if new := re.search(r"\b(?:Platinum|Gold|Silver|Bronze) [3-9]([1-5])[0-9]{2}(H?)", name, re.ASCII):
        return COOPER_LAKE if new[1] == "3" and new[2] else _SCALABLE[new[1]]
    if re.search(r"\bXeon(?:\(R\))? 6[0-9]{3}[PE]", name, re.ASCII):
        return XEON6
    if epyc := re.search(r"\bEPYC ([789])[0-9A-Z]{2}([1-5])", name, re.ASCII):
        seventh = {"1": NAPLES, "2": ROME, "3": MILAN}
        return seventh.get(epyc[2]) if epyc[1] == "7" else {"4": GENOA, "5": TURIN}.get(epyc[2])
    if power := re.search(r"\bPOWER(8NVL|9)\b", name):
        return POWER9 if power[1] == "9" else POWER8
    return None


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
        True if it is known to be a socket of its own.
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
    if all(d.own_socket for d in domains) or model in (POWER, POWER8, POWER9, GRACE):
        order = {n: place for place, n in enumerate(sorted(numbers))}
        return [order[n] for n in numbers]
    per_socket = _per_socket(_domains_in_machine(domains), domains)
    groups = {group: place for place, group in enumerate(sorted({n // per_socket for n in numbers}))}
    return [groups[n // per_socket] for n in numbers]


def memory_share(domains: Sequence[NumaHint]) -> str:
    """Memory bandwidth of one of these NUMA domains with all channels filled, spelled; sockets as `sockets_of` says."""
    chosen, numbers = sockets_of(domains), [d.number for d in domains]
    model = domains[0].model
    together = max(Counter(chosen).values())
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

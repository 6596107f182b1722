"""Known hardware by PCI id and architecture: names, catalog part types, link generations.

Dumps name devices by number; these tables say which product that is and, where a dump leaves a speed out, what parts
of that architecture have. Names and numbers: source ``pci-ids``; link figures: source ``import-architectures``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from designer.design.document import LinkValues
from designer.sources import Status


@dataclass(frozen=True, slots=True)
class Architecture:
    """What accelerators of one architecture share.

    Parameters
    ----------
    link_kind
        Kind of the links between accelerators, or empty.
    link_rate
        Nominal payload rate of one such link per direction, spelled.
    links
        The most such links one accelerator has; 0 where unknown or none.
    compute_capability
        Of its data-centre GPUs, or empty.
    """

    name: str
    pcie_generation: int
    link_kind: str = ""
    link_rate: str = ""
    links: int = 0
    status: Status = Status.SECONDARY
    compute_capability: str = ""


#: the NVSwitch that boards of a compute capability carry: the newest not newer than the GPU
_NVSWITCHES: Final = {7: "nvswitch-gen1", 8: "nvswitch-gen2", 9: "nvswitch-gen3", 10: "nvswitch-gen4"}


def nvswitch_type(compute_capability: str) -> str:
    """Id of the part type of the NVSwitches beside GPUs of a compute capability such as "9.0"; empty if unknown."""
    major = compute_capability.partition(".")[0]
    fitting = [known for known in _NVSWITCHES if major.isdigit() and known <= int(major)]
    return f"nvswitch/nvidia/{_NVSWITCHES[max(fitting)]}" if fitting else ""


@dataclass(frozen=True, slots=True)
class Device:
    """A product: its name, its part type in the catalog (may be missing there), its architecture."""

    title: str
    type: str = ""
    architecture: Architecture | None = None


KEPLER: Final = Architecture("Kepler", 3)
FERMI: Final = Architecture("Fermi", 2)
MAXWELL: Final = Architecture("Maxwell", 3)
PASCAL: Final = Architecture("Pascal", 3, "nvlink", "20 GB/s", 4, compute_capability="6.0")
VOLTA: Final = Architecture("Volta", 3, "nvlink", "25 GB/s", 6, compute_capability="7.0")
TURING: Final = Architecture("Turing", 3, "nvlink", "25 GB/s", 2)
AMPERE: Final = Architecture("Ampere GA100", 4, "nvlink", "25 GB/s", 12, compute_capability="8.0")
AMPERE_GA102: Final = Architecture("Ampere GA102", 4, "nvlink", "14.0625 GB/s", 4)
ADA: Final = Architecture("Ada", 4)
HOPPER: Final = Architecture("Hopper", 5, "nvlink", "25 GB/s", 18, compute_capability="9.0")
BLACKWELL: Final = Architecture("Blackwell", 5, "nvlink", "50 GB/s", 18)
BLACKWELL_RTX: Final = Architecture("Blackwell GB20x", 5)
VEGA20: Final = Architecture("Vega 20", 4, "xgmi", "46 GB/s", 2, Status.UNVERIFIED)
CDNA1: Final = Architecture("CDNA", 4, "xgmi", "46 GB/s", 0, Status.UNVERIFIED)
CDNA2: Final = Architecture("CDNA 2", 4, "xgmi", "50 GB/s", 8)
CDNA3: Final = Architecture("CDNA 3", 5, "xgmi", "64 GB/s", 7)
CDNA4: Final = Architecture("CDNA 4", 5, "xgmi", "76.5 GB/s", 7)

#: NVIDIA architecture by compute capability times ten
BY_COMPUTE_CAPABILITY: Final = {
    20: FERMI, 21: FERMI, 30: KEPLER, 35: KEPLER, 37: KEPLER, 50: MAXWELL, 52: MAXWELL, 60: PASCAL, 61: PASCAL,
    70: VOLTA, 72: VOLTA, 75: TURING, 80: AMPERE, 86: AMPERE_GA102, 87: AMPERE_GA102, 89: ADA, 90: HOPPER,
    100: BLACKWELL, 101: BLACKWELL, 103: BLACKWELL, 120: BLACKWELL_RTX, 121: BLACKWELL_RTX,
}  # fmt: skip
#: AMD architecture by the digits of its gfx name, as RCCL writes it (910 stands for 90a)
BY_GFX: Final = {
    "906": VEGA20, "908": CDNA1, "910": CDNA2, "90a": CDNA2, "940": CDNA3, "941": CDNA3, "942": CDNA3, "950": CDNA4,
}  # fmt: skip

_NVIDIA: Final = {
    "1094": ("Tesla M2075", "", FERMI),
    "1021": ("Tesla K20Xm", "", KEPLER), "1028": ("Tesla K20m", "gpu/nvidia/k20", KEPLER),
    "1022": ("Tesla K20c", "gpu/nvidia/k20", KEPLER), "1023": ("Tesla K40m", "", KEPLER),
    "102d": ("Tesla K80", "gpu/nvidia/k80", KEPLER),
    "17fd": ("Tesla M40", "gpu/nvidia/m40-24", MAXWELL), "13f2": ("Tesla M60", "gpu/nvidia/m60", MAXWELL),
    "15f7": ("P100 PCIe 12 GB", "gpu/nvidia/p100-pcie", PASCAL),
    "15f8": ("P100 PCIe 16 GB", "gpu/nvidia/p100-pcie", PASCAL),
    "15f9": ("P100 SXM2 16 GB", "gpu/nvidia/p100-sxm2", PASCAL),
    "1b38": ("Tesla P40", "gpu/nvidia/p40", PASCAL), "1bb3": ("Tesla P4", "gpu/nvidia/p4", PASCAL),
    "1db0": ("V100 SXM2 16 GB", "gpu/nvidia/v100-sxm2", VOLTA),
    "1db1": ("V100 SXM2 16 GB", "gpu/nvidia/v100-sxm2", VOLTA),
    "1db4": ("V100 PCIe 16 GB", "gpu/nvidia/v100-pcie", VOLTA),
    "1db5": ("V100 SXM2 32 GB", "gpu/nvidia/v100-sxm2-32", VOLTA),
    "1db6": ("V100 PCIe 32 GB", "gpu/nvidia/v100-pcie-32", VOLTA),
    "1db8": ("V100 SXM3 32 GB", "gpu/nvidia/v100-sxm3-32", VOLTA),
    "1df5": ("V100 SXM2 16 GB", "gpu/nvidia/v100-sxm2", VOLTA),
    "1df6": ("V100S PCIe 32 GB", "gpu/nvidia/v100s-pcie", VOLTA),
    "1eb8": ("Tesla T4", "gpu/nvidia/t4", TURING),
    "20b0": ("A100 SXM4 40 GB", "gpu/nvidia/a100-40-sxm4", AMPERE),
    "20b1": ("A100 PCIe 40 GB", "gpu/nvidia/a100-40-pcie", AMPERE),
    "20f1": ("A100 PCIe 40 GB", "gpu/nvidia/a100-40-pcie", AMPERE),
    "20b2": ("A100 SXM4 80 GB", "gpu/nvidia/a100-80-sxm4", AMPERE),
    "20b3": ("A100 SXM 64 GB", "", AMPERE),
    "20b5": ("A100 PCIe 80 GB", "gpu/nvidia/a100-80-pcie", AMPERE),
    "20b7": ("A30", "gpu/nvidia/a30", AMPERE), "20bd": ("A800 SXM4 40 GB", "", AMPERE),
    "20f3": ("A800 SXM4 80 GB", "gpu/nvidia/a800-80-sxm4", AMPERE),
    "20f5": ("A800 PCIe 80 GB", "gpu/nvidia/a800-80-pcie", AMPERE),
    "2204": ("RTX 3090", "gpu/nvidia/rtx3090", AMPERE_GA102),
    "2230": ("RTX A6000", "gpu/nvidia/rtxa6000", AMPERE_GA102), "2231": ("RTX A5000", "", AMPERE_GA102),
    "2235": ("A40", "gpu/nvidia/a40", AMPERE_GA102), "2236": ("A10", "gpu/nvidia/a10", AMPERE_GA102),
    "2237": ("A10G", "gpu/nvidia/a10g", AMPERE_GA102), "25b6": ("A2 or A16", "", AMPERE_GA102),
    "2684": ("RTX 4090", "gpu/nvidia/rtx4090", ADA), "26b1": ("RTX 6000 Ada", "gpu/nvidia/rtx6000ada", ADA),
    "26b5": ("L40", "gpu/nvidia/l40", ADA), "26b9": ("L40S", "gpu/nvidia/l40s", ADA),
    "27b2": ("RTX 4000 Ada", "", ADA), "27b8": ("L4", "gpu/nvidia/l4", ADA),
    "2321": ("H100 NVL 94 GB", "gpu/nvidia/h100-nvl", HOPPER), "2322": ("H800 PCIe", "", HOPPER),
    "2324": ("H800 SXM5", "gpu/nvidia/h800-sxm5", HOPPER), "2329": ("H20", "gpu/nvidia/h20-sxm", HOPPER),
    "2330": ("H100 SXM5 80 GB", "gpu/nvidia/h100-sxm5", HOPPER),
    "2331": ("H100 PCIe 80 GB", "gpu/nvidia/h100-pcie", HOPPER),
    "2335": ("H200 SXM 141 GB", "gpu/nvidia/h200-sxm", HOPPER),
    "2336": ("H100", "", HOPPER), "2337": ("H100 SXM5 64 GB", "", HOPPER), "2338": ("H100 SXM5 96 GB", "", HOPPER),
    "2339": ("H100 SXM5 94 GB", "", HOPPER), "233b": ("H200 NVL", "gpu/nvidia/h200-nvl", HOPPER),
    "2342": ("GH200 96 GB", "gpu/nvidia/gh200-96", HOPPER), "2348": ("GH200 144 GB", "gpu/nvidia/gh200-144", HOPPER),
    "2901": ("B200", "gpu/nvidia/b200", BLACKWELL), "29bc": ("B100", "", BLACKWELL),
    "2941": ("GB200", "gpu/nvidia/gb200", BLACKWELL), "3182": ("B300", "gpu/nvidia/b300", BLACKWELL),
    "31c2": ("GB300", "gpu/nvidia/gb300", BLACKWELL), "31c3": ("GB300", "gpu/nvidia/gb300", BLACKWELL),
    "2b85": ("RTX 5090", "gpu/nvidia/rtx5090", BLACKWELL_RTX),
    "2bb5": ("RTX PRO 6000 Server", "gpu/nvidia/rtxpro6000-server", BLACKWELL_RTX),
    "2e12": ("GB10", "gpu/nvidia/gb10", BLACKWELL_RTX),
}  # fmt: skip
_AMD: Final = {
    "66a1": ("MI50", "gpu/amd/mi50-32", VEGA20), "66a0": ("MI60", "gpu/amd/mi60", VEGA20),
    "738c": ("MI100", "gpu/amd/mi100", CDNA1), "738e": ("MI100", "gpu/amd/mi100", CDNA1),
    "7408": ("MI250X GCD", "gpu/amd/mi250x-gcd", CDNA2), "740c": ("MI250X GCD", "gpu/amd/mi250x-gcd", CDNA2),
    "740f": ("MI210", "gpu/amd/mi210", CDNA2), "74a0": ("MI300A", "gpu/amd/mi300a", CDNA3),
    "74a1": ("MI300X", "gpu/amd/mi300x", CDNA3), "74a9": ("MI300X HF", "", CDNA3), "74a2": ("MI308X", "", CDNA3),
    "74a5": ("MI325X", "gpu/amd/mi325x", CDNA3), "75a0": ("MI350X", "", CDNA4),
    "75a3": ("MI355X", "gpu/amd/mi355x", CDNA4),
}  # fmt: skip
_MELLANOX: Final = {
    "1003": "ConnectX-3", "1007": "ConnectX-3 Pro", "1011": "Connect-IB", "1013": "ConnectX-4", "1015": "ConnectX-4 Lx",
    "1017": "ConnectX-5", "1019": "ConnectX-5 Ex", "101b": "ConnectX-6", "101d": "ConnectX-6 Dx",
    "101f": "ConnectX-6 Lx", "1021": "ConnectX-7", "1023": "ConnectX-8", "1025": "ConnectX-9",
    "a2d2": "BlueField", "a2d6": "BlueField-2", "a2d9": "BlueField-3 Lx", "a2dc": "BlueField-3",
}  # fmt: skip
_OTHER: Final = {
    ("10de", "1ac2"): "NVSwitch, first generation", ("10de", "1af1"): "NVSwitch, second generation",
    ("10de", "22a3"): "NVSwitch, third generation",
    ("1d0f", "ec20"): "Elastic Network Adapter", ("1d0f", "efa0"): "Elastic Fabric Adapter",
    ("1d0f", "efa1"): "Elastic Fabric Adapter", ("1d0f", "efa2"): "Elastic Fabric Adapter",
    ("1d0f", "efa3"): "Elastic Fabric Adapter", ("17db", "0501"): "Slingshot 200 Gb/s",
    ("8086", "1592"): "E810-C", ("8086", "1593"): "E810-C", ("8086", "1521"): "I350", ("8086", "1563"): "X550",
    ("14e4", "16d8"): "BCM57416", ("14e4", "16d7"): "BCM57414", ("14e4", "1750"): "BCM57508",
}  # fmt: skip

#: PCI ids of functions that are virtual: (vendor, device)
VIRTUAL_FUNCTIONS: Final = frozenset(
    {("15b3", d) for d in ("1002", "1004", "1012", "1014", "1016", "1018", "101a", "101c", "101e", "a2d3")}
    | {("8086", d) for d in ("0dd5", "10ca", "10ed", "1515", "1520", "152e", "152f", "1530", "154c", "1564", "1565")}
    | {("8086", d) for d in ("1571", "15a8", "15a9", "15b4", "15c5", "1889", "37cd", "57ad")}
    | {("14e4", d) for d in ("1606", "1609", "163f", "166f", "16a9", "16ad", "16af", "16c1", "16cb", "16d3", "16dc")}
    | {("14e4", d) for d in ("16e1", "16e5", "1806", "1807", "1808", "1809", "1819")}
    | {("1137", d) for d in ("0071", "00cf", "02b7")}
    | {("1002", d) for d in ("686c", "74b5", "74b9")}
)


def known_device(vendor: str, device: str) -> Device | None:
    """The product with these PCI ids (four hexadecimal digits each), or None."""
    vendor, device = _digits(vendor), _digits(device)
    row = {"10de": _NVIDIA, "1002": _AMD}.get(vendor, {}).get(device)
    if row is not None:
        return Device(*row)
    name = _MELLANOX.get(device) if vendor == "15b3" else _OTHER.get((vendor, device))
    return Device(name) if name else None


#: products that a chip name and its number of compute units leave no doubt about: RCCL files may lack PCI ids
_BY_CHIP: Final = {
    ("906", 64): ("MI60", "gpu/amd/mi60", VEGA20), ("906", 60): ("MI50", "gpu/amd/mi50-32", VEGA20),
    ("908", 120): ("MI100", "gpu/amd/mi100", CDNA1), ("942", 304): ("MI300X", "gpu/amd/mi300x", CDNA3),
    ("942", 228): ("MI300A", "gpu/amd/mi300a", CDNA3), ("940", 228): ("MI300A", "gpu/amd/mi300a", CDNA3),
    ("sm", 121): ("GB10", "gpu/nvidia/gb10", BLACKWELL_RTX),
}  # fmt: skip


def device_by_chip(gfx: str, units: int) -> Device | None:
    """The product of an AMD chip name and its compute units, or of ``sm`` and a compute capability; None if unsure."""
    row = _BY_CHIP.get((gfx.lower().removeprefix("gfx"), units))
    return None if row is None else Device(*row)


def is_virtual_function(vendor: str, device: str) -> bool:
    """True if these PCI ids belong to a virtual function only."""
    return (_digits(vendor), _digits(device)) in VIRTUAL_FUNCTIONS


def _digits(text: str) -> str:
    return text.lower().removeprefix("0x")[:4]


#: PCIe generation by transfers per second and lane [GT/s]
GENERATIONS: Final = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6, 128.0: 7}
#: lane counts PCI Express knows
LANES: Final = (1, 2, 4, 8, 12, 16, 32)


def unknown_pcie(architecture: Architecture | None) -> LinkValues:
    """Values of a PCIe link nobody stated: what the architecture has, over 16 lanes, marked assumed."""
    if architecture is None:
        return LinkValues(kind="pcie", status=Status.ASSUMED)
    return LinkValues(kind="pcie", generation=architecture.pcie_generation, lanes=16, status=Status.ASSUMED)

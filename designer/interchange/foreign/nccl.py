"""What the elements of an NCCL or RCCL topology file say: kinds, devices, speeds and affinity masks."""

from __future__ import annotations

import re

from designer.catalog.architectures import Architecture, by_compute_capability, by_gfx
from designer.interchange.foreign.cpus import CpuModel, cpu_model, processor_beside
from designer.interchange.foreign.devices import (
    Device,
    device_by_chip,
    known_device,
)
from designer.interchange.foreign.pci import kind_of_class
from designer.interchange.foreign.pcie import GENERATIONS
from designer.interchange.foreign.xml import Element

_VIRTUAL = re.compile(
    r"(?:lo|veth|br-|virbr|docker|cali|tunl|tun|tap|flannel|cni|vxlan|dummy|bond|vlan|podman|lxc|cilium|kube|wg|team|ip6|"
    r"nerdctl|ovs|gre|sit|erspan|macv|ipv|ifb)",
    re.IGNORECASE,
)
_RDMA = re.compile(
    r"(?:mlx\d|bnxt_re|ro[cC]e|rdmap|efa|irdma|hfi|cxi|hsi|qedr|i40iw|ibp|ib\d|usnic|erdma|xscale)", re.ASCII
)


def kind_of(element: Element) -> str | None:
    """The part kind of a ``<pci>`` element, or None for devices that are no part of a design."""
    pci_class = element.get("class").lower().removeprefix("0x")
    below, nets = element.all("pci"), interfaces(element)
    if element.all("gpu"):
        return "gpu"
    if below or pci_class.startswith("0604"):
        return "pcie_switch"
    if nets:
        return "nic"
    if kind := kind_of_class(pci_class):
        return kind
    if pci_class.startswith("0b40"):
        return "gpu"
    if pci_class.startswith("068000"):
        return "nvswitch"
    if pci_class:
        return None
    return "gpu" if element.get("vendor").lower() in ("0x10de", "0x1002") else "nic"


def holds_gpu(element: Element) -> bool:
    """True if a ``<pci>`` element is an accelerator or has one below."""
    return any(e.tag == "gpu" or (e.tag == "pci" and kind_of(e) == "gpu") for e in element.walk())


def interfaces(element: Element) -> list[Element]:
    """The ports below a ``<pci>`` element, with or without a ``<nic>`` around them."""
    return [*element.all("net"), *(net for nic in element.all("nic") for net in nic.all("net"))]


def listed_device(element: Element) -> Device | None:
    """The known part behind the PCI ids of an element."""
    vendor, number = element.get("vendor"), element.get("device")
    return known_device(vendor, number) if vendor and number else None


def device_of_gpus(gpus: list[Element]) -> Device | None:
    """The known part behind the compute capability or gfx number of the first ``<gpu>``."""
    for gpu in gpus:
        return device_by_chip(gpu.get("gcn") or "sm", integer(gpu.get("sm"), 0))
    return None


def architecture_of(element: Element, gpus: list[Element]) -> Architecture | None:
    """The GPU architecture by PCI ids, else by what its ``<gpu>`` elements tell."""
    device = listed_device(element)
    if device is not None and device.architecture is not None:
        return device.architecture
    for gpu in gpus:
        if "gcn" in gpu.attributes:
            return by_gfx(gpu.get("gcn").lower().removeprefix("gfx"))
        return by_compute_capability(integer(gpu.get("sm"), 0))
    return None


def cpu_of(cpu: Element) -> CpuModel:
    """The CPU of a ``<cpu>`` element; Grace and GB10 are told by the GPUs on their chip-to-chip link."""
    model = cpu_model(cpu.get("vendor"), cpu.get("familyid"), cpu.get("modelid"), cpu.get("arch"))
    if model.type:
        return model
    for gpu in (g for g in cpu.walk() if g.tag == "gpu" and g.all("c2c")):
        number = integer(gpu.get("sm"), 0)
        if (beside := processor_beside(f"{number // 10}.{number % 10}")) is not None:
            return beside
    return model


def is_hardware(net: Element) -> bool:
    """True if a NIC that NCCL found no PCI place for is one: RDMA devices are, sockets and bridges are not."""
    name, guid = net.get("name"), net.get("guid").lower().removeprefix("0x")
    if _VIRTUAL.match(name):
        return False
    return "+" in name or _RDMA.match(name) is not None or net.get("gdr") == "1" or len(guid.lstrip("0")) > 4


def integer(text: str, default: int) -> int:
    """`text` as a number, `default` where it is none."""
    return int(text) if re.fullmatch(r"-?[0-9]{1,12}", text, re.ASCII) else default


def pcie_generation(speed: str) -> int:
    """PCIe generation of a speed such as ``16.0 GT/s PCIe``; 0 where it cannot be read."""
    number = re.match(r"\s*([0-9]{1,3}(?:\.[0-9]{1,2})?)(?:\s|GT|$)", speed, re.ASCII)
    return GENERATIONS.get(float(number[1]), 0) if number else 0


def affinity_mask(affinity: str) -> tuple[int, int]:
    """CPUs named by an affinity mask, and how many it could name; zeros where it cannot be read."""
    digits = affinity.replace(",", "")
    if not re.fullmatch(r"[0-9a-fA-F]{1,4096}", digits, re.ASCII):
        return 0, 0
    return int(digits, 16), 4 * len(digits)


def port_rate(megabits: float) -> str:
    """A port rate [Mb/s] spelled in gigabits."""
    return f"{megabits / 1000:.6g} Gb/s"

"""PCIe links of a machine that is read from a dump: stated, assumed, read while idle, or as a virtual machine says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from designer.catalog.architectures import Architecture
from designer.catalog.parttype import link_kinds
from designer.design.document import LinkValues
from designer.design.gaps import IDLE, OTHER_GENERATION, OTHER_LANES, SPEED, UNKNOWN, VIRTUAL
from designer.fields import Quantity
from designer.interchange.foreign.machine import MachineDrawing
from designer.sources import Status

#: kind of part by class, the longest match first; InfiniBand adapters may be of the serial bus class
_KINDS: Final = {"0c06": "nic", "01": "drive", "02": "nic", "03": "gpu", "12": "gpu"}
_TECHNOLOGIES: Final = {"0200": "Ethernet", "0207": "InfiniBand", "0c06": "InfiniBand"}


def kind_of_class(pci_class: str) -> str:
    """The kind of part that devices of a PCI class are, by its first digits; empty where they are none."""
    return _KINDS.get(pci_class[:4]) or _KINDS.get(pci_class[:2], "")


def technology_of_class(machine: MachineDrawing, pci_class: str) -> dict[str, Quantity]:
    """What the PCI class of a NIC says of its network, as values of the part."""
    found = _TECHNOLOGIES.get(pci_class.lower().removeprefix("0x")[:4])
    return {"technology": machine.fact(found)} if found else {}


def note_system_devices(machine: MachineDrawing) -> None:
    """Say that devices which are no part of a design were left out."""
    machine.note("IMP-SYSTEM-DEVICES", "system devices (USB, timers, memory controllers …) were left out")


def note_virtual_function(machine: MachineDrawing, bus_id: str) -> None:
    """Say that a virtual function was left out."""
    text = "virtual functions of NICs were left out: they are shares of a NIC, not NICs"
    machine.note("IMP-VIRTUAL-FUNCTION", text, bus_id)


def note_unknown_socket(machine: MachineDrawing, *places: str) -> None:
    """Say that devices whose socket the file does not name were put to the first one."""
    text = "the file does not say which socket some PCI devices belong to: they were put to the first"
    machine.note("IMP-PLACE", text, *places, remedy="move the devices to their socket")


#: PCIe generation by transfers per second and lane [GT/s]
GENERATIONS: Final = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6, 128.0: 7}
#: lane counts PCI Express knows
LANES: Final = (1, 2, 4, 8, 12, 16, 32)


def unknown_pcie(architecture: Architecture | None) -> LinkValues:
    """Values of a PCIe link nobody stated: what the architecture has, over 16 lanes, marked assumed."""
    if architecture is None:
        return LinkValues(kind="pcie", status=Status.ASSUMED)
    return LinkValues(kind="pcie", generation=architecture.pcie_generation, lanes=16, status=Status.ASSUMED)


def join_pcie(
    machine: MachineDrawing, upper: str, lower: str, values: LinkValues, attributes: Mapping[str, str] | None = None
) -> str:
    """Join two parts by PCIe and state what of it was assumed."""
    assumed = values.status is Status.ASSUMED
    link_id = machine.link(upper, lower, values, {**(attributes or {}), **({UNKNOWN: SPEED} if assumed else {})})
    if assumed:
        machine.note(
            "IMP-ASSUMED-PCIE",
            f"the speed of these PCIe links is not in the file: {_rate_text(values)} is assumed",
            link_id,
            remedy="set generation and lanes of the links",
        )
    return link_id


def join_virtual_pcie(
    machine: MachineDrawing,
    upper: str,
    lower: str,
    architecture: Architecture | None,
    stated: str,
    attributes: Mapping[str, str],
) -> str:
    """A PCIe link as a virtual machine states it: the usual one is assumed, half as wide and old the other way."""
    values = unknown_pcie(architecture)
    link_id = machine.link(upper, lower, values, attributes)
    _doubt(machine, link_id, VIRTUAL, max((values.generation or 4) - 1, 1), 8, Status.ASSUMED)
    machine.note(
        "IMP-VIRTUAL-LINK",
        f"these PCIe links are stated as {stated}, as virtual machines do: {_rate_text(values)} is assumed",
        link_id,
        remedy="set generation and lanes of the links",
    )
    return link_id


def mark_idle(machine: MachineDrawing, link_id: str, generation: int, lanes: int) -> None:
    """A PCIe link that was read while idle, and what it trains to; its bands must not be those of a sure speed."""
    _doubt(machine, link_id, IDLE, generation, lanes, Status.UNVERIFIED)


def note_idle(machine: MachineDrawing, link_id: str, architecture: Architecture) -> None:
    """The PCIe link of a GPU that stood idle when it was read."""
    mark_idle(machine, link_id, architecture.pcie_generation, 16)
    machine.note(
        "IMP-IDLE",
        "these GPUs stood at 2.5 GT/s when the file was written, as idle ones do; they are faster under load",
        link_id,
        remedy="set the generation the link trains to under load",
    )


def _doubt(machine: MachineDrawing, link_id: str, kind: str, generation: int, lanes: int, status: Status) -> None:
    link = machine.links[link_id]
    other = {UNKNOWN: kind, OTHER_GENERATION: str(generation), OTHER_LANES: str(lanes)}
    source = link.source or (machine.key if status is not Status.ASSUMED else "")
    machine.links[link_id] = link.model_copy(
        update={"status": status, "source": source, "attributes": {**link.attributes, **other}}
    )


def _rate_text(values: LinkValues) -> str:
    return f"Gen{values.generation} x{values.lanes}" if values.generation else link_kinds()["pcie"].default_rate

"""What PCI classes stand for, and what importers of PCI trees say alike of devices they leave out or guess about."""

from __future__ import annotations

from typing import Final

from designer.fields import Quantity
from designer.interchange.foreign.machine import MachineDrawing

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

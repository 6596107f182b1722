"""Virtual machines: add, remove, change, put on a host."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from designer.design.document import Block, Design, VirtualMachine, VmDevice
from designer.design.edit import DesignEdit, add, change, remove, several
from designer.design.references import reaches
from designer.errors import DocumentError


@dataclass(frozen=True)
class AddVms(DesignEdit):
    """Put new virtual machines into the design."""

    vms: tuple[VirtualMachine, ...]

    @property
    def label(self) -> str:
        return f"Add {several([v.name or v.id for v in self.vms], 'VM', 'VMs')}"

    def apply(self, design: Design) -> Design:
        for vm in self.vms:
            check_places(design, vm)
        return add(design, "vms", self.vms)


@dataclass(frozen=True)
class RemoveVms(DesignEdit):
    """Take virtual machines out."""

    ids: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"Delete {several(self.ids, 'VM', 'VMs')}"

    def apply(self, design: Design) -> Design:
        return remove(design, "vms", self.ids)


@dataclass(frozen=True)
class ChangeVms(DesignEdit):
    """Change the same fields of some virtual machines."""

    ids: tuple[str, ...]
    changes: Mapping[str, object]

    @property
    def label(self) -> str:
        return f"Change {' and '.join(self.changes)} of {several(self.ids, 'VM', 'VMs')}"

    @property
    def subject(self) -> Hashable:
        return (self.ids, tuple(self.changes))

    def apply(self, design: Design) -> Design:
        changed = change(design, "vms", self.ids, self.changes)
        if "host" in self.changes or "devices" in self.changes:
            for vm_id in self.ids:
                check_places(design, changed.vms[vm_id])
        return changed


@dataclass(frozen=True)
class MoveVm(DesignEdit):
    """Put a virtual machine on a host, with its devices as they are there."""

    id: str
    host: str
    devices: tuple[VmDevice, ...]
    title: str = ""

    @property
    def label(self) -> str:
        return self.title or f"Move {self.id} to {self.host}"

    def apply(self, design: Design) -> Design:
        changed = change(design, "vms", (self.id,), {"host": self.host, "devices": self.devices})
        check_places(design, changed.vms[self.id])
        return changed


def check_places(block: Block, vm: VirtualMachine) -> None:
    """Refuse a host or device that does not exist.

    Raises
    ------
    DocumentError
        If one is not there.
    """
    if vm.host is not None and not reaches(block, vm.host):
        raise DocumentError(
            f"there is no host {vm.host!r}", place=f"vms.{vm.id}.host", remedy="choose a part of the design"
        )
    for index, device in enumerate(vm.devices):
        if device.part is not None and not reaches(block, device.part):
            raise DocumentError(
                f"there is no part {device.part!r}",
                place=f"vms.{vm.id}.devices.{index}.part",
                remedy="choose a part of the design",
            )

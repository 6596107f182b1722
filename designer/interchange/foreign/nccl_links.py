"""Links of GPUs in an NCCL topology file: NVLinks, xGMI links, and chip-to-chip links to their CPU."""

from __future__ import annotations

import re

from designer.catalog.architectures import Architecture
from designer.catalog.parttype import link_kinds
from designer.design.document import LinkValues
from designer.interchange.foreign import nccl
from designer.interchange.foreign.accelerator_links import Listed, draw_links, mark_missing_links
from designer.interchange.foreign.machine import MachineDrawing
from designer.interchange.foreign.nccl_hosts import Host
from designer.interchange.foreign.xml import Element
from designer.sources import Status
from designer.units import write

#: what stands for a switch whose place NCCL could not see
_UNSEEN = re.compile(r"f{4,8}:ff:ff\.[0-9a-f]\Z")


def note_ignored(machine: MachineDrawing, element: Element) -> None:
    """Say that an element which the format does not have was left out."""
    machine.note("IMP-IGNORED", f"<{element.tag[:60]}> elements are not part of the format and were ignored")


class AcceleratorLinks:
    """Collects the GPUs of a file, and joins them once all are known."""

    def __init__(self, machine: MachineDrawing, several_hosts: bool) -> None:
        self.machine, self.several_hosts = machine, several_hosts
        #: machine, part, bus id and ``<gpu>`` elements of each GPU
        self.gpus: list[tuple[Host, str, str, list[Element]]] = []
        self.architectures: dict[str, Architecture | None] = {}
        #: NVSwitches by server and bus id
        self.switches: dict[tuple[str, str], str] = {}

    def chip_links(self, numa: str, gpu: str, elements: list[Element]) -> None:
        """Join a GPU to its CPU by the chip-to-chip links listed below it."""
        for element in elements:
            count, megabytes = nccl.integer(element.get("count"), 1), nccl.integer(element.get("bw"), 0)
            if not 1 <= count <= 1000:
                self._bad_count(gpu)
                continue
            if 0 < megabytes < 10_000_000:
                rate = write(megabytes * 1e6, "rate")
                values = LinkValues(kind="c2c", count=count, bandwidth_per_direction=rate, status=Status.PRIMARY)
            else:
                values = LinkValues(kind="c2c", count=count, status=Status.ASSUMED)
                self.machine.note(
                    "IMP-ASSUMED-C2C",
                    "the speed of the chip-to-chip link is not in the file: "
                    f"{link_kinds()['c2c'].default_rate} per direction is assumed",
                    gpu,
                )
            self.machine.link(numa, gpu, values, element.attributes)

    def _bad_count(self, gpu: str) -> None:
        self.machine.note("IMP-COUNT", "links with an impossible count were left out", gpu, remedy="draw them by hand")

    def draw(self) -> None:
        """Draw the NVLinks and xGMI links that all GPUs list."""
        listed = {"nvlink": Listed("nvlink"), "xgmi": Listed("xgmi")}
        for host, part, busid, gpus in self.gpus:
            for element in (e for gpu in gpus for e in gpu.children):
                if element.tag in listed:
                    self._accelerator_link(host, part, busid, element, listed[element.tag])
                elif element.tag != "c2c":
                    note_ignored(self.machine, element)
        for table in listed.values():
            draw_links(self.machine, table, self.architectures)

    def _accelerator_link(self, host: Host, part: str, busid: str, element: Element, listed: Listed) -> None:
        count, target = nccl.integer(element.get("count"), 0), element.get("target").lower()
        far_class = element.get("tclass").lower().removeprefix("0x")
        if not 1 <= count <= 1000:
            self._bad_count(part)
        elif target == busid:
            self.machine.note(
                "IMP-SELF-LINK",
                f"these GPUs list {count} links to themselves, which cannot be: left out",
                part,
                remedy="draw the links between the GPUs that are really paired",
            )
            mark_missing_links(self.machine, [part])
        elif target in host.gpus:
            listed.add(part, host.gpus[target], count, target_is_gpu=True)
        elif far_class.startswith("068001"):
            numa = next(iter(host.domains))
            self.machine.note("IMP-CPU-NVLINK", "NVLinks to the CPU: to which NUMA domain is a guess", part)
            listed.add(part, numa, count, target_is_gpu=False)
        elif far_class.startswith("0680") or (not far_class and _UNSEEN.match(target)):
            listed.add(part, self._switch(host, target), count, target_is_gpu=False)
        else:
            self.machine.note(
                "IMP-DANGLING",
                "links to a GPU that is not in the file were left out",
                part,
                remedy="make the dump with all GPUs in one communicator",
            )
            mark_missing_links(self.machine, [part])

    def _switch(self, host: Host, target: str) -> str:
        unseen = _UNSEEN.match(target) is not None
        shared = unseen and self.several_hosts
        key = ("" if shared else host.server, target)
        if key not in self.switches:
            self.switches[key] = self.machine.add(
                "nvswitch",
                parent=None if shared else host.server,
                name="NVSwitch fabric" if unseen else "",
                attributes={"busid": target},
            )
            if unseen:
                self.machine.note(
                    "IMP-UNSEEN-SWITCH",
                    "the NVSwitches are outside of what the machine sees: drawn as one",
                    self.switches[key],
                )
        return self.switches[key]

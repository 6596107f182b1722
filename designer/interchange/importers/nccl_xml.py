"""NCCL and RCCL topology files: what ``NCCL_TOPO_DUMP_FILE`` writes and ``NCCL_TOPO_FILE`` reads.

Each ``<cpu>`` is a NUMA domain, nested ``<pci>`` are bridges and devices, ``<nvlink>``, ``<xgmi>`` and ``<c2c>`` the
links of a GPU. The file shows what one communicator used, not the whole machine.
"""

from __future__ import annotations

import re

from designer.design.document import Policy
from designer.errors import ExchangeError
from designer.findings import Severity
from designer.interchange.foreign import nccl
from designer.interchange.foreign.accelerator_links import mark_missing_links
from designer.interchange.foreign.cpus import NumaHint, memory_share
from designer.interchange.foreign.finishing import finish
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.machine import MachineDrawing
from designer.interchange.foreign.nccl import (
    AcceleratorLinks,
    Host,
    PciTree,
    collect_loose_nics,
    draw_loose_nics,
    note_ignored,
)
from designer.interchange.foreign.pcie import mark_idle
from designer.interchange.foreign.sockets import group_into_sockets
from designer.interchange.foreign.xml import Element, parse_xml
from designer.plain_text import counted

_TITLE = "an NCCL topology file"


def _sniff(head: str) -> float:
    if re.search(r"<system\s*/?>|<system\s+[^<>]{0,200}>", head):
        return 0.95
    if re.search(r"<graphs\s+version", head):
        return 0.9
    if re.search(r"<pci\s+busid=|<cpu\s[^<>]{0,300}numaid=|<nvlink\s+target=", head):
        return 0.7
    return 0.0


def _read(text: str, file: str) -> Imported:
    parsed = parse_xml(text, file, ("system", "graphs"))
    root = parsed.root
    if root.tag == "graphs":
        raise ExchangeError(
            "this is an NCCL graph file (NCCL_GRAPH_FILE): rings and trees, not hardware",
            file=file,
            remedy="dump the topology with NCCL_TOPO_DUMP_FILE and import that",
        )
    if root.tag != "system":
        raise ExchangeError(
            f"its outermost element is <{root.tag[:60]}>, not <system>: a fragment of a topology file",
            file=file,
            place=f"line {root.line}",
            remedy="give the whole file, from <system> to </system>",
        )
    if not root.all("cpu"):
        raise ExchangeError(
            "it holds no <cpu>, so there is no machine in it",
            file=file,
            place=f"line {root.line}",
            remedy="make the dump again with NCCL_TOPO_DUMP_FILE",
        )
    reader = _Reader(MachineDrawing(file, _TITLE, "nccl-topology"), root)
    if parsed.stray:
        reader.machine.note("IMP-STRAY-TEXT", f"text between the tags was ignored in {counted(parsed.stray, 'place')}")
    reader.machine.note_around(parsed.before, parsed.after)
    return reader.run()


class _Reader:
    """Walks the elements and draws parts."""

    def __init__(self, machine: MachineDrawing, root: Element) -> None:
        self.machine = machine
        self.root = root
        self.hosts: dict[str, Host] = {}
        several = len({cpu.get("host_hash") for cpu in root.all("cpu")}) > 1
        self.links = AcceleratorLinks(machine, several)
        self.tree = PciTree(machine, self.links, {} if several else self._numbers())

    def run(self) -> Imported:
        machine = self.machine
        cpus = self.root.all("cpu")
        for key in dict.fromkeys(cpu.get("host_hash") for cpu in cpus):
            attributes = {"host_hash": key} if key else {}
            self.hosts[key] = Host(machine.add("server", parent=None, attributes=attributes))
        for cpu in cpus:
            self._cpu(self.hosts[cpu.get("host_hash")], cpu)
        for child in self.root.children:
            if child.tag != "cpu":
                note_ignored(machine, child)
        for host in self.hosts.values():
            draw_loose_nics(machine, host)
        self.links.draw()
        for host in self.hosts.values():
            group_into_sockets(machine, host.server, host.domains)
            self._memory(host)
        self._remarks()
        hosts = f"{len(self.hosts)} servers" if len(self.hosts) > 1 else ""
        return finish(machine, description=f"Imported from {_TITLE}{', ' + hosts if hosts else ''}.")

    def _cpu(self, host: Host, cpu: Element) -> None:
        machine = self.machine
        number = nccl.integer(cpu.get("numaid"), -1)
        attributes = {k: v for k, v in cpu.attributes.items() if k != "host_hash"}
        single = len(self.hosts) == 1
        numa = machine.add("numa", number=number if single else None, parent=host.server, attributes=attributes)
        if number >= 0 and number in host.numbers:
            machine.note("IMP-DUPLICATE", f"the NUMA id {number} exists more than once in one machine", numa)
        elif number < 0:
            machine.note("IMP-NO-NUMA", "the NUMA id is missing or −1, as in a virtual machine: numbered again", numa)
        host.numbers.add(number)
        model = nccl.cpu_of(cpu)
        mask, width = nccl.affinity_mask(cpu.get("affinity"))
        devices = (nccl.listed_device(p) for p in cpu.walk() if p.tag == "pci")
        apu = any(device is not None and device.is_socket for device in devices)
        host.domains[numa] = NumaHint(number, mask, width, apu, model)
        for child in cpu.children:
            if child.tag == "pci":
                self.tree.draw(host, child, numa, numa)
            elif child.tag in ("nic", "net"):
                collect_loose_nics(host, child, numa)
            else:
                note_ignored(machine, child)

    def _memory(self, host: Host) -> None:
        share = memory_share(list(host.domains.values()))
        for numa, hint in host.domains.items():
            self.machine.memory(numa, host.server, assumed=share, number=hint.number if len(self.hosts) == 1 else None)

    def _numbers(self) -> dict[int, int]:
        """GPU numbers by element: the CUDA indices where they are all there and different."""
        numbers: dict[int, int] = {}
        for element in self.root.walk():
            if element.tag == "pci" and element.all("gpu"):
                numbers[id(element)] = min(nccl.integer(g.get("dev"), -1) for g in element.all("gpu"))
        unique = len(set(numbers.values())) == len(numbers) and all(0 <= n < 10_000 for n in numbers.values())
        return numbers if unique else {}

    def _remarks(self) -> None:
        machine = self.machine
        gpus = machine.of_kind("gpu")
        elements = [g for *_, group in self.links.gpus for g in group]
        if not gpus:
            machine.note(
                "IMP-NO-GPU",
                "there is no GPU in this file",
                remedy="dump again with GPUs in use",
                severity=Severity.WARNING,
            )
        elif not elements:
            machine.note(
                "IMP-BY-CLASS",
                "a static file without <gpu>: GPUs are counted by their PCI class and their NVLinks are not in it",
                *gpus,
                remedy="draw the links between the GPUs",
            )
            mark_missing_links(machine, gpus)
        elif all(g.get("gdr") == "0" for g in elements):
            machine.policy = Policy(gpudirect=False)
            machine.note("IMP-NO-GDR", "the GPUs report no GPUDirect RDMA (gdr=0): switched off in the policy")
        if elements:
            machine.note("IMP-TRIMMED", "the file shows what one communicator used; unused devices are not in it")
        self._slow_uplinks()

    def _slow_uplinks(self) -> None:
        """Switches whose uplink is stated slower than the links of the devices below."""
        links = [link for link in self.machine.links.values() if link.kind == "pcie" and link.generation]
        up = {link.b: link for link in links if self.machine.parts[link.b].kind == "pcie_switch"}
        for link in links:
            above = up.get(link.a)
            if above is None or (above.generation or 0) >= (link.generation or 0):
                continue
            idle = (above.generation or 0) <= 2
            if idle:
                mark_idle(self.machine, above.id, link.generation or 1, above.lanes or 16)
            self.machine.note(
                "IMP-SLOW-UPLINK",
                f"the uplinks of these switches are stated as Gen{above.generation}, slower than what hangs below"
                + (": often an idle reading" if idle else ""),
                above.id,
                remedy="set the generation the uplink trains to under load",
                severity=Severity.WARNING if idle else Severity.INFO,
            )


IMPORTER = Importer("nccl-xml", "NCCL or RCCL topology", (".xml",), _sniff, _read)

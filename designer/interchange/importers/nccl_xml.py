"""NCCL and RCCL topology files: what ``NCCL_TOPO_DUMP_FILE`` writes and ``NCCL_TOPO_FILE`` reads.

Each ``<cpu>`` is a NUMA domain, nested ``<pci>`` are bridges and devices, ``<nvlink>``, ``<xgmi>`` and ``<c2c>`` the
links of a GPU. The file shows what one communicator used, not the whole machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from designer.catalog.architectures import Architecture
from designer.catalog.parttype import link_kinds
from designer.design.document import LinkValues, Policy
from designer.errors import ExchangeError
from designer.fields import Quantity
from designer.findings import Severity
from designer.formulas.transfer.pcie_rate import pcie_rate
from designer.interchange.foreign import nccl
from designer.interchange.foreign.cpus import NumaHint, memory_share
from designer.interchange.foreign.devices import Device, unknown_pcie
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.links import Listed, draw_links
from designer.interchange.foreign.machine import Machine
from designer.interchange.foreign.xml import Element, parse_xml
from designer.sources import Status
from designer.units import write

_TITLE = "an NCCL topology file"
_BUS_ID = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]\Z")
#: what stands for a switch whose place NCCL could not see
_UNSEEN = re.compile(r"f{4,8}:ff:ff\.[0-9a-f]\Z")
#: a port faster than this is a slip of units [Mb/s]
_FASTEST_PORT = 10_000_000


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
    reader = _Reader(Machine(file, _TITLE, "nccl-topology"), root)
    if parsed.stray:
        reader.machine.note(
            "IMP-STRAY-TEXT", Severity.INFO, f"text between the tags was ignored in {parsed.stray} place(s)"
        )
    reader.machine.note_around(parsed.before, parsed.after)
    return reader.run()


@dataclass(slots=True)
class _Host:
    """One machine of the file: GPUs and switches by bus id, and interfaces without a place."""

    server: str
    domains: dict[str, NumaHint] = field(default_factory=dict[str, NumaHint])
    parts: dict[str, str] = field(default_factory=dict[str, str])
    gpus: dict[str, str] = field(default_factory=dict[str, str])
    drawn_nets: set[str] = field(default_factory=set[str])
    loose: dict[str, tuple[str, Element]] = field(default_factory=dict[str, tuple[str, Element]])
    repeated: int = 0
    numbers: set[int] = field(default_factory=set[int])
    ports: set[tuple[str, str] | None] = field(default_factory=set[tuple[str, str] | None])

    def has_port(self, net: Element) -> bool:
        """True if an interface is a port that is drawn already."""
        return _port(net) in self.ports

    def is_new_port(self, net: Element) -> bool:
        """True if an interface is a port not met yet, by GUID and port number; small GUIDs are those of sockets."""
        port = _port(net)
        if port is None:
            return True
        new = port not in self.ports
        self.ports.add(port)
        return new


class _Reader:
    """Walks the elements and draws parts."""

    def __init__(self, machine: Machine, root: Element) -> None:
        self.machine = machine
        self.root = root
        self.hosts: dict[str, _Host] = {}
        self.architectures: dict[str, Architecture | None] = {}
        self.gpu_elements: list[tuple[_Host, str, str, list[Element]]] = []
        self.switches: dict[tuple[str, str], str] = {}
        self.rates: dict[str, float] = {}
        self.gpu_numbers = self._numbers()

    def run(self) -> Imported:
        machine = self.machine
        cpus = self.root.all("cpu")
        for key in dict.fromkeys(cpu.get("host_hash") for cpu in cpus):
            attributes = {"host_hash": key} if key else {}
            self.hosts[key] = _Host(machine.add("server", parent=None, attributes=attributes))
        for cpu in cpus:
            self._cpu(self.hosts[cpu.get("host_hash")], cpu)
        for child in self.root.children:
            if child.tag != "cpu":
                self._ignored(child)
        for host in self.hosts.values():
            self._loose_nets(host)
        self._accelerator_links()
        for host in self.hosts.values():
            machine.sockets(host.server, host.domains)
            self._memory(host)
        self._remarks()
        hosts = f"{len(self.hosts)} servers" if len(self.hosts) > 1 else ""
        return machine.finish(description=f"Imported from {_TITLE}{', ' + hosts if hosts else ''}.")

    # -- NUMA domains ------------------------------------------------------------------------------------------------

    def _cpu(self, host: _Host, cpu: Element) -> None:
        machine = self.machine
        number = nccl.integer(cpu.get("numaid"), -1)
        attributes = {k: v for k, v in cpu.attributes.items() if k != "host_hash"}
        single = len(self.hosts) == 1
        numa = machine.add("numa", number=number if single else None, parent=host.server, attributes=attributes)
        if number >= 0 and number in host.numbers:
            machine.note(
                "IMP-DUPLICATE", Severity.WARNING, f"the NUMA id {number} exists more than once in one machine", numa
            )
        elif number < 0:
            machine.note(
                "IMP-NO-NUMA",
                Severity.INFO,
                "the NUMA id is missing or −1, as in a virtual machine: counted anew",
                numa,
            )
        host.numbers.add(number)
        model = nccl.cpu_of(cpu)
        mask, width = nccl.affinity_mask(cpu.get("affinity"))
        devices = (nccl.listed_device(p) for p in cpu.walk() if p.tag == "pci")
        apu = any(device is not None and device.is_socket for device in devices)
        host.domains[numa] = NumaHint(number, mask, width, apu, model)
        for child in cpu.children:
            if child.tag == "pci":
                self._pci(host, child, numa, numa)
            elif child.tag in ("nic", "net"):
                self._nets_without_place(host, child, numa)
            else:
                self._ignored(child)

    def _memory(self, host: _Host) -> None:
        share = memory_share(list(host.domains.values()))
        for numa, hint in host.domains.items():
            self.machine.memory(numa, host.server, assumed=share, number=hint.number if len(self.hosts) == 1 else None)

    def _ignored(self, element: Element) -> None:
        self.machine.note(
            "IMP-IGNORED", Severity.INFO, f"<{element.tag[:60]}> elements are not part of the format and were ignored"
        )

    # -- PCI tree ----------------------------------------------------------------------------------------------------

    def _pci(self, host: _Host, element: Element, parent: str, numa: str) -> None:
        kind = nccl.kind_of(element)
        if kind is None:
            self.machine.note(
                "IMP-OTHER-DEVICE", Severity.INFO, f"a device of class {element.get('class')} was left out"
            )
            return
        part = {"gpu": self._gpu, "pcie_switch": self._bridge, "nic": self._nic}.get(kind, self._other)(
            host, element, parent, numa, kind
        )
        busid = element.get("busid").lower()
        if busid in host.parts:
            self.machine.note(
                "IMP-DUPLICATE", Severity.WARNING, f"the bus id {busid[:40]} exists more than once in one machine", part
            )
        elif busid and not _BUS_ID.match(busid):
            self.machine.note("IMP-BUS-ID", Severity.INFO, "the bus id has an unusual form", part)
        host.parts.setdefault(busid, part)
        below = part if kind == "pcie_switch" else parent
        for child in element.all("pci"):
            self._pci(host, child, below, numa)

    def _bridge(self, host: _Host, element: Element, parent: str, numa: str, kind: str) -> str:
        part = self.machine.add(
            kind, parent=host.server, attributes=element.attributes, device=nccl.listed_device(element)
        )
        self._edge(parent, part, element, None)
        if nccl.interfaces(element):
            self._nic(host, element, part, numa, "nic", own_link=False)
        for child in element.children:
            if child.tag == "pcilink":
                self.machine.note(
                    "IMP-PCILINK",
                    Severity.INFO,
                    "direct links between PCIe switches (<pcilink>) were left out",
                    part,
                    remedy="draw them as PCIe links",
                )
            elif child.tag not in ("pci", "nic", "net"):
                self._ignored(child)
        return part

    def _gpu(self, host: _Host, element: Element, parent: str, numa: str, kind: str) -> str:
        machine = self.machine
        gpus = element.all("gpu")
        architecture = nccl.architecture_of(element, gpus)
        attributes = dict(element.attributes)
        for index, gpu in enumerate(gpus):
            prefix = "gpu." if len(gpus) == 1 else f"gpu{index}."
            attributes |= {prefix + name: value for name, value in gpu.attributes.items()}
        number = self.gpu_numbers.get(id(element))
        device = nccl.listed_device(element) or nccl.device_of_gpus(gpus)
        overrides: dict[str, Quantity] = {}
        if architecture is not None and device is None:
            overrides["architecture"] = machine.fact(architecture.name, status=Status.DERIVED)
        part = machine.add(
            kind, number=number, parent=host.server, attributes=attributes, device=device, overrides=overrides
        )
        if len(gpus) > 1:
            machine.note(
                "IMP-SHARED-GPU", Severity.INFO, "several ranks or halves share one physical GPU: drawn once", part
            )
        self.architectures[part] = architecture
        chip_links = [c for gpu in gpus for c in gpu.all("c2c")]
        self._edge(parent, part, element, architecture, slow_side_path=bool(chip_links))
        self._chip_links(numa, part, chip_links)
        host.gpus.setdefault(element.get("busid").lower(), part)
        self.gpu_elements.append((host, part, element.get("busid").lower(), gpus))
        return part

    def _nic(self, host: _Host, element: Element, parent: str, _numa: str, kind: str, own_link: bool = True) -> str:
        nets = nccl.interfaces(element)
        attributes = dict(element.attributes)
        link = (nccl.pcie_generation(element.get("link_speed")), nccl.integer(element.get("link_width"), 0))
        part = self._nic_part(host, nets, attributes, nccl.listed_device(element), element.get("class"), link)
        if own_link:
            self._edge(parent, part, element, None)
        else:
            self.machine.pcie(parent, part, unknown_pcie(None))
        if not element.get("class"):
            self.machine.note(
                "IMP-NO-CLASS",
                Severity.WARNING,
                "these PCI devices have no class: taken as NICs, the only leaves NCCL lists beside GPUs",
                part,
                remedy="change the kind of those that are something else",
            ) if not nets else None
        return part

    def _speeds(self, speeds: list[int], ports: int) -> dict[str, Quantity]:
        """Rates of a NIC whose interfaces have these speeds [Mb/s]; what is not stated is derived or left out."""
        fact, total = self.machine.fact, sum(speeds)
        if not 0 < total < _FASTEST_PORT:
            return {}
        single = len(speeds) == 1
        found = {
            "bandwidth_per_direction": fact(nccl.port_rate(total), status=Status.PRIMARY if single else Status.DERIVED)
        }
        if len(set(speeds)) == 1:
            # one device fused of several ports states their sum: the rate of each is a share of it
            stated = len(speeds) == ports
            note = "" if stated else "an equal share of the fused device"
            status = Status.PRIMARY if stated else Status.DERIVED
            found["port_bandwidth_per_direction"] = fact(nccl.port_rate(total / ports), note, status)
        return found

    def _nic_part(
        self,
        host: _Host,
        nets: list[Element],
        attributes: dict[str, str],
        device: Device | None,
        pci_class: str,
        link: tuple[int, int] = (0, 0),
    ) -> str:
        machine = self.machine
        names: list[str] = []
        megabits: list[int] = []
        fused = False
        same: list[str] = []
        for index, net in enumerate(nets):
            name = net.get("name")
            prefix = "net." if len(nets) == 1 else f"net{index}."
            attributes |= {prefix + key: value for key, value in net.attributes.items()}
            host.drawn_nets.add(name)
            if (name and name in names) or not host.is_new_port(net):
                same.append(name)
                continue
            names += name.split("+") if name else []
            fused |= "+" in name
            megabits.append(nccl.integer(net.get("speed"), 0))
        slip = any(m >= _FASTEST_PORT for m in megabits)
        speeds = [m // 1000 if m >= _FASTEST_PORT else m for m in megabits]
        speeds, shares = _real_ports(speeds, link)
        overrides: dict[str, Quantity] = {}
        if nets:
            ports = len(speeds) if shares else max(len(names), 1)
            overrides["ports"] = machine.fact(ports, status=Status.DERIVED if shares else Status.PRIMARY)
            overrides |= self._speeds(speeds, ports)
        technology = {"0207": "InfiniBand", "0c06": "InfiniBand", "0200": "Ethernet"}.get(
            pci_class.lower().removeprefix("0x")[:4]
        )
        if technology:
            overrides["technology"] = machine.fact(technology)
        part = machine.add(
            "nic", parent=host.server, name=" + ".join(names), device=device, attributes=attributes, overrides=overrides
        )
        if same:
            machine.note(
                "IMP-SAME-PORT",
                Severity.INFO,
                "several interfaces of one port (equal GUID and port number) were counted once",
                part,
            )
        if shares:
            machine.note(
                "IMP-SHARED-PORT",
                Severity.WARNING,
                f"{len(megabits)} interfaces share one PCI device, faster together than its link, as virtual functions "
                f"do: taken for {len(speeds)} port(s)",
                part,
                remedy="set ports and bandwidth of the NIC",
            )
        if slip:
            machine.note(
                "IMP-PORT-SPEED",
                Severity.WARNING,
                "the stated port speed is beyond any port; read as kilobits instead of megabits",
                part,
                remedy="set the bandwidth of the NIC",
            )
        if fused:
            machine.note("IMP-FUSED", Severity.INFO, "NCCL fused several ports to one device: drawn as one NIC", part)
        return part

    def _other(self, host: _Host, element: Element, parent: str, _numa: str, kind: str) -> str:
        part = self.machine.add(
            kind, parent=host.server, attributes=element.attributes, device=nccl.listed_device(element)
        )
        if kind == "nvswitch":
            self.switches[host.server, element.get("busid").lower()] = part
        else:
            self._edge(parent, part, element, None)
        return part

    def _edge(
        self, upper: str, lower: str, element: Element, architecture: Architecture | None, slow_side_path: bool = False
    ) -> None:
        """The PCIe link between an element and what it hangs from."""
        machine = self.machine
        raw = {k: v for k, v in element.attributes.items() if k in ("link_speed", "link_width")}
        generation, lanes = nccl.pcie_generation(element.get("link_speed")), nccl.integer(element.get("link_width"), 0)
        if generation == 1 and slow_side_path:
            machine.note(
                "IMP-SIDE-PATH",
                Severity.INFO,
                "this GPU talks to its CPU over the chip-to-chip link: the slow PCIe link beside it is not drawn",
                lower,
            )
            return
        if generation == 1 and lanes == 1 and nccl.holds_gpu(element):
            machine.virtual_pcie(upper, lower, architecture, "Gen1 x1", raw)
            return
        if generation and 1 <= lanes <= 32:
            values = LinkValues(kind="pcie", generation=generation, lanes=lanes, status=Status.PRIMARY)
        elif generation:
            values = LinkValues(kind="pcie", generation=generation, lanes=16, status=Status.ASSUMED)
        else:
            if element.get("link_speed"):
                machine.note("IMP-LINK-SPEED", Severity.WARNING, "the link speed cannot be read", lower)
            values = unknown_pcie(architecture)
        link_id = machine.pcie(upper, lower, values, raw)
        if generation == 1 and architecture is not None and architecture.pcie_generation >= 3:
            machine.idle(link_id, architecture.pcie_generation, 16)
            machine.note(
                "IMP-IDLE",
                Severity.WARNING,
                "these GPUs stood at 2.5 GT/s when the file was written, as idle ones do; they are faster under load",
                link_id,
                remedy="set the generation the link trains to under load",
            )

    # -- links of GPUs -----------------------------------------------------------------------------------------------

    def _chip_links(self, numa: str, gpu: str, elements: list[Element]) -> None:
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
                    Severity.WARNING,
                    "the speed of the chip-to-chip link is not in the file: "
                    f"{link_kinds()['c2c'].default_rate} per direction is assumed",
                    gpu,
                )
            self.machine.link(numa, gpu, values, element.attributes)

    def _bad_count(self, gpu: str) -> None:
        self.machine.note(
            "IMP-COUNT",
            Severity.WARNING,
            "links with an impossible count were left out",
            gpu,
            remedy="draw them by hand",
        )

    def _accelerator_links(self) -> None:
        listed = {"nvlink": Listed("nvlink"), "xgmi": Listed("xgmi")}
        for host, part, busid, gpus in self.gpu_elements:
            for element in (e for gpu in gpus for e in gpu.children):
                if element.tag in listed:
                    self._accelerator_link(host, part, busid, element, listed[element.tag])
                elif element.tag != "c2c":
                    self._ignored(element)
        for table in listed.values():
            draw_links(self.machine, table, self.architectures)

    def _accelerator_link(self, host: _Host, part: str, busid: str, element: Element, listed: Listed) -> None:
        count, target = nccl.integer(element.get("count"), 0), element.get("target").lower()
        far_class = element.get("tclass").lower().removeprefix("0x")
        if not 1 <= count <= 1000:
            self._bad_count(part)
        elif target == busid:
            self.machine.note(
                "IMP-SELF-LINK",
                Severity.WARNING,
                f"these GPUs list {count} links to themselves, which cannot be: left out",
                part,
                remedy="draw the links between the GPUs that are really paired",
            )
            self.machine.missing_links([part])
        elif target in host.gpus:
            listed.add(part, host.gpus[target], count, target_is_gpu=True)
        elif far_class.startswith("068001"):
            numa = next(iter(host.domains))
            self.machine.note(
                "IMP-CPU-NVLINK", Severity.WARNING, "NVLinks to the CPU: to which NUMA domain is a guess", part
            )
            listed.add(part, numa, count, target_is_gpu=False)
        elif far_class.startswith("0680") or (not far_class and _UNSEEN.match(target)):
            listed.add(part, self._switch(host, target), count, target_is_gpu=False)
        else:
            self.machine.note(
                "IMP-DANGLING",
                Severity.WARNING,
                "links to a GPU that is not in the file were left out",
                part,
                remedy="make the dump with all GPUs in one communicator",
            )
            self.machine.missing_links([part])

    def _switch(self, host: _Host, target: str) -> str:
        unseen = _UNSEEN.match(target) is not None
        shared = unseen and len(self.hosts) > 1
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
                    Severity.INFO,
                    "the NVSwitches are outside of what the machine sees: drawn as one",
                    self.switches[key],
                )
        return self.switches[key]

    # -- interfaces without a place in the PCI tree ------------------------------------------------------------------

    def _nets_without_place(self, host: _Host, element: Element, numa: str) -> None:
        for net in element.all("net") if element.tag == "nic" else [element]:
            name = net.get("name")
            if name in host.loose:
                host.repeated += 1
            else:
                host.loose[name] = (numa, net)

    def _loose_nets(self, host: _Host) -> None:
        dropped: list[str] = []
        known_port = False
        for name, (numa, net) in host.loose.items():
            if name in host.drawn_nets:
                continue
            if not nccl.is_hardware(net):
                dropped.append(name)
                continue
            if host.has_port(net):
                known_port = True
                continue
            part = self._nic_part(host, [net], {}, None, "")
            self.machine.pcie(numa, part, unknown_pcie(None))
            self.machine.note(
                "IMP-PLACE",
                Severity.WARNING,
                "where these NICs sit in the PCI tree is not in the file: attached to their NUMA domain",
                part,
                remedy="move them below their switch",
            )
        if known_port:
            self.machine.note(
                "IMP-SAME-PORT",
                Severity.INFO,
                "several interfaces of one port (equal GUID and port number) were counted once",
                host.server,
            )
        if dropped:
            names = ", ".join(name[:20] for name in dropped[:3]) + (" …" if len(dropped) > 3 else "")
            again = f", {host.repeated} repetitions" if host.repeated else ""
            self.machine.note(
                "IMP-VIRTUAL",
                Severity.INFO,
                f"{len(dropped)} virtual or socket interface(s) are no hardware and were left out ({names}{again})",
                host.server,
            )

    # -- remarks -----------------------------------------------------------------------------------------------------

    def _numbers(self) -> dict[int, int]:
        """GPU numbers by element: the CUDA indices where they are all there and different."""
        numbers: dict[int, int] = {}
        for element in self.root.walk():
            if element.tag == "pci" and element.all("gpu"):
                numbers[id(element)] = min(nccl.integer(g.get("dev"), -1) for g in element.all("gpu"))
        unique = len(set(numbers.values())) == len(numbers) and all(0 <= n < 10_000 for n in numbers.values())
        hosts = {cpu.get("host_hash") for cpu in self.root.all("cpu")}
        return numbers if unique and len(hosts) == 1 else {}

    def _remarks(self) -> None:
        machine = self.machine
        gpus = machine.of_kind("gpu")
        elements = [g for *_, group in self.gpu_elements for g in group]
        if not gpus:
            machine.note(
                "IMP-NO-GPU", Severity.WARNING, "there is no GPU in this file", remedy="dump again with GPUs in use"
            )
        elif not elements:
            machine.note(
                "IMP-BY-CLASS",
                Severity.WARNING,
                "a static file without <gpu>: GPUs are counted by their PCI class and their NVLinks are not in it",
                *gpus,
                remedy="draw the links between the GPUs",
            )
            machine.missing_links(gpus)
        elif all(g.get("gdr") == "0" for g in elements):
            machine.policy = Policy(gpudirect=False)
            machine.note(
                "IMP-NO-GDR", Severity.INFO, "the GPUs report no GPUDirect RDMA (gdr=0): switched off in the policy"
            )
        if elements:
            machine.note(
                "IMP-TRIMMED", Severity.INFO, "the file shows what one communicator used; unused devices are not in it"
            )
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
                self.machine.idle(above.id, link.generation or 1, above.lanes or 16)
            self.machine.note(
                "IMP-SLOW-UPLINK",
                Severity.WARNING if idle else Severity.INFO,
                f"the uplinks of these switches are stated as Gen{above.generation}, slower than what hangs below"
                + (": often an idle reading" if idle else ""),
                above.id,
                remedy="set the generation the uplink trains to under load",
            )


def _port(net: Element) -> tuple[str, str] | None:
    """GUID and number of the port of an interface; None where they say nothing."""
    guid, port = net.get("guid").lower().removeprefix("0x").lstrip("0"), net.get("port")
    return (guid, port) if len(guid) > 4 and port else None


def _real_ports(speeds: list[int], link: tuple[int, int]) -> tuple[list[int], bool]:
    """Speeds of the ports a PCI device can have [Mb/s], and whether those are fewer than its interfaces.

    Cards with two ports may be faster than their PCIe link, never with more ports and never twice as fast: that is one
    port seen by several virtual functions.
    """
    generation, lanes = link
    if len(speeds) < 3 or not generation or lanes < 1:
        return speeds, False
    most = 8e-6 * pcie_rate(generation, lanes)
    if sum(speeds) <= most:
        return speeds, False
    kept = sorted(speeds, reverse=True)
    count = max(1, sum(1 for n in range(1, len(kept) + 1) if sum(kept[:n]) <= most))
    return kept[:count], True


IMPORTER = Importer("nccl-xml", "NCCL or RCCL topology", (".xml",), _sniff, _read)

"""What the elements of an NCCL or RCCL topology file say: kinds, devices, speeds and affinity masks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from designer.catalog.architectures import Architecture, by_compute_capability, by_gfx
from designer.catalog.parttype import link_kinds
from designer.design.document import LinkValues
from designer.fields import Quantity
from designer.formulas.transfer.pcie_rate import pcie_rate
from designer.interchange.foreign.accelerator_links import Listed, draw_links, mark_missing_links
from designer.interchange.foreign.cpus import CpuModel, NumaHint, cpu_model, processor_for
from designer.interchange.foreign.devices import (
    Device,
    device_by_chip,
    known_device,
)
from designer.interchange.foreign.machine import MachineDrawing, few
from designer.interchange.foreign.pcie import (
    GENERATIONS,
    join_pcie,
    join_virtual_pcie,
    kind_of_class,
    note_idle,
    technology_of_class,
    unknown_pcie,
)
from designer.interchange.foreign.xml import Element
from designer.sources import Status
from designer.units import write


@dataclass(slots=True)
class Host:
    """One machine of the file: GPUs and switches by bus id, and interfaces without a place."""

    server: str
    domains: dict[str, NumaHint] = field(default_factory=dict[str, NumaHint])
    parts: dict[str, str] = field(default_factory=dict[str, str])
    gpus: dict[str, str] = field(default_factory=dict[str, str])
    named_nets: set[str] = field(default_factory=set[str])
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


def _port(net: Element) -> tuple[str, str] | None:
    """GUID and number of the port of an interface; None where they say nothing."""
    guid, port = net.get("guid").lower().removeprefix("0x").lstrip("0"), net.get("port")
    return (guid, port) if len(guid) > 4 and port else None


#: what represents a switch whose place NCCL could not see
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
            count, megabytes = integer(element.get("count"), 1), integer(element.get("bw"), 0)
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
        count, target = integer(element.get("count"), 0), element.get("target").lower()
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


_BUS_ID = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]\Z")


class PciTree:
    """Makes a part of every PCI device that matters to a design.

    Parameters
    ----------
    links
        Where GPUs are entered, with what they list.
    numbers
        Numbers of GPUs by element, where the file has them.
    """

    def __init__(self, machine: MachineDrawing, links: AcceleratorLinks, numbers: Mapping[int, int]) -> None:
        self.machine, self.links, self.numbers = machine, links, numbers

    def draw(self, host: Host, element: Element, parent: str, numa: str) -> None:
        """The parts of a ``<pci>`` element and of those below it, hung from `parent` in a NUMA domain."""
        kind = kind_of(element)
        if kind is None:
            self.machine.note("IMP-OTHER-DEVICE", f"a device of class {element.get('class')} was left out")
            return
        part = {"gpu": self._gpu, "pcie_switch": self._bridge, "nic": self._nic}.get(kind, self._add_other)(
            host, element, parent, numa, kind
        )
        busid = element.get("busid").lower()
        if busid in host.parts:
            self.machine.note("IMP-DUPLICATE", f"the bus id {busid[:40]} exists more than once in one machine", part)
        elif busid and not _BUS_ID.match(busid):
            self.machine.note("IMP-BUS-ID", "the bus id has an unusual form", part)
        host.parts.setdefault(busid, part)
        below = part if kind == "pcie_switch" else parent
        for child in element.all("pci"):
            self.draw(host, child, below, numa)

    def _bridge(self, host: Host, element: Element, parent: str, numa: str, kind: str) -> str:
        part = self.machine.add(kind, parent=host.server, attributes=element.attributes, device=listed_device(element))
        self._edge(parent, part, element, None)
        if interfaces(element):
            self._nic(host, element, part, numa, "nic", own_link=False)
        for child in element.children:
            if child.tag == "pcilink":
                self.machine.note(
                    "IMP-PCILINK",
                    "direct links between PCIe switches (<pcilink>) were left out",
                    part,
                    remedy="draw them as PCIe links",
                )
            elif child.tag not in ("pci", "nic", "net"):
                note_ignored(self.machine, child)
        return part

    def _gpu(self, host: Host, element: Element, parent: str, numa: str, kind: str) -> str:
        machine = self.machine
        gpus = element.all("gpu")
        architecture = architecture_of(element, gpus)
        attributes = dict(element.attributes)
        for index, gpu in enumerate(gpus):
            prefix = "gpu." if len(gpus) == 1 else f"gpu{index}."
            attributes |= {prefix + name: value for name, value in gpu.attributes.items()}
        number = self.numbers.get(id(element))
        device = listed_device(element) or device_of_gpus(gpus)
        overrides: dict[str, Quantity] = {}
        if architecture is not None and device is None:
            overrides["architecture"] = machine.fact(architecture.name, status=Status.DERIVED)
        part = machine.add(
            kind, number=number, parent=host.server, attributes=attributes, device=device, overrides=overrides
        )
        if len(gpus) > 1:
            machine.note("IMP-SHARED-GPU", "several ranks or halves share one physical GPU: drawn once", part)
        self.links.architectures[part] = architecture
        chip_links = [c for gpu in gpus for c in gpu.all("c2c")]
        self._edge(parent, part, element, architecture, slow_side_path=bool(chip_links))
        self.links.chip_links(numa, part, chip_links)
        host.gpus.setdefault(element.get("busid").lower(), part)
        self.links.gpus.append((host, part, element.get("busid").lower(), gpus))
        return part

    def _nic(self, host: Host, element: Element, parent: str, _numa: str, kind: str, own_link: bool = True) -> str:
        nets = interfaces(element)
        attributes = dict(element.attributes)
        link = (pcie_generation(element.get("link_speed")), integer(element.get("link_width"), 0))
        part = draw_nic(self.machine, host, nets, attributes, listed_device(element), element.get("class"), link)
        if own_link:
            self._edge(parent, part, element, None)
        else:
            join_pcie(self.machine, parent, part, unknown_pcie(None))
        if not element.get("class"):
            self.machine.note(
                "IMP-NO-CLASS",
                "these PCI devices have no class: taken as NICs, the only leaves NCCL lists apart from GPUs",
                part,
                remedy="change the kind of those that are something else",
            ) if not nets else None
        return part

    def _add_other(self, host: Host, element: Element, parent: str, _numa: str, kind: str) -> str:
        part = self.machine.add(kind, parent=host.server, attributes=element.attributes, device=listed_device(element))
        if kind == "nvswitch":
            self.links.switches[host.server, element.get("busid").lower()] = part
        else:
            self._edge(parent, part, element, None)
        return part

    def _edge(
        self, upper: str, lower: str, element: Element, architecture: Architecture | None, slow_side_path: bool = False
    ) -> None:
        """The PCIe link between an element and what it hangs from."""
        machine = self.machine
        raw = {k: v for k, v in element.attributes.items() if k in ("link_speed", "link_width")}
        generation, lanes = pcie_generation(element.get("link_speed")), integer(element.get("link_width"), 0)
        if generation == 1 and slow_side_path:
            machine.note(
                "IMP-SIDE-PATH",
                "this GPU talks to its CPU over the chip-to-chip link: the slow PCIe link in parallel is not drawn",
                lower,
            )
            return
        if generation == 1 and lanes == 1 and holds_gpu(element):
            join_virtual_pcie(machine, upper, lower, architecture, "Gen1 x1", raw)
            return
        if generation and 1 <= lanes <= 32:
            values = LinkValues(kind="pcie", generation=generation, lanes=lanes, status=Status.PRIMARY)
        elif generation:
            values = LinkValues(kind="pcie", generation=generation, lanes=16, status=Status.ASSUMED)
        else:
            if element.get("link_speed"):
                machine.note("IMP-LINK-SPEED", "the link speed cannot be read", lower)
            values = unknown_pcie(architecture)
        link_id = join_pcie(machine, upper, lower, values, raw)
        if generation == 1 and architecture is not None and architecture.pcie_generation >= 3:
            note_idle(machine, link_id, architecture)


#: a port faster than this is a slip of units [Mb/s]
_FASTEST_PORT = 10_000_000


def draw_nic(
    machine: MachineDrawing,
    host: Host,
    nets: list[Element],
    attributes: dict[str, str],
    device: Device | None,
    pci_class: str,
    link: tuple[int, int] = (0, 0),
) -> str:
    """The NIC of some interfaces, with as many ports as can be reported from their names and speeds."""
    names: list[str] = []
    megabits: list[int] = []
    fused = False
    same: list[str] = []
    for index, net in enumerate(nets):
        name = net.get("name")
        prefix = "net." if len(nets) == 1 else f"net{index}."
        attributes |= {prefix + key: value for key, value in net.attributes.items()}
        host.named_nets.add(name)
        if (name and name in names) or not host.is_new_port(net):
            same.append(name)
            continue
        names += name.split("+") if name else []
        fused |= "+" in name
        megabits.append(integer(net.get("speed"), 0))
    slip = any(m >= _FASTEST_PORT for m in megabits)
    speeds = [m // 1000 if m >= _FASTEST_PORT else m for m in megabits]
    speeds, shares = _real_ports(speeds, link)
    overrides: dict[str, Quantity] = {}
    if nets:
        ports = len(speeds) if shares else max(len(names), 1)
        overrides["ports"] = machine.fact(ports, status=Status.DERIVED if shares else Status.PRIMARY)
        overrides |= _speeds(machine, speeds, ports)
    overrides |= technology_of_class(machine, pci_class)
    part = machine.add(
        "nic", parent=host.server, name=" + ".join(names), device=device, attributes=attributes, overrides=overrides
    )
    if same:
        _note_same_port(machine, part)
    if shares:
        machine.note(
            "IMP-SHARED-PORT",
            f"{len(megabits)} interfaces share one PCI device, faster together than its link, as virtual functions "
            f"do: taken for {len(speeds)} port(s)",
            part,
            remedy="set ports and bandwidth of the NIC",
        )
    if slip:
        machine.note(
            "IMP-PORT-SPEED",
            "the stated port speed is beyond any port; read as kilobits instead of megabits",
            part,
            remedy="set the bandwidth of the NIC",
        )
    if fused:
        machine.note("IMP-FUSED", "NCCL fused several ports to one device: drawn as one NIC", part)
    return part


def collect_loose_nics(host: Host, element: Element, numa: str) -> None:
    """Keep interfaces that are below no PCI device, until those that do are known."""
    for net in element.all("net") if element.tag == "nic" else [element]:
        name = net.get("name")
        if name in host.loose:
            host.repeated += 1
        else:
            host.loose[name] = (numa, net)


def draw_loose_nics(machine: MachineDrawing, host: Host) -> None:
    """NICs for the interfaces without a place in the PCI tree that are hardware and were not met elsewhere."""
    dropped: list[str] = []
    known_port = False
    for name, (numa, net) in host.loose.items():
        if name in host.named_nets:
            continue
        if not is_hardware(net):
            dropped.append(name)
            continue
        if host.has_port(net):
            known_port = True
            continue
        part = draw_nic(machine, host, [net], {}, None, "")
        join_pcie(machine, numa, part, unknown_pcie(None))
        machine.note(
            "IMP-PLACE",
            "where these NICs sit in the PCI tree is not in the file: attached to their NUMA domain",
            part,
            remedy="move them below their switch",
        )
    if known_port:
        _note_same_port(machine, host.server)
    if dropped:
        again = f", {host.repeated} repetitions" if host.repeated else ""
        machine.note(
            "IMP-VIRTUAL",
            f"{len(dropped)} virtual or socket interface(s) are no hardware and were left out ({few(dropped)}{again})",
            host.server,
        )


def _note_same_port(machine: MachineDrawing, part: str) -> None:
    text = "several interfaces of one port (equal GUID and port number) were counted once"
    machine.note("IMP-SAME-PORT", text, part)


def _speeds(machine: MachineDrawing, speeds: list[int], ports: int) -> dict[str, Quantity]:
    """Rates of a NIC whose interfaces have these speeds [Mb/s]; what is not stated is derived or left out."""
    fact, total = machine.fact, sum(speeds)
    if not 0 < total < _FASTEST_PORT:
        return {}
    single = len(speeds) == 1
    found = {"bandwidth_per_direction": fact(port_rate(total), status=Status.PRIMARY if single else Status.DERIVED)}
    if len(set(speeds)) == 1:
        # one device fused of several ports states their sum: the rate of each is a share of it
        stated = len(speeds) == ports
        note = "" if stated else "an equal share of the fused device"
        status = Status.PRIMARY if stated else Status.DERIVED
        found["port_bandwidth_per_direction"] = fact(port_rate(total / ports), note, status)
    return found


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
    """The CPU of a ``<cpu>`` element; Grace and GB10 are reported by the GPUs on their chip-to-chip link."""
    model = cpu_model(cpu.get("vendor"), cpu.get("familyid"), cpu.get("modelid"), cpu.get("arch"))
    if model.type:
        return model
    for gpu in (g for g in cpu.walk() if g.tag == "gpu" and g.all("c2c")):
        number = integer(gpu.get("sm"), 0)
        if (processor := processor_for(f"{number // 10}.{number % 10}")) is not None:
            return processor
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

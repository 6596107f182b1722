"""The NICs of an NCCL topology file: which interfaces are one card, how many ports it has and how fast they are."""

from __future__ import annotations

from designer.fields import Quantity
from designer.formulas.transfer.pcie_rate import pcie_rate
from designer.interchange.foreign import nccl
from designer.interchange.foreign.devices import Device
from designer.interchange.foreign.machine import MachineDrawing, few
from designer.interchange.foreign.nccl_hosts import Host
from designer.interchange.foreign.pci import technology_of_class
from designer.interchange.foreign.pcie import join_pcie, unknown_pcie
from designer.interchange.foreign.xml import Element
from designer.sources import Status

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
    """The NIC of some interfaces, with as many ports as can be told from their names and speeds."""
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
        megabits.append(nccl.integer(net.get("speed"), 0))
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
    """Keep interfaces that stand below no PCI device, until those that do are known."""
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
        if not nccl.is_hardware(net):
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

"""Where faults may be on a drawing: devices and the PCIe links above them, accelerator links, sockets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from designer.decisions.acceptance import Machine, host_links
from designer.decisions.fault import WHOLE, Fault, FaultKind
from designer.design.address import Address, block_at, split_path
from designer.design.document import Block, Link
from designer.design.edit import Edit
from designer.design.edits.links import ChangeLinks, Reconnect, RemoveLinks
from designer.design.edits.together import Together
from designer.design.query import neighbours
from designer.engine.network.capacities import ACCELERATOR
from designer.sources import Constant, Status


def _left(value: float, low: float, high: float, note: str) -> Constant:
    return Constant(value, low, high, "assumed-acceptance", Status.ASSUMED, "1", note)


#: clocks of one GPU held down, by a limit or by heat
CLOCKS: Final = _left(0.70, 0.50, 0.90, "clocks of a GPU held down")
#: all GPUs at a lower power limit; power falls with the cube of the clock
POWER: Final = _left(0.75, 0.60, 0.90, "all GPUs below their power limit")
MEMORY: Final = _left(0.70, 0.50, 0.90, "memory of a GPU at a lower clock, or with rows remapped")
MEMORY_OF_ALL: Final = _left(0.65, 0.50, 0.80, "memory clock of all GPUs")
#: where check bits share the memory with the data
CHECKED: Final = _left(0.90, 0.85, 0.94, "error correction in graphics memory")
MIG_COMPUTE: Final = _left(4 / 7, 3 / 7, 4 / 7, "the larger of two MIG slices")
MIG_MEMORY: Final = _left(0.5, 0.5, 0.5, "half of the memory slices")
DRIVE: Final = _left(0.50, 0.20, 0.80, "a drive without spare blocks, hot, or failing")
#: the kernel in the way of every block, as interrupts, translation and clocks are, or the work of a rebuild
KERNEL: Final = _left(0.60, 0.30, 0.85, "blocks that wait for the kernel or for a rebuild")
SMALL: Final = _left(0.65, 0.50, 0.80, "launches and proxies on slow cores")
STORE: Final = _left(0.50, 0.20, 0.80, "a storage system on fewer nodes or connections")
PAGEABLE: Final = _left(0.45, 0.30, 0.65, "copies through pageable memory")
REPLAYS: Final = _left(0.80, 0.65, 0.90, "packets sent again on a poor link")
HALF_RATE: Final = _left(0.5, 0.5, 0.5, "one step of the line rate down")
GONE: Final = _left(0.01, 0.01, 0.01, "a test that does not run")
RINGS_SHORT: Final = _left(0.75, 0.50, 0.90, "collectives between hosts with one rail slow or gone")
LOSSES: Final = _left(0.40, 0.20, 0.70, "collectives that wait for packets sent again, or meet at one port")
FRAMES: Final = _left(0.80, 0.65, 0.88, "small frames")


def on_drawing(machine: Machine, path: str) -> tuple[Address, Link] | None:
    """Path of a link and what it is; None for one of a wiring."""
    within, name = split_path(path)
    link = block_at(machine.design, within).links.get(name)
    return None if link is None else (within, link)


def devices(machine: Machine) -> Iterator[tuple[str, Address, Link, str]]:
    """Devices with the PCIe links at them: path of the device, place and link, path of the link."""
    nics = machine.nics[0] if machine.nics else ()
    seen: set[str] = set()
    for device in (*machine.gpus, *nics, *machine.drives):
        for number in host_links(machine.network, device):
            path = machine.network.net.link_path(number)
            drawn = on_drawing(machine, path)
            if drawn is not None and drawn[1].kind == "pcie" and path not in seen:
                seen.add(path)
                yield device, *drawn, path
    net = machine.network.net
    for number in np.flatnonzero(machine.network.island[net.link_a] == machine.islands[0]).tolist():
        definition = net.link(number)
        path = net.link_path(number) if definition.kind == "pcie" else ""
        if path and path not in seen:
            drawn = on_drawing(machine, path)
            if drawn is not None:
                yield net.path(int(net.link_b[number])), *drawn, path


def narrow(name: str, divisor: int) -> FaultKind:
    """A kind of fault: fewer lanes than a slot has."""
    return FaultKind(name, lambda machine: _narrow_links(machine, name, divisor))


def _narrow_links(machine: Machine, kind: str, divisor: int) -> Iterator[Fault]:
    for device, within, link, path in devices(machine):
        lanes = link.lanes or 16
        less = lanes // divisor
        if less >= 1:
            edit = ChangeLinks((link.id,), {"lanes": less, "bandwidth_per_direction": None}, within=within)
            title = f"{device} runs at x{less} instead of x{lanes}"
            remedy = "reseat the card or riser; compare LnkSta with LnkCap in lspci -vv"
            yield Fault(kind, title, path, remedy, edit, frozenset({path}), marks=ends_of(path, link))


def ends_of(path: str, link: Link) -> tuple[str, str]:
    """Paths of the parts at a link."""
    return in_block(path, link.a), in_block(path, link.b)


def in_block(path: str, name: str) -> str:
    """Path of what is under a name in the block of what is at a path."""
    head, slash, _ = path.rpartition("/")
    return f"{head}{slash}{name}"


def far(name: str, part_kind: str) -> FaultKind:
    """A kind of fault: a device in a slot of the other socket."""
    return FaultKind(name, lambda machine: _distant_devices(machine, name, part_kind))


def _distant_devices(machine: Machine, name: str, part_kind: str) -> Iterator[Fault]:
    for device, within, link, path in devices(machine):
        block = block_at(machine.design, within)
        own = device.rpartition("/")[2]
        up = link.b if link.a == own else link.a
        if own not in (link.a, link.b) or up not in block.parts or own not in block.parts:
            continue
        if block.parts[own].kind != part_kind:
            continue
        for other in block.parts.values():
            if other.kind == block.parts[up].kind and _roots(block, other.id) != _roots(block, up):
                side = "a" if link.a == up else "b"
                edit = Reconnect(link.id, side, other.id, within=within)
                title = f"{device} is at {other.id} instead of {up}"
                remedy = "put the card into a slot of its own socket; see nvidia-smi topo -m"
                marks = (device, in_block(device, up), in_block(device, other.id))
                yield Fault(name, title, device, remedy, edit, frozenset({path}), marks=marks)
                break


def _roots(block: Block, part: str) -> frozenset[str]:
    """The processors a part hangs on: itself where it is one."""
    if block.parts[part].kind == "cpu":
        return frozenset({part})
    return frozenset(n for n in neighbours(block, part) if n in block.parts and block.parts[n].kind == "cpu")


def peer_links(machine: Machine, parts: Sequence[str]) -> Edit | None:
    """The drawing without the accelerator links of some parts; None where they have none."""
    net = machine.network.net
    numbers = [net.index_of(g) for g in parts]
    chosen: dict[Address, list[str]] = {}
    ends = np.isin(net.link_a, numbers) | np.isin(net.link_b, numbers)
    for number in np.flatnonzero(ends & (machine.network.domain == ACCELERATOR)).tolist():
        drawn = on_drawing(machine, net.link_path(number))
        if drawn is not None:
            chosen.setdefault(drawn[0], []).append(drawn[1].id)
    if not chosen:
        return None
    return Together(tuple(RemoveLinks(tuple(ids), within=within) for within, ids in chosen.items()))


def accelerator_links(machine: Machine, part: str) -> list[tuple[str, Address, Link]]:
    """Accelerator links at a part that are on the drawing: path, place and link."""
    net = machine.network.net
    number = net.index_of(part)
    at = ((net.link_a == number) | (net.link_b == number)) & (machine.network.domain == ACCELERATOR)
    found: list[tuple[str, Address, Link]] = []
    for k in np.flatnonzero(at).tolist():
        drawn = on_drawing(machine, net.link_path(k))
        if drawn is not None:
            found.append((net.link_path(k), *drawn))
    return found


def cable_kinds(machine: Machine) -> frozenset[str]:
    """Kinds of the network cables at the NICs of the machine."""
    net, found = machine.network.net, set[str]()
    for nic in machine.nics[0] if machine.nics else ():
        number = net.index_of(nic)
        for k in np.flatnonzero((net.link_a == number) | (net.link_b == number)).tolist():
            found.add(net.link(k).kind)
    return frozenset(found - {"pcie"})


def rails(machine: Machine) -> Sequence[str]:
    """NICs of the first host, where several hosts are tested."""
    return machine.nics[0] if len(machine.nics) > 1 else ()


def ethernet(machine: Machine) -> Sequence[str]:
    """The machine, where several hosts are joined by Ethernet."""
    return WHOLE if len(machine.nics) > 1 and "ethernet" in cable_kinds(machine) else ()


def graphics_memory(machine: Machine) -> Sequence[str]:
    """The machine, where its GPUs have memory whose check bits take space of the data."""
    net = machine.network.net
    quantity = machine.design.quantity(net.part(net.index_of(machine.gpus[0])), "memory_type")
    return WHOLE if quantity is not None and str(quantity.value).upper().startswith("GDDR") else ()

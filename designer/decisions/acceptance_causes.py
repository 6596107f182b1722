"""Why a machine measures what it does: faults put into the drawing, ranked by how well they explain the results.

Each fault is an edit of the drawing; what it promises then is worked out as for the sound one. How likely results are
under a promise follows from its band: what is measured alike shares one error of the estimate, as wide as the band
says, and each result scatters a little by itself. So eight GPUs that all read low are a poor estimate or something they
share, one that reads low beside seven is a fault of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from designer.analysis.capacities import ACCELERATOR
from designer.decisions.acceptance import Expected, Judged, Machine, Promises, host_links, same_sort, scaled, spread_of
from designer.design.address import Address, block_at, split_path
from designer.design.document import Block, Design, Link
from designer.design.edit import Edit
from designer.design.edits.links import ChangeLinks, Reconnect, RemoveLinks
from designer.design.edits.properties import SetPolicy
from designer.design.edits.together import Together
from designer.design.query import neighbours
from designer.errors import DesignerError
from designer.sources import Constant, Status

#: results of equal parts differ by so much
SCATTER: Final = Constant(
    0.03, 0.01, 0.05, "assumed-acceptance", Status.ASSUMED, "1", "between equal parts of one machine"
)
#: a machine is sound before its results are seen; each kind of fault is as likely as any other
SOUND: Final = Constant(0.5, 0.3, 0.9, "assumed-acceptance", Status.ASSUMED, "1", "share of machines that are sound")
#: what a fault leaves of a rate where the drawing has no value for it
SEVENTH: Final = Constant(4 / 7, 1 / 7, 1.0, "assumed-acceptance", Status.ASSUMED, "1", "the larger of two MIG slices")
THROTTLED: Final = Constant(0.7, 0.5, 0.9, "assumed-acceptance", Status.ASSUMED, "1", "clocks held by power or heat")
WORN: Final = Constant(0.5, 0.2, 0.8, "assumed-acceptance", Status.ASSUMED, "1", "a drive without spare blocks")
#: residuals beyond this count no more
_FAR: Final = 1.5
#: explanations told
MOST: Final = 8
#: likelihoods this close are equal: nothing that was measured tells the faults apart
_TIED: Final = 0.02


@dataclass(frozen=True, eq=False)
class Fault:
    """Something that may be wrong, as a change of the drawing or of a promise.

    Parameters
    ----------
    kind
        What sort of fault; faults of one kind differ in their place.
    place
        Path of the part or link on the drawing; empty for the whole machine.
    edit
        What the drawing would look like; None where only `factor` changes.
    links
        Links that a trial has to use to be concerned; None for any trial.
    factor
        What is left of the rate of the trials it concerns, by sort, where the drawing has no value for it.
    algorithm
        What collectives are forced to.
    """

    kind: str
    title: str
    place: str
    remedy: str
    edit: Edit | None = None
    links: frozenset[str] | None = None
    factor: tuple[str, float] | None = None
    algorithm: str = "auto"


@dataclass(frozen=True, slots=True)
class Cause:
    """An explanation of results.

    Parameters
    ----------
    faults
        The fault, with those that would show in just the same way.
    probability
        Of all explanations that were weighed.
    """

    faults: tuple[Fault, ...]
    probability: float
    log_likelihood: float

    @property
    def sound(self) -> bool:
        """True if nothing has to be wrong."""
        return not self.faults


def faults(machine: Machine) -> Iterator[Fault]:
    """All single faults of a machine that are weighed."""
    for make in _MAKERS:
        yield from make(machine)


def explain(machine: Machine, rows: Sequence[Judged], most: int = MOST) -> list[Cause]:
    """Explanations of results, the likeliest first; that all is sound is one of them.

    Notes
    -----
    A fault concerns a trial where the trial's way on the sound drawing, or on the faulty one, uses what it changes.
    """
    return ranked(rows, weighed(machine, [row.expected for row in rows]))[:most]


def weighed(machine: Machine, base: Sequence[Expected]) -> list[tuple[Fault, list[Expected]]]:
    """Faults that can be drawn and that would show in the trials of `base`, with what they promise for each.

    A fault shows where it makes something slower. One that by its estimate alone would make something quicker, as when
    a way through host memory is thought wider than one between sockets, explains no poor result.
    """
    found: list[tuple[Fault, list[Expected]]] = []
    for fault in faults(machine):
        promised = promises_under(machine, fault, base)
        if promised is not None and _slower(_values(promised), _values(base)):
            found.append((fault, promised))
    return found


def _slower(under: Sequence[float], sound: Sequence[float]) -> bool:
    return any(a < b * (1 - _TIED) for a, b in zip(under, sound, strict=True))


def ranked(rows: Sequence[Judged], promised: Sequence[tuple[Fault, list[Expected]]]) -> list[Cause]:
    """Explanations of results, the likeliest first; faults that promise the same of all results are one."""
    base = [row.expected for row in rows]
    count: dict[str, int] = {}
    for fault, _ in promised:
        count[fault.kind] = count.get(fault.kind, 0) + 1
    found: list[tuple[float, float, Fault | None, tuple[float, ...]]] = []
    found.append((math.log(SOUND.value), likelihood(rows, base), None, _values(base)))
    for fault, expected in promised:
        prior = math.log((1 - SOUND.value) / len(count) / count[fault.kind])
        found.append((prior, likelihood(rows, expected), fault, _values(expected)))
    return _ranked(found)


def _values(promised: Sequence[Expected]) -> tuple[float, ...]:
    return tuple(one.estimate.value for one in promised)


def _same(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(abs(a - b) <= _TIED * max(a, b) for a, b in zip(one, other, strict=True))


def _ranked(found: list[tuple[float, float, Fault | None, tuple[float, ...]]]) -> list[Cause]:
    """Explanations with their probabilities; those that promise the same of all results are one."""
    top = max(prior + like for prior, like, _, _ in found)
    groups: list[tuple[list[Fault], list[float], tuple[float, ...], float]] = []
    for prior, like, fault, values in sorted(found, key=lambda row: -(row[0] + row[1])):
        weight = math.exp(prior + like - top)
        for members, weights, known, _ in groups:
            if _same(known, values):
                # what would not show at all is no explanation beside that all is sound
                members += [fault] if fault is not None and members else []
                weights.append(weight)
                break
        else:
            groups.append(([fault] if fault is not None else [], [weight], values, like))
    whole = sum(sum(weights) for _, weights, _, _ in groups)
    rows = [Cause(tuple(members), sum(weights) / whole, like) for members, weights, _, like in groups]
    return sorted(rows, key=lambda cause: -cause.probability)


def likelihood(rows: Sequence[Judged], promised: Sequence[Expected]) -> float:
    """Logarithm of how likely results are under promises: one error shared by what is measured alike, and scatter."""
    total = 0.0
    paired = dict(zip((id(row) for row in rows), promised, strict=True))
    scatter = SCATTER.value**2
    for group in same_sort(rows):
        misses: list[float] = []
        shared = 0.0
        for row in group:
            expected = paired[id(row)]
            miss = math.log(row.measured / expected.estimate.value)
            misses.append(max(-_FAR, min(_FAR, miss)))
            shared = max(shared, spread_of(row.expected.estimate) ** 2)
        n, whole = len(misses), sum(misses)
        inner = (sum(m * m for m in misses) - shared * whole * whole / (scatter + n * shared)) / scatter
        total -= 0.5 * (inner + (n - 1) * math.log(scatter) + math.log(scatter + n * shared))
    return total


def promises_under(machine: Machine, fault: Fault, base: Sequence[Expected]) -> list[Expected] | None:
    """What a machine with a fault promises for the trials of `base`; None where the fault cannot be drawn."""
    if fault.factor is not None and fault.edit is None:
        sort, left = fault.factor
        return [scaled(one, left) if one.trial.sort == sort and fault.place in one.trial.parts else one for one in base]
    design: Design | None = None
    if fault.edit is not None:
        try:
            design = fault.edit.apply(_bare(machine.design))
        except DesignerError:
            return None
    promises = Promises(machine, design, fault.algorithm)
    found: list[Expected] = []
    for one in base:
        concerned = fault.links is None or not one.links or bool(one.links & fault.links)
        if fault.edit is None and one.trial.sort != "all_reduce":
            concerned = False
        again = promises.of(one.trial) if concerned and one.trial.sort != "gemm" else one
        if again is None:
            # the way is gone altogether: a hundredth stands for a test that does not run
            again = scaled(one, 0.01)
        if fault.factor is not None and fault.factor[0] == one.trial.sort and fault.place in one.trial.parts:
            again = scaled(again, fault.factor[1])
        found.append(again)
    return found


def _bare(design: Design) -> Design:
    return design.model_copy(update={"assertions": {}})


def _on_drawing(machine: Machine, path: str) -> tuple[Address, Link] | None:
    """Where a link stands and what it is; None for one of a wiring."""
    within, name = split_path(path)
    link = block_at(machine.design, within).links.get(name)
    return None if link is None else (within, link)


def _devices(machine: Machine) -> Iterator[tuple[str, Address, Link, str]]:
    """Devices with the PCIe links at them: path of the device, place and link, path of the link."""
    nics = machine.nics[0] if machine.nics else ()
    seen: set[str] = set()
    for device in (*machine.gpus, *nics, *machine.drives):
        for number in host_links(machine.network, device):
            path = machine.network.net.link_path(number)
            drawn = _on_drawing(machine, path)
            if drawn is not None and drawn[1].kind == "pcie" and path not in seen:
                seen.add(path)
                yield device, *drawn, path
    net = machine.network.net
    for number in np.flatnonzero(machine.network.island[net.link_a] == machine.islands[0]).tolist():
        definition = net.link(number)
        path = net.link_path(number) if definition.kind == "pcie" else ""
        if path and path not in seen:
            drawn = _on_drawing(machine, path)
            if drawn is not None:
                yield net.path(int(net.link_b[number])), *drawn, path


def _narrow(machine: Machine) -> Iterator[Fault]:
    """Fewer lanes than the slot has."""
    for device, within, link, path in _devices(machine):
        lanes = link.lanes or 16
        for less, kind in ((lanes // 2, "half the lanes"), (lanes // 4, "a quarter of the lanes")):
            if less >= 1:
                edit = ChangeLinks((link.id,), {"lanes": less, "bandwidth_per_direction": None}, within=within)
                title = f"{device} runs at x{less} instead of x{lanes}"
                remedy = "reseat the card or riser; compare LnkSta with LnkCap in lspci -vv"
                yield Fault(kind, title, path, remedy, edit, frozenset({path}))


def _slow(machine: Machine) -> Iterator[Fault]:
    """An older generation than both ends can do."""
    for device, within, link, path in _devices(machine):
        if (link.generation or 1) > 1:
            older = (link.generation or 1) - 1
            edit = ChangeLinks((link.id,), {"generation": older, "bandwidth_per_direction": None}, within=within)
            title = f"{device} runs at PCIe {older}.0 instead of {link.generation}.0"
            remedy = "set the speed of the slot to automatic in the firmware setup"
            yield Fault("an older PCIe generation", title, path, remedy, edit, frozenset({path}))


def _far(machine: Machine) -> Iterator[Fault]:
    """A NIC or GPU in a slot of the other socket."""
    for device, within, link, path in _devices(machine):
        block = block_at(machine.design, within)
        name = device.rpartition("/")[2]
        up = link.b if link.a == name else link.a
        if name not in (link.a, link.b) or up not in block.parts or name not in block.parts:
            continue
        kind = block.parts[name].kind
        if kind not in ("nic", "gpu", "drive"):
            continue
        for other in block.parts.values():
            if other.kind == block.parts[up].kind and _roots(block, other.id) != _roots(block, up):
                side = "a" if link.a == up else "b"
                edit = Reconnect(link.id, side, other.id, within=within)
                title = f"{device} is at {other.id} instead of {up}"
                remedy = "put the card into a slot of its own socket; see nvidia-smi topo -m"
                yield Fault(f"a {kind} at another place", title, device, remedy, edit, frozenset({path}))
                break


def _roots(block: Block, part: str) -> frozenset[str]:
    """The processors a part hangs on: itself where it is one."""
    if block.parts[part].kind == "cpu":
        return frozenset({part})
    return frozenset(n for n in neighbours(block, part) if n in block.parts and block.parts[n].kind == "cpu")


def _whole(machine: Machine) -> Iterator[Fault]:
    """Settings of the whole machine."""
    policy = machine.design.policy
    if policy.gpudirect:
        remedy = "load nvidia-peermem, and see whether NCCL says GDRDMA"
        yield Fault("GPUDirect off", "GPUDirect RDMA is off", "", remedy, SetPolicy({"gpudirect": False}))
    if not policy.pcie_acs:
        remedy = "switch off access control (ACS) on the PCIe switches"
        yield Fault(
            "ACS on", "access control sends peer traffic to the root", "", remedy, SetPolicy({"pcie_acs": True})
        )
    if policy.numa_local:
        remedy = "bind processes to the socket of their GPU"
        edit = SetPolicy({"numa_local": False})
        yield Fault("no NUMA binding", "buffers lie in the memory of the other socket", "", remedy, edit)
    yield Fault("ring", "rings instead of reduction in the switch", "", "see NCCL_NVLS_ENABLE", algorithm="ring")
    yield Fault("tree", "trees where rings are faster", "", "see NCCL_ALGO", algorithm="tree")
    peers = _peer_links(machine, machine.gpus)
    if peers is not None:
        remedy = "see NCCL_P2P_DISABLE, the IOMMU, and nvidia-smi topo -p2p"
        yield Fault("P2P off", "GPUs do not reach each other directly", "", remedy, peers)


def _peer_links(machine: Machine, gpus: Sequence[str]) -> Edit | None:
    """The drawing without the accelerator links of some GPUs; None where they have none."""
    net = machine.network.net
    numbers = [net.index_of(g) for g in gpus]
    chosen: dict[Address, list[str]] = {}
    ends = np.isin(net.link_a, numbers) | np.isin(net.link_b, numbers)
    for number in np.flatnonzero(ends & (machine.network.domain == ACCELERATOR)).tolist():
        drawn = _on_drawing(machine, net.link_path(number))
        if drawn is not None:
            chosen.setdefault(drawn[0], []).append(drawn[1].id)
    if not chosen:
        return None
    return Together(tuple(RemoveLinks(tuple(ids), within=within) for within, ids in chosen.items()))


def _of_gpus(machine: Machine) -> Iterator[Fault]:
    """A GPU in slices, hot, or with links missing."""
    net = machine.network.net
    for gpu in machine.gpus:
        number = net.index_of(gpu)
        at = np.flatnonzero((net.link_a == number) | (net.link_b == number)).tolist()
        remedy = "nvidia-smi -i GPU -mig 0, then reset it"
        edit = _peer_links(machine, (gpu,))
        links = frozenset(net.link_path(k) for k in at if machine.network.domain[k] == ACCELERATOR)
        yield Fault("MIG on", f"MIG is on at {gpu}", gpu, remedy, edit, links, ("gemm", SEVENTH.value))
        remedy = "see nvidia-smi -q -d PERFORMANCE for what holds its clocks"
        yield Fault("clocks held", f"{gpu} holds its clocks down", gpu, remedy, factor=("gemm", THROTTLED.value))
        for k in at:
            drawn = _on_drawing(machine, net.link_path(k)) if machine.network.domain[k] == ACCELERATOR else None
            if drawn is None:
                continue
            within, link = drawn
            less = (
                ChangeLinks((link.id,), {"count": link.count - 1}, within=within)
                if link.count > 1
                else RemoveLinks((link.id,), within=within)
            )
            title = f"a link of {net.link_path(k)} is down"
            path = net.link_path(k)
            remedy = "nvidia-smi nvlink -s, then reset the GPU"
            yield Fault("NVLink down", title, path, remedy, less, frozenset({path}))


def _of_drives(machine: Machine) -> Iterator[Fault]:
    for drive in machine.drives:
        remedy = "see its SMART log; trim or replace it"
        yield Fault("a worn drive", f"{drive} is worn or hot", drive, remedy, factor=("fio", WORN.value))


def _of_cables(machine: Machine) -> Iterator[Fault]:
    """A cable at half its rate, by each rail."""
    for nic in machine.nics[0] if machine.nics else ():
        remedy = "see ibstat or ethtool for its rate; clean or replace the cable"
        yield Fault(
            "a cable at half rate", f"the cable of {nic} runs at half its rate", nic, remedy, factor=("ib", 0.5)
        )


_MAKERS: Final[tuple[Callable[[Machine], Iterator[Fault]], ...]] = (
    _narrow,
    _slow,
    _far,
    _whole,
    _of_gpus,
    _of_drives,
    _of_cables,
)

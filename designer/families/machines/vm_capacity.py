"""Room for more machines like one of the design, host by host; and what such a machine must be given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from designer.catalog.vgpu import VgpuType
from designer.design.document import VirtualMachine, VmDevice, with_changes
from designer.engine.machines.demands import memory_of, release_of, shown_name, vsphere
from designer.engine.machines.free_capacity import GpuFreeCapacity, HostFreeCapacity, Placed, Refusal, shape_of
from designer.engine.machines.placement import Placement, numa_of, place_on, place_vms
from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import Bottleneck, Column, Table, WorkloadResult
from designer.errors import AnalysisError
from designer.families.machines.targets import unbound
from designer.findings import Finding, Severity
from designer.formulas.placement import Mode
from designer.formulas.placement.hosts import GIB, mmio_space
from designer.formulas.placement.mig_slices import mig_stranded
from designer.formulas.placement.virtual_gpus import Starts, stranded_now, stranded_worst
from designer.sources import Estimate
from designer.units import format_quantity

#: with more GPUs than this other profiles are not tried
GPUS_LIMIT: Final = 64
#: machines of one shape on one host are counted up to this
PER_HOST_LIMIT: Final = 4096


def answer(network: Network, settings: Mapping[str, Any], question: Question) -> tuple[WorkloadResult, None]:
    """How many more, and where.

    Raises
    ------
    AnalysisError
        If its settings do not go together with the drawing.
    """
    name, release = settings["vm"], settings["release"]
    vm = network.design.vms.get(name)
    if vm is None:
        known = ", ".join(network.design.vms) or "none"
        raise AnalysisError(
            f"there is no virtual machine {settings['vm']!r}", place=f"{question.place}.vm", remedy=f"machines: {known}"
        )
    placement = place_vms(network)
    found = how_many_more(placement, vm, release)
    per_host = Counter(placed.host.path for placed in found.places)
    rows = tuple(
        (path, float(per_host[path]), ", ".join(dict.fromkeys(gpus)) or None, why)
        for path, gpus, why in (
            (path, [d.part for p in found.places if p.host.path == path for d in p.devices], why)
            for path, why in found.reasons.items()
        )
    )
    count = float(len(found.places))
    metrics = {"more_machines": Estimate.exact(count, "1", ("nvidia-aie-user-guide",))}
    columns = (Column("host"), Column("more", "1"), Column("on"), Column("then"))
    tables = {"hosts": Table(f"More machines like {vm.label}", columns, rows)}
    example = placement.placed.get(vm.id) or next(iter(found.places), None)
    if example is not None:
        tables["needs"] = _needs(vm, example)
    if sum(len(free_capacity.gpus) for free_capacity in placement.free_capacities.values()) <= GPUS_LIMIT and (
        profiles := by_profile(placement, release)
    ):
        shapes = tuple((name, float(more), ", ".join(hosts) or None) for name, more, hosts in profiles)
        columns = (Column("profile"), Column("more", "1"), Column("on"))
        tables["profiles"] = Table("More machines with one virtual GPU of another size", columns, shapes)
    if (stranded := _stranded_memory(placement)) is not None:
        tables["stranded"] = stranded
    tables["spare"], findings = _spare(placement, release)
    reason = next(iter(found.reasons.values()), "there is no host")
    result = question.result(
        metrics,
        (Bottleneck("limit", "room", "room on the hosts", reason),),
        (),
        (),
        0,
        findings,
        {},
        tables,
    )
    return result, None


def _needs(vm: VirtualMachine, placed: Placed) -> Table:
    """What a machine like this must be given: reservation, address space, NUMA nodes, time slice."""
    rows: list[tuple[str, str]] = []
    gpus = {d.gpu.path: d.gpu.memory for d in placed.devices if d.gpu is not None and d.gpu.memory > 0}
    if placed.devices:
        rows.append(("memory reservation", f"all of its {format_quantity(memory_of(vm), 'size')}"))
    if gpus:
        space = mmio_space(list(gpus.values())) / GIB
        rows.append(("64-bit MMIO space", f"pciPassthru.64bitMMIOSizeGB = {space:g}, with EFI firmware"))
    nodes = numa_of(placed)
    if nodes is not None:
        far = f", {format_quantity(nodes.remote_memory, 'size')} on another socket" if nodes.remote_memory else ""
        rows.append(("virtual NUMA nodes", f"{' + '.join(map(str, nodes.cpus))} virtual CPUs{far}"))
    for device in placed.devices:
        kind = device.gpu.type if device.gpu is not None else None
        if device.kind == "vgpu" and kind is not None:
            rows.append(("time slice", kind.profile(device.profile).time_slice))
            break
    return Table(f"What {vm.label} needs", (Column("setting"), Column("value")), tuple(rows))


def _stranded_memory(placement: Placement) -> Table | None:
    """Frame buffer of shared GPUs that no further virtual GPU can use; None where machines share none."""
    gpus = [gpu for free_capacity in placement.free_capacities.values() for gpu in free_capacity.gpus]
    rows = tuple(
        (path, each.used, each.stranded, each.worst, each.compute)
        for path, each in stranded_memory(gpus[:GPUS_LIMIT]).items()
    )
    if not rows:
        return None
    columns = (
        Column("GPU"),
        Column("in use", "B"),
        Column("stranded", "B"),
        Column("in the worst order", "B"),
        Column("compute stranded", "1"),
    )
    return Table("Frame buffer that no virtual GPU can use any more", columns, rows)


def _spare(placement: Placement, release: str) -> tuple[Table, tuple[Finding, ...]]:
    """Whether the machines of each host find a place on the others should it fail, by shape."""
    rows: list[tuple[str | float | None, ...]] = []
    lost: dict[str, list[str]] = {}
    for each in spare_for_failures(placement, release):
        missing = ", ".join(f"{n} × {shape}" if n > 1 else shape for shape, n in each.missing.items())
        rows.append((each.host, float(each.restarted), float(sum(each.missing.values())), missing or None))
        for shape in each.missing:
            lost.setdefault(shape, []).append(each.host)
    columns = (Column("if this fails"), Column("restart elsewhere", "1"), Column("have no place", "1"), Column("shape"))
    findings = tuple(
        Finding(
            "HA-SHAPE",
            Severity.WARNING,
            f"machines with {shape} have no place left when "
            f"{hosts[0] if len(hosts) == 1 else f'one of {len(hosts)} hosts, such as {hosts[0]},'} fails",
            tuple(hosts),
            "keep as much of this shape free on another host",
        )
        for shape, hosts in lost.items()
    )
    return Table("Spare capacity, one host down", columns, tuple(rows)), findings


@dataclass(frozen=True, slots=True)
class RemainingCapacity:
    """Machines that fit, in the order they would be powered on, and why each host takes no more."""

    places: tuple[Placed, ...]
    reasons: Mapping[str, str]


def how_many_more(placement: Placement, vm: VirtualMachine, release: str = "") -> RemainingCapacity:
    """How many more machines like `vm` fit next to all that are placed, GPUs, memory and CPUs counted."""
    places: list[Placed] = []
    reasons: dict[str, str] = {}
    devices = tuple(with_changes(device, part=None, placement=None) for device in vm.devices)
    for path, first in placement.free_capacities.items():
        free_capacity, count = first, 0
        rules = vsphere(release_of(vm, free_capacity.host, release))
        while True:
            count += 1
            more = with_changes(vm, id=f"{vm.id}-more{count}", host=None, devices=devices)
            found = place_on(free_capacity, more, rules, by_hand=False)
            if isinstance(found, Refusal):
                reasons[path] = found.text
                break
            free_capacity = found[0]
            places.append(found[1])
            if count >= PER_HOST_LIMIT:
                reasons[path] = f"more than {PER_HOST_LIMIT}"
                break
    return RemainingCapacity(tuple(places), reasons)


def by_profile(placement: Placement, release: str = "") -> list[tuple[str, int, tuple[str, ...]]]:
    """How many more machines with one virtual GPU fit for each profile there is, and on which hosts; memory aside."""
    gpus = {
        gpu.gpu.type
        for free_capacity in placement.free_capacities.values()
        for gpu in free_capacity.gpus
        if gpu.gpu.type is not None
    }
    names = {
        shown_name(profile.name, gpu): VmDevice(kind="vgpu", profile=shown_name(profile.name, gpu))
        for gpu in sorted(gpus, key=lambda each: each.id)
        for profile in gpu.profiles
        if profile.series == "C"
    }
    found: list[tuple[str, int, tuple[str, ...]]] = []
    for name, device in names.items():
        like = VirtualMachine(id="like", memory="1 GiB", devices=(device,))
        places = how_many_more(placement, like, release).places
        found.append((name, len(places), tuple(dict.fromkeys(place.host.path for place in places))))
    return found


@dataclass(frozen=True, slots=True)
class Failure:
    """One host down: machines that restart on others, and how many of each shape have no place there."""

    host: str
    restarted: int
    missing: Mapping[str, int]


def spare_for_failures(placement: Placement, release: str = "") -> list[Failure]:
    """For each host with machines, whether the others have room for them, shape by shape; largest GPU shares first."""
    found: list[Failure] = []
    for path in placement.free_capacities:
        down = sorted(placement.on(path), key=lambda p: (-_memory_shares(p), -memory_of(p.vm), p.vm.id))
        if not down:
            continue
        free_capacities = {
            other: free_capacity for other, free_capacity in placement.free_capacities.items() if other != path
        }
        missing: Counter[str] = Counter()
        for placed in down:
            if not _restart(free_capacities, placed, release):
                missing[_shape(placed)] += 1
        found.append(Failure(path, len(down) - missing.total(), dict(missing)))
    return found


def _memory_shares(placed: Placed) -> float:
    return sum(device.memory_share for device in placed.devices if device.gpu is not None)


def _shape(placed: Placed) -> str:
    if any(device.kind == "passthrough" for device in placed.devices):
        return "a device of its host"
    return shape_of(placed.vm) or "no GPU"


def _restart(free_capacities: dict[str, HostFreeCapacity], placed: Placed, release: str) -> bool:
    """Put a machine on the emptiest host that takes it; one tied to a device of its host stays down."""
    if any(device.kind == "passthrough" for device in placed.devices):
        return False
    vm = with_changes(unbound(placed), host=None)
    for path, free_capacity in sorted(free_capacities.items(), key=lambda each: -each[1].memory):
        tried = place_on(free_capacity, vm, vsphere(release_of(vm, free_capacity.host, release)), by_hand=False)
        if not isinstance(tried, Refusal):
            free_capacities[path] = tried[0]
            return True
    return False


# Frame buffer that no further virtual GPU can use, GPU by GPU, as it is filled now and should the order be unlucky.


@dataclass(frozen=True, slots=True)
class StrandedMemory:
    """What of one GPU its machines use, and what nothing can use any more.

    Parameters
    ----------
    used, stranded
        Frame buffer given to machines, and that which stays unused however the rest is filled [B].
    worst
        Most that an unlucky order of power-ons strands on an empty GPU [B]; None where sizes are not mixed.
    compute
        Share of the compute slices that stays unused however the rest is filled; 0 without MIG [1].
    """

    used: float
    stranded: float
    worst: float | None
    compute: float


def stranded_memory(gpus: Sequence[GpuFreeCapacity]) -> Mapping[str, StrandedMemory]:
    """Stranded memory of every GPU that machines share, by its path.

    Parameters
    ----------
    gpus
        With what is on them; those without a machine, with one that owns them, or without profiles are left out.
    """
    worst: dict[str, float] = {}
    found: dict[str, StrandedMemory] = {}
    for each in gpus:
        kind = each.gpu.type
        if kind is None or each.mode is None or not each.residents or each.gpu.memory <= 0:
            continue
        if each.mode is Mode.MIXED_SIZE and kind.id not in worst:
            worst[kind.id] = stranded_worst(kind.regions, _starts(kind)) / kind.regions
        found[each.gpu.path] = _stranded_of(each, kind, worst.get(kind.id) if each.mode is Mode.MIXED_SIZE else None)
    return found


def _stranded_of(gpu: GpuFreeCapacity, kind: VgpuType, worst: float | None) -> StrandedMemory:
    memory = gpu.gpu.memory
    if gpu.mode is Mode.MIG:
        lost = mig_stranded(kind, gpu.residents)
        slices = sum(each.memory for r in gpu.residents for each in kind.mig if each.name.lower() == r.profile.lower())
        per_slice = memory / kind.memory_slices
        return StrandedMemory(slices * per_slice, lost.memory * per_slice, None, lost.compute / kind.compute_slices)
    profiles = [kind.profile(resident.profile) for resident in gpu.residents]
    used = sum(profile.size for profile in profiles)
    if gpu.mode is Mode.SAME_SIZE:
        # all have one size: what is left when as many as may share the GPU do
        most = min(profile.most for profile in profiles)
        lost_units = kind.regions - most * profiles[0].size
    else:
        taken = [(r.start, r.start + p.size) for r, p in zip(gpu.residents, profiles, strict=True)]
        lost_units = stranded_now(kind.regions, taken, _starts(kind))
    unit = memory / kind.regions
    return StrandedMemory(used * unit, max(0, lost_units) * unit, None if worst is None else worst * memory, 0.0)


def _starts(kind: VgpuType) -> Starts:
    """Sizes a GPU offers, and the starts each may have."""
    return {profile.size: profile.starts for profile in kind.profiles if profile.starts}

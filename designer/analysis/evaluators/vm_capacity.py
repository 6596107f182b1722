"""Room for more machines like one of the design, host by host; and what such a machine must be given."""

from __future__ import annotations

from collections import Counter
from typing import Final

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.network import Network
from designer.analysis.results import Bottleneck, Column, Table, WorkloadResult
from designer.analysis.vms.capacity import by_profile, how_many_more, spare_for_failures
from designer.analysis.vms.demands import memory_of
from designer.analysis.vms.free_capacity import Placed
from designer.analysis.vms.placement import Placement, numa_of, place_vms
from designer.analysis.vms.stranded import stranded_memory
from designer.design.document import VirtualMachine
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.formulas.placement.mmio_space import GIB, mmio_space
from designer.sources import Estimate
from designer.units import format_quantity
from designer.workload.operations import VmCapacity

#: with more GPUs than this other profiles are not tried
GPUS_LIMIT: Final = 64


def evaluate(network: Network, operation: VmCapacity, question: Question) -> tuple[WorkloadResult, None]:
    """How many more, and where.

    Raises
    ------
    AnalysisError
        If its settings do not go together with the drawing.
    """
    vm = network.design.vms.get(operation.vm)
    if vm is None:
        known = ", ".join(network.design.vms) or "none"
        raise AnalysisError(
            f"there is no virtual machine {operation.vm!r}", place=f"{question.place}.vm", remedy=f"machines: {known}"
        )
    placement = place_vms(network)
    found = how_many_more(placement, vm, operation.release)
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
        profiles := by_profile(placement, operation.release)
    ):
        shapes = tuple((name, float(more), ", ".join(hosts) or None) for name, more, hosts in profiles)
        columns = (Column("profile"), Column("more", "1"), Column("on"))
        tables["profiles"] = Table("More machines with one virtual GPU of another size", columns, shapes)
    if (stranded := _stranded(placement)) is not None:
        tables["stranded"] = stranded
    tables["spare"], findings = _spare(placement, operation.release)
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


def _stranded(placement: Placement) -> Table | None:
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


EVALUATOR = Evaluator(VmCapacity, evaluate)

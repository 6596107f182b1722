"""Room for more machines like one of the design, host by host."""

from __future__ import annotations

from collections import Counter

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.network import Network
from designer.analysis.results import Bound, Column, Table, WorkloadResult
from designer.analysis.vms.capacity import how_many_more
from designer.analysis.vms.placement import place_vms
from designer.errors import AnalysisError
from designer.sources import Estimate
from designer.workload.operations import VmCapacity


def evaluate(network: Network, operation: VmCapacity, question: Question) -> tuple[WorkloadResult, None]:
    """How many more, and where."""
    vm = network.design.vms.get(operation.vm)
    if vm is None:
        known = ", ".join(network.design.vms) or "none"
        raise AnalysisError(
            f"there is no virtual machine {operation.vm!r}", place=f"{question.place}.vm", remedy=f"machines: {known}"
        )
    found = how_many_more(place_vms(network), vm, operation.release)
    per_host = Counter(placed.host.path for placed in found.places)
    rows = tuple(
        (path, float(per_host[path]), ", ".join(dict.fromkeys(gpus)) or None, why)
        for path, gpus, why in (
            (path, [d.part for p in found.places if p.host.path == path for d in p.devices], why)
            for path, why in found.reasons.items()
        )
    )
    count = float(len(found.places))
    metrics = {"more_machines": Estimate(count, count, count, "1", ("nvidia-aie-user-guide",))}
    columns = (Column("host"), Column("more", "1"), Column("on"), Column("then"))
    reason = next(iter(found.reasons.values()), "there is no host")
    result = WorkloadResult(
        question.id, question.reports, question.title, metrics, (Bound("limit", "room", "room on the hosts", reason),),
        (), (), 0, (), {}, {"hosts": Table(f"More machines like {vm.label}", columns, rows)},
    )  # fmt: skip
    return result, None


EVALUATOR = Evaluator(evaluate)

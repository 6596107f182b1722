"""Several models on the same GPUs: memory for all of them, and each slower by what the others compute meanwhile.

Whole GPUs are shared by turns: each process has all of the GPU while it runs and waits while the others do, and each
claims its share of the memory. MIG instances have compute and memory of their own; what matters is whether they fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from designer.analysis.network import Network
from designer.analysis.serving.answers import settled
from designer.analysis.serving.placement import Placement, place_deployment
from designer.analysis.serving.tiers import stored
from designer.analysis.training.accelerators import memory_of
from designer.analysis.vms.hosts import gpu_type
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.formulas.placement._shapes import Resident
from designer.formulas.placement.mig_slices import mig_slices
from designer.sources import Constant, Status
from designer.units import format_quantity
from designer.workload.kind import task_of
from designer.workload.program.serving import Serve
from designer.workload.serving import Serving

#: processes on a GPU take turns of this length
TURN: Final = Constant(2e-3, 1e-3, 6e-3, "vsphere-time-slices", Status.SECONDARY, "s", "the default of time slicing")
#: runs until each is as busy as the others make it
_ROUNDS: Final = 5
#: memory that is full to the last byte is not too full
_ROUNDING_TOLERANCE: Final = 1e-9
#: above this all of them together never have a moment without work
_FULL_TOLERANCE: Final = 0.99


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """A deployment as it is beside others: slower where they take turns on its GPUs."""

    placement: Placement
    findings: tuple[Finding, ...]


def shared(
    network: Network, placement: Placement, asked: Serving, place: str, cancelled: Callable[[], bool] | None = None
) -> Shared:
    """What other models leave of the GPUs of a deployment.

    Raises
    ------
    AnalysisError
        If there is no such workload, it serves nothing, or all of them do not fit on a GPU.
    """
    placement = one_each(placement)
    others = neighbours(network, asked, place)
    mine = set(placement.replicas.ravel().tolist())
    near = [(name, other, one) for name, other, one in others if mine & set(one.replicas.ravel().tolist())]
    findings = [
        Finding("SERVE-APART", Severity.INFO, f"{name} has accelerators of its own", (), "leave it out of those beside")
        for name, _, _ in others
        if name not in {n for n, _, _ in near}
    ]
    if not near:
        return Shared(placement, tuple(findings))
    names = [place.removeprefix("workloads."), *(name for name, _, _ in near)]
    placements = [placement, *(one for _, _, one in near)]
    _fit(network, names, placements, place)
    if any(one.deployment.part for one in placements):
        return Shared(placement, tuple(findings))
    # those without a part take turns: each as busy as the others make it
    loads = [stored(one, op)[1].requests for one, op in zip(placements, [asked, *(o for _, o, _ in near)], strict=True)]
    busy = [0.0] * len(placements)
    for _ in range(_ROUNDS):
        for k, one in enumerate(placements):
            waits = tuple(b for j, b in enumerate(busy) if j != k)
            run = settled(replace(one, others=waits, turn=TURN.value), loads[k], 1.0, cancelled)
            # halfway to what was found: one that slows others down is slowed down by them
            busy[k] = (busy[k] + run.busy) / 2
    waits = tuple(busy[1:])
    taken = replace(placement, others=waits, turn=TURN.value)
    told = ", ".join(f"{name} {b:.0%}" for name, b in zip(names[1:], waits, strict=True))
    text = (
        f"its GPUs compute for others as well: {told} of the time, so steps take {taken.slowed(0.0):.2f} times as long"
    )
    findings.append(
        Finding("SERVE-TURNS", Severity.INFO, text, (), "MIG instances keep models out of each other's way")
    )
    if sum(busy) > _FULL_TOLERANCE * len(busy):
        text = f"{' and '.join(names)} have work all the time: queues grow for ever"
        findings.append(Finding("SERVE-SATURATED", Severity.ERROR, text, (), "give them more GPUs, or a lower load"))
    return Shared(taken, tuple(findings))


def neighbours(network: Network, asked: Serving, place: str) -> list[tuple[str, Serving, Placement]]:
    """Other served models that a workload names as beside it, placed.

    Raises
    ------
    AnalysisError
        If there is no such workload, or it serves no model.
    """
    found: list[tuple[str, Serving, Placement]] = []
    for name in asked.beside:
        spec = network.design.workloads.get(name)
        where = f"{place}.beside"
        if spec is None or place == f"workloads.{name}":
            known = ", ".join(w.id for w in network.design.workloads.values() if w.kind == "serving") or "none"
            wrong = "a model beside itself" if spec is not None else f"there is no workload {name!r}"
            raise AnalysisError(wrong, place=where, remedy=f"served models: {known}")
        task = task_of(spec.kind, spec.settings, f"workloads.{name}", Serve)
        if task is None or task.operation.deployment.prompts:
            raise AnalysisError(
                f"{name!r} serves no model on GPUs of its own", place=where, remedy="name serving that is not split"
            )
        other = task.operation
        found.append((name, other, one_each(place_deployment(network, other.deployment, f"workloads.{name}"))))
    return found


def one_each(placement: Placement) -> Placement:
    """Beside others a model has one instance of every GPU, unless replicas are asked for."""
    if not placement.deployment.part or placement.deployment.replicas:
        return placement
    return replace(placement, replicas=placement.replicas[: placement.accelerators])


def _fit(network: Network, names: Sequence[str], placements: Sequence[Placement], place: str) -> None:
    """Refuse models that do not fit on a GPU together."""
    divided = [bool(one.deployment.part) for one in placements]
    if any(divided) and not all(divided):
        raise AnalysisError(
            "a whole GPU and a part of it are asked for at once",
            place=f"{place}.part",
            remedy=f"give each of {', '.join(names)} a MIG instance, or none",
        )
    if all(divided):
        _instances_fit(network, names, placements, place)
        return
    claims: dict[int, list[tuple[str, float]]] = {}
    for name, one in zip(names, placements, strict=True):
        size = one.device.memory * one.scheduling.memory_share
        for part, count in Counter(one.replicas.ravel().tolist()).items():
            claims.setdefault(part, []).append((name, size * count))
    for part, each in claims.items():
        room, wanted = memory_of(network, part), sum(size for _, size in each)
        if wanted <= room * (1 + _ROUNDING_TOLERANCE):
            continue
        sizes = ", ".join(f"{name} {format_quantity(size, 'size')}" for name, size in each)
        remedy = f"give each a memory_share; {' and '.join(names)} may have {1 / len(names):.2g} each"
        least = sum(one.weights for one in placements)
        if least >= room:
            remedy = f"use GPUs with more memory: weights alone take {format_quantity(least, 'size')}"
        raise AnalysisError(
            f"they do not fit: {network.net.path(part)} has {format_quantity(room, 'size')}, claimed are {sizes}",
            place=f"{place}.beside",
            remedy=remedy,
        )


def _instances_fit(network: Network, names: Sequence[str], placements: Sequence[Placement], place: str) -> None:
    wanted: dict[int, list[tuple[str, str]]] = {}
    for name, one in zip(names, placements, strict=True):
        for part in one.replicas.ravel().tolist():
            wanted.setdefault(part, []).append((name, one.deployment.part))
    for part, each in wanted.items():
        kind = gpu_type(network, part)
        profiles = {p.instance: p for p in kind.mig} | {p.name: p for p in kind.mig} if kind is not None else {}
        residents: list[Resident] = []
        # the largest first: a small one in its way would keep it out
        for name, asked in sorted(each, key=lambda pair: -profiles[pair[1]].memory if pair[1] in profiles else 0.0):
            profile = profiles.get(asked)
            if kind is None or profile is None:
                raise AnalysisError(
                    f"{asked} of {name} takes turns with all that is on a GPU",
                    place=f"{place}.part",
                    remedy="models side by side have MIG instances",
                )
            free = mig_slices(kind, residents, profile.name)
            if free.best is None:
                have = ", ".join(f"{a} for {n}" for n, a in each)
                raise AnalysisError(
                    f"they do not fit: {network.net.path(part)} cannot have {have}: {free.reason}",
                    place=f"{place}.beside",
                    remedy="use smaller instances, or fewer replicas",
                )
            residents.append(Resident(profile.name, free.best))

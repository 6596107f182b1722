"""Whether several served models fit on the same GPUs: whole GPUs by their memory, MIG instances by their slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from designer.engine.accelerators import memory_of
from designer.engine.machines.hosts import gpu_type
from designer.engine.network import Network
from designer.errors import AnalysisError
from designer.families.serving.deployment import Serving
from designer.families.serving.placement import Placement, place_deployment
from designer.families.serving.tasks import Serve
from designer.findings import Finding, Severity
from designer.formulas.placement._shapes import Resident
from designer.formulas.placement.mig_slices import mig_slices
from designer.units import format_quantity
from designer.workload.kind import task_of

#: memory that is full to the last byte is not too full
_ROUNDING_TOLERANCE: Final = 1e-9


def sharing(
    network: Network, placement: Placement, asked: Serving, place: str
) -> tuple[Placement, tuple[Finding, ...]]:
    """A deployment that other models leave room for on its GPUs, and those that have GPUs of their own as findings.

    Raises
    ------
    AnalysisError
        If there is no such workload, it serves nothing, or all of them do not fit on a GPU.
    """
    placement = one_each(placement)
    others = neighbours(network, asked, place)
    mine = set(placement.replicas.ravel().tolist())
    near = [(name, one) for name, one in others if mine & set(one.replicas.ravel().tolist())]
    apart = [name for name, _ in others if name not in {n for n, _ in near}]
    if near:
        names = [place.removeprefix("workloads."), *(name for name, _ in near)]
        _fit(network, names, [placement, *(one for _, one in near)], place)
    remedy = "remove it from the models that share its GPUs"
    return placement, tuple(
        Finding("SERVE-APART", Severity.INFO, f"{name} has accelerators of its own", (), remedy) for name in apart
    )


def neighbours(network: Network, asked: Serving, place: str) -> list[tuple[str, Placement]]:
    """Other served models that a workload names as next to it, placed.

    Raises
    ------
    AnalysisError
        If there is no such workload, or it serves no model.
    """
    found: list[tuple[str, Placement]] = []
    for name in asked.beside:
        spec = network.design.workloads.get(name)
        where = f"{place}.beside"
        if spec is None or place == f"workloads.{name}":
            known = ", ".join(w.id for w in network.design.workloads.values() if w.kind == "serving") or "none"
            wrong = "a model that shares GPUs with itself" if spec is not None else f"there is no workload {name!r}"
            raise AnalysisError(wrong, place=where, remedy=f"served models: {known}")
        task = task_of(spec.kind, spec.settings, f"workloads.{name}", Serve)
        if task is None or task.operation.deployment.prompts:
            raise AnalysisError(
                f"{name!r} serves no model on GPUs of its own", place=where, remedy="name serving that is not split"
            )
        found.append((name, one_each(place_deployment(network, task.operation.deployment, f"workloads.{name}"))))
    return found


def one_each(placement: Placement) -> Placement:
    """Next to others a model has one instance of every GPU, unless replicas are asked for."""
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

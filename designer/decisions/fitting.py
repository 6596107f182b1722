"""Settings with which a workload that does not fit in memory fits on the accelerators that are drawn.

Each proposal is run on the drawn network before it is returned, so that its figures are those the design has once the
settings are applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from designer.analysis.study import run_workload
from designer.design.document import Design, WorkloadSpec
from designer.design.edits.workloads import ChangeWorkload
from designer.design.ids import find_workload
from designer.engine.account.worth import WORTH, share_of
from designer.engine.network import Network, build_network
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.families.serving.tasks import Serve
from designer.families.training.formulas.convolutional_memory import largest_batch
from designer.families.training.formulas.transformer_memory import what_would_fit
from designer.families.training.preparation import TrainingPlan, prepare
from designer.families.training.tasks import TrainStep, WriteCheckpoint
from designer.formulas.layout import Layout
from designer.progress import Watch
from designer.workload.job_settings import job
from designer.workload.jobs import Job
from designer.workload.kind import kind_of, program_of, read_settings
from designer.workload.shape import TransformerShape

#: settings tried for one workload; each is one analysis
_TRIED: Final = 8
#: devices of a replica that are tried, and narrower weights
_WIDTHS: Final = (2, 4, 8, 16, 32)
_NARROW: Final = ("fp8", "int4")

Settings = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, eq=False)
class FittingSettings:
    """Settings of a workload with which it fits.

    Parameters
    ----------
    title
        What changes, for people.
    changes
        Settings that differ from those the workload has.
    result
        The answer with these settings.
    """

    title: str
    changes: Settings
    edit: ChangeWorkload
    result: WorkloadResult


def fitting_settings(
    design: Design, workload: str, most: int = 3, cancelled: Callable[[], bool] | None = None
) -> tuple[FittingSettings, ...]:
    """Settings with which a workload fits on what is drawn, the fastest first; none where none was found.

    Raises
    ------
    AnalysisError
        If there is no such workload.
    Cancelled
        If `cancelled` returns true.
    """
    spec = find_workload(design, workload)
    network, watch = build_network(design), Watch(cancelled=cancelled)
    found: list[FittingSettings] = []
    tried: set[frozenset[tuple[str, JsonValue]]] = set()
    for changes in _changes(network, spec):
        watch.check()
        key = frozenset(changes.items())
        if not changes or key in tried:
            continue
        tried.add(key)
        settings = {**spec.settings, **changes}
        asked = spec.model_copy(update={"settings": settings})
        try:
            result = run_workload(network, asked, False, None, cancelled, explained=False)[0]
        except AnalysisError:
            result = None
        if result is not None and result.unfit is None:
            edit = ChangeWorkload(workload, {"settings": settings})
            found.append(FittingSettings(_title(changes), changes, edit, result))
        if len(tried) >= _TRIED:
            break
    return tuple(_fastest_first(found)[:most])


def _fastest_first(found: list[FittingSettings]) -> list[FittingSettings]:
    """Of a training by how much gets done, of equals those with fewer changes first; others as they were tried.

    What is served stays in that order: narrower weights are faster, but change the answers of the model.
    """
    if not found or found[0].result.kind != "training" or not any(name in found[0].result.metrics for name in WORTH):
        return found
    first = found[0].result
    return sorted(found, key=lambda one: (-share_of(first, one.result), len(one.changes)))


def _changes(network: Network, spec: WorkloadSpec) -> Iterator[Settings]:
    """Changes of the settings worth trying, the smallest first."""
    place = f"workloads.{spec.id}"
    kind = kind_of(spec.kind, place)
    program = program_of(spec.kind, spec.settings, place)
    if kind.search == "hyperparameter_sweep":
        yield from _of_training(network, job(read_settings(kind, spec.settings, place)), place)
    elif program is not None and program.first(Serve) is not None:
        yield from _of_serving(spec.settings)
    elif program is not None:
        trained = program.first(TrainStep) or program.first(WriteCheckpoint)
        if trained is not None:
            yield from _of_training(network, trained.job, place)


def _of_training(network: Network, job: Job, place: str) -> Iterator[Settings]:
    try:
        plan = prepare(network, job, place)
    except AnalysisError:
        return
    shape = plan.shape
    if isinstance(shape, TransformerShape):
        for layout in _layouts(plan, shape):
            if layout.ranks == plan.layout.ranks:
                yield _layout_changes(plan, layout)
    else:
        batch = largest_batch(shape, plan.accelerator, plan.precision)
        if 0 < batch < plan.local_batch:
            # kernels are tuned for batches of powers of two
            rounded = 1 << (batch.bit_length() - 1)
            yield {"micro_batch": rounded, **({"global_batch": rounded * plan.layout.data} if job.global_batch else {})}


def _layouts(plan: TrainingPlan, shape: TransformerShape) -> tuple[Layout, ...]:
    job = plan.job
    try:
        microbatches = plan.layout.microbatches(plan.global_batch)
    except AnalysisError:
        return ()
    return what_would_fit(
        shape,
        plan.layout,
        plan.accelerator,
        plan.precision,
        plan.software,
        job.sequence,
        microbatches,
        job.adapters,
    )


def _layout_changes(plan: TrainingPlan, layout: Layout) -> Settings:
    """What differs between the settings of a plan and those of another layout of as many accelerators."""
    now, found = plan.layout, dict[str, JsonValue]()
    for name in ("tensor", "pipeline", "context", "expert", "interleave", "micro_batch", "sequence_parallel"):
        if getattr(layout, name) != getattr(now, name):
            found[name] = getattr(layout, name)
    for name in ("sharding", "recompute"):
        if getattr(layout, name) is not getattr(now, name):
            found[name] = str(getattr(layout, name).value)
    if layout.data != now.data and plan.job.data:
        found["data"] = layout.data
    return found


def _of_serving(settings: Settings) -> Iterator[Settings]:
    weights = str(settings.get("weights", "auto"))
    narrower = [one for one in _NARROW if one != weights]
    narrow_first = {"weights": narrower[0]} if narrower else {}
    for width in _WIDTHS:
        yield {"tensor": width, "replicas": 0}
    for one in narrower:
        yield {"weights": one}
    for width in _WIDTHS[:2]:
        yield {"tensor": width, "replicas": 0, **narrow_first}


_SHARDED: Final = {
    "none": "no sharding",
    "optimizer": "shard the optimizer (ZeRO-1)",
    "gradients": "shard gradients and optimizer (ZeRO-2)",
    "parameters": "shard everything (FSDP, ZeRO-3)",
}
_RECOMPUTED: Final = {
    "none": "keep all activations",
    "selective": "recompute attention",
    "full": "recompute activations",
}


def _title(changes: Settings) -> str:
    """Changes of settings for people, such as "Shard the optimizer (ZeRO-1), micro-batch 1"."""
    words: list[str] = []
    if "tensor" in changes:
        words.append(f"{changes['tensor']}-way tensor parallel")
    if "pipeline" in changes:
        words.append(f"{changes['pipeline']} pipeline stages")
    if "sharding" in changes:
        words.append(_SHARDED[str(changes["sharding"])])
    if "recompute" in changes:
        words.append(_RECOMPUTED[str(changes["recompute"])])
    if "micro_batch" in changes:
        words.append(f"micro-batch {changes['micro_batch']}")
    if "weights" in changes:
        words.append(f"{str(changes['weights']).upper()} weights")
    if not words:
        words = [f"{name.replace('_', ' ')} {value}" for name, value in changes.items()]
    text = ", ".join(words)
    return text[0].upper() + text[1:]

"""Workloads as settings ask for them, and their answers."""

from __future__ import annotations

from collections.abc import Mapping

from designer.analysis.study import analyze
from designer.design.document import Design, WorkloadSpec
from designer.engine.results import WorkloadResult
from designer.families.serving.deployment import Serving
from designer.families.serving.inference import Inference
from designer.families.serving.tasks import Infer, Serve
from designer.interchange.templates import open_design
from designer.workload.kind import task_of


def serving_asked(settings: Mapping[str, object], place: str) -> Serving:
    """What a serving workload asks for."""
    task = task_of("serving", settings, place, Serve)
    assert task is not None
    return task.operation


def in_batches(settings: Mapping[str, object], place: str) -> Inference:
    """What a workload of inference in batches asks for."""
    task = task_of("inference", settings, place, Infer)
    assert task is not None
    return task.asked


def answered(design: Design | str, kind: str, settings: Mapping[str, object], curves: bool = True) -> WorkloadResult:
    """The answer of one workload on a design or on a template."""
    asked = WorkloadSpec.model_validate({"id": "s", "kind": kind, "settings": dict(settings)})
    drawn = open_design(design) if isinstance(design, str) else design
    return analyze(drawn.model_copy(update={"workloads": {asked.id: asked}}), [asked.id], curves=curves).workloads[0]

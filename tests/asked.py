"""Served models as settings ask for them."""

from __future__ import annotations

from collections.abc import Mapping

from designer.families.serving.deployment import Serving
from designer.families.serving.inference import Inference
from designer.families.serving.tasks import Infer, Serve
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

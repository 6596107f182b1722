"""A task on what a failure left of a drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from designer.workload.program.tasks import Task


@dataclass(frozen=True, slots=True)
class Rerouted(Task):
    """A task as it is done without some parts and links, by their numbers; a link named twice lost two."""

    priced_by: ClassVar[str] = "designer.engine.costs.rerouted"
    task: Task
    parts: tuple[int, ...]
    links: tuple[int, ...] = ()

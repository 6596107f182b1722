"""The task of serving: a model behind its engines, for as long as requests come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from designer.families.serving.deployment import Serving
from designer.families.serving.inference import Inference
from designer.workload.program.tasks import Task


@dataclass(frozen=True, slots=True)
class Serve(Task):
    """A served model with its load.

    Parameters
    ----------
    cold
        True if its weights have to be loaded first, over the drawn path; requests wait meanwhile.
    """

    priced_by: ClassVar[str] = "designer.families.serving.costs.serve"
    operation: Serving
    cold: bool = False

    @property
    def goes_on(self) -> bool:
        """True if requests come without end."""
        return self.operation.load.kind in ("rate", "clients")


@dataclass(frozen=True, slots=True)
class Infer(Task):
    """Samples answered in batches by a model on its accelerators, as a scenario brings them."""

    priced_by: ClassVar[str] = "designer.families.serving.costs.infer"
    asked: Inference

    @property
    def goes_on(self) -> bool:
        """True if samples come without end."""
        return self.asked.scenario != "offline"

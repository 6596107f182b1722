"""What rules of training look at: jobs, their datasets and steps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from designer.design.document import Design
from designer.families.training.formulas.step_composition import StepEstimate
from designer.families.training.preparation import ALONE, prepare
from designer.families.training.step import busy_step
from designer.families.training.tasks import TrainStep
from designer.rules.context import Context
from designer.workload.datasets import Dataset, dataset_of
from designer.workload.kind import task_of


class TrainingContext(Context):
    """A design with training workloads."""

    @classmethod
    def concerns(cls, design: Design) -> bool:
        """True if it has training workloads."""
        return any(spec.kind == "training" for spec in design.workloads.values())

    @cached_property
    def jobs(self) -> Mapping[str, TrainStep]:
        """Training workloads by id."""
        found: dict[str, TrainStep] = {}
        for spec in self.design.workloads.values():
            if spec.kind != "training":
                continue
            step = task_of(spec.kind, spec.settings, f"workloads.{spec.id}", TrainStep)
            if step is not None:
                found[spec.id] = step
        return found

    @cached_property
    def trainings(self) -> Mapping[str, tuple[TrainStep, Dataset]]:
        """Training workloads that read a dataset, by id."""
        jobs = self.jobs.items()
        return {k: (t, dataset_of(t.input)) for k, t in jobs if t.input.dataset and not t.run.online}

    def busy_step(self, name: str, *, alone: bool = False) -> StepEstimate:
        """A step of a training workload that never waits for samples; `alone` for its computing without a network.

        Raises
        ------
        DesignerError
            If something cannot be reached or does not divide.
        """
        place, training = f"workloads.{name}", self.jobs[name]
        plan = prepare(self.network, training.job, place)
        return plan.estimate(ALONE) if alone else busy_step(plan, training)

"""Elastic training: its process decides step by step, each priced for the workers it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from designer.engine.costs.pricing import CostKind, Expansion, Prices
from designer.errors import AnalysisError
from designer.families.training.tasks import ElasticTraining, TrainSteps
from designer.workload.jobs import Job
from designer.workload.program.process import Item
from designer.workload.program.tasks import Delay, Task

# Elastic training as a process: steps with the workers there are; changes are met by a rendezvous.

#: steps are asked for in lots: of the time until workers change, so much at most, so that a change meets one step
_AHEAD: Final = 0.5
#: and of all steps that are left at most this share
_OF_ALL: Final = 0.1


class Elastic:
    """Trains in lots of steps; a step during which workers leave is lost, those who come are met at the next step."""

    def __init__(self, asked: ElasticTraining) -> None:
        self.asked = asked
        if not asked.changes or asked.changes[0][0] > 0:
            raise AnalysisError("nobody trains at first", place="workers", remedy="begin with a number of accelerators")
        self._jobs = {count: _job_with(asked.job, count) for _, count in asked.changes}
        self._began = self._at = 0.0
        self._phase = 0
        self.done = 0.0
        self._each = 0.0

    @property
    def tasks(self) -> Sequence[Task]:
        """A step of each size of the group, and the rendezvous."""
        return (*(TrainSteps(job, 1.0, some=True) for job in self._jobs.values()), Delay(self.asked.rendezvous))

    def start(self, now: float) -> list[Item]:
        """The first steps."""
        self._began = self._at = now
        return [self._lot(now)]

    def finished(self, item: Item, now: float) -> list[Item]:
        """More steps, or a rendezvous where workers have changed."""
        before = self._phase
        while self._phase + 1 < len(self.asked.changes) and self._due(self._phase + 1) <= now:
            self._phase += 1
        if item.step == "steps":
            count = item.number
            self._each = (now - self._at) / count
            fewer = any(
                after[1] < ahead[1]
                for ahead, after in zip(
                    self.asked.changes[before : self._phase],
                    self.asked.changes[before + 1 : self._phase + 1],
                    strict=True,
                )
            )
            self.done += (count - fewer) * self._samples(before)
        if self.done >= self.asked.samples:
            return []
        if self._phase != before:
            self._each = 0.0
            return [Item(Delay(self.asked.rendezvous), "rendezvous", self._phase)]
        self._at = now
        return [self._lot(now)]

    def waits_for(self) -> str:
        """The steps under way."""
        return "" if self.done >= self.asked.samples else "the next step"

    def _due(self, phase: int) -> float:
        return self._began + self.asked.changes[phase][0]

    def _samples(self, phase: int) -> float:
        job = self._jobs[self.asked.changes[phase][1]]
        return job.global_batch or job.micro_batch * job.data

    def _lot(self, now: float) -> Item:
        left = (self.asked.samples - self.done) / self._samples(self._phase)
        count = max(1.0, left * _OF_ALL) if left > 1 else 1.0
        if self._phase + 1 < len(self.asked.changes):
            # how long a step takes is known once one was done
            count = min(count, (self._due(self._phase + 1) - now) * _AHEAD / self._each) if self._each else 1.0
        whole = max(1, int(count))
        job = self._jobs[self.asked.changes[self._phase][1]]
        return Item(TrainSteps(job, float(whole), some=True), "steps", whole)


def _job_with(job: Job, count: int) -> Job:
    """The job on the first accelerators of its group."""
    fixed = job.tensor * job.pipeline * job.context
    if count < fixed or count % fixed:
        raise AnalysisError(
            f"{count} accelerators do not divide by {job.tensor} x {job.pipeline} x {job.context} (tensor, pipeline, "
            "context)",
            place="workers",
            remedy="let workers come and go in whole replicas",
        )
    return replace(job, data=count // fixed)


def price(prices: Prices, task: ElasticTraining, place: str) -> Expansion:
    """A job whose workers change.

    Raises
    ------
    AnalysisError
        If nobody trains at first, or workers make no whole replicas.
    """
    del prices
    try:
        first = Elastic(task)
    except AnalysisError as error:
        raise AnalysisError(error.text, place=f"{place}.{error.place}", remedy=error.remedy) from None
    return Expansion(lambda: Elastic(task), tuple(first.tasks))


COST = CostKind(ElasticTraining, price)

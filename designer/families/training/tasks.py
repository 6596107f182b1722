"""Tasks of training jobs: each is composed on the drawing from a job's published step model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from designer.workload.jobs import NO_INPUT, NO_RUN, NOT_SAVED, STREAMS, InputPath, Job, Requests, Run, Saving
from designer.workload.program.tasks import Task


@dataclass(frozen=True, slots=True)
class TrainStep(Task):
    """One step of a job: computing, with the traffic that hides behind it next to it, then what is left of that.

    Parameters
    ----------
    parameter_servers
        Selector; empty for all-reduce.
    input, run
        How it is fed and how long it trains: what it takes for all of it is read from them, no step takes longer.
    """

    priced_by: ClassVar[str] = "designer.families.training.costs.train_step"
    job: Job
    parameter_servers: str = ""
    input: InputPath = NO_INPUT
    run: Run = NO_RUN


@dataclass(frozen=True, slots=True)
class LoadBatch(Task):
    """The samples of one step, from storage to every reader.

    Parameters
    ----------
    job
        Whose batch it is; or `group`, `batch` and `sequence` say it, for loading without training.
    compute
        Time that accelerators compute on a batch that is loaded without training; 0 for none [s].
    """

    priced_by: ClassVar[str] = "designer.families.training.costs.load_batch"
    moves_data: ClassVar[bool] = True
    input: InputPath
    job: Job | None = None
    group: str = ""
    batch: int = 0
    sequence: int = 0
    compute: float = 0.0


@dataclass(frozen=True, slots=True)
class WriteCheckpoint(Task):
    """The state of a job from all ranks to parts that keep it.

    Parameters
    ----------
    saving
        How often it is written in a long run, and what fails meanwhile; one takes as long without it.
    """

    priced_by: ClassVar[str] = "designer.families.training.costs.write_checkpoint"
    moves_data: ClassVar[bool] = True
    job: Job
    target: str
    saving: Saving = NOT_SAVED
    requests: Requests = STREAMS


@dataclass(frozen=True, slots=True)
class ReadCheckpoint(Task):
    """The state back into every replica, or into one."""

    priced_by: ClassVar[str] = "designer.families.training.costs.read_checkpoint"
    moves_data: ClassVar[bool] = True
    job: Job
    source: str
    from_one: bool = True
    requests: Requests = STREAMS


@dataclass(frozen=True, slots=True)
class CopyCheckpoint(Task):
    """The state from all ranks to host memory."""

    priced_by: ClassVar[str] = "designer.families.training.costs.copy_checkpoint"
    moves_data: ClassVar[bool] = True
    job: Job


@dataclass(frozen=True, slots=True)
class TrainSteps(Task):
    """Many steps of a job as one, at their mean: computing on every rank, and all their traffic next to it.

    Parameters
    ----------
    some
        True if the rest of the group is meant to be away.
    samples
        Samples to train on, in place of a number of steps; 0 where steps are counted.
    """

    priced_by: ClassVar[str] = "designer.families.training.costs.train_steps"
    job: Job
    count: float
    some: bool = False
    samples: float = 0.0


@dataclass(frozen=True, slots=True)
class ElasticTraining(Task):
    """Training whose workers come and go, until so many samples are trained on.

    Parameters
    ----------
    changes
        From when on there are how many accelerators: (time, count), the first at 0 s.
    rendezvous
        From a change until all train again [s].
    """

    priced_by: ClassVar[str] = "designer.families.training.costs.elastic_training"
    job: Job
    samples: float
    changes: tuple[tuple[float, int], ...]
    rendezvous: float


@dataclass(frozen=True, slots=True)
class ProcessData(Task):
    """Data read from parts that keep it and worked on by the processors of hosts.

    Parameters
    ----------
    source, hosts
        Where it is, and the memories it is read into.
    size
        All hosts together [B].
    rate
        What one core works through [B/s].
    """

    priced_by: ClassVar[str] = "designer.families.training.costs.process_data"
    source: str
    hosts: str
    size: float
    rate: float

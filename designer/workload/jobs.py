"""A training job: what is trained on which accelerators, how it is fed, and how long it trains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Job:
    """What is trained, on which accelerators, and how it is spread over them.

    Parameters
    ----------
    model
        Id of a shipped model, path of a ``config.json``, or its JSON text.
    global_batch
        Samples per step; 0 for one microbatch on each data-parallel rank.
    data
        Data-parallel degree; 0 for what the group leaves.
    placement
        ``drawn``: ranks in the order of the drawing; ``best``: the best of the orders that put each
        dimension of the layout next to each other.
    schedule
        In which order stages of a pipeline run their passes: ``1f1b``, ``zero-bubble`` or ``dual-pipe``.
    forward_only
        Validation or batch inference: no backward pass (convolutional networks).
    measured_compute
        Computing time of a step that was measured, in place of the estimate; 0 for the estimate [s].
    release
        Year, month or container release of the training program; empty where unknown.
    optimizer
        Kernels of the optimizer: ``fused``, ``foreach``, ``for-loop``, or ``program`` for what the program does.
    machines
        Ids of the virtual machines it runs in; empty for those the accelerators are given to.
    """

    model: str
    group: str
    precision: str
    software: str
    global_batch: int
    micro_batch: int
    sequence: int
    tensor: int
    pipeline: int
    data: int
    context: int
    expert: int
    interleave: int
    sequence_parallel: bool
    sharding: str
    recompute: str
    placement: str
    adapters: bool
    forward_only: bool
    measured_compute: float
    machines: str = ""
    schedule: str = "1f1b"
    release: str = ""
    optimizer: str = "program"


@dataclass(frozen=True, slots=True)
class InputPath:
    """How samples reach the accelerators.

    Parameters
    ----------
    dataset
        Id of a shipped dataset; empty for none.
    source
        Parts that hold the data; empty when input is left out.
    workers, prefetch
        Worker processes of each accelerator, and batches made ready ahead; 0 ahead is one thing after the other.
    decode
        ``cpu``, ``gpu`` or ``none``.
    decode_rate
        Samples one worker decodes and augments, or one accelerator where those decode; 0 for a general value [1/s].
    loader
        ``files``, ``ffcv`` or ``dali``.
    epoch_samples, sample_size, sample_spread, resolution
        Of the samples, where they are not those of the dataset: how many, bytes of one [B] and their standard deviation
        over the mean [1], and pixels of a side of a picture; 0 for those of the dataset.
    cached
        Share of reads served by the page cache [1].
    access
        ``auto``, ``random`` or ``sequential``.
    io_size, queue_depth
        Size of a request to storage, 0 for streams that storage is never idle for [B], and requests that each worker
        keeps in flight.
    """

    dataset: str
    source: str
    workers: int
    prefetch: int
    decode: str
    decode_rate: float
    loader: str
    epoch_samples: int
    sample_size: float
    sample_spread: float
    resolution: int
    cached: float
    access: str
    io_size: float
    queue_depth: int
    gpudirect: str
    background: str


@dataclass(frozen=True, slots=True)
class Run:
    """How long a job trains and what interrupts it.

    Parameters
    ----------
    epochs, samples
        Passes over the dataset, or samples to converge where `samples` is not 0.
    epochs_least, epochs_most
        Bounds of the passes where their number is not known; 0 for none.
    validate_every
        Epochs between validation phases; 0 for none.
    checkpoint_every, checkpoint_to
        Steps between checkpoints, 0 for none, and where they go.
    snapshot
        Training goes on once the state is copied to host memory.
    online, arrival_rate
        Samples come one by one at this rate instead of from a dataset [1/s].
    retrain_every
        Time from one retraining to the next; 0 for none [s].
    time_between_failures, cold_start
        Mean time between failures of the job, 0 for none, and from one until the checkpoint is read [s].
    """

    epochs: float
    samples: int
    validate_every: float
    checkpoint_every: int
    checkpoint_to: str
    snapshot: bool
    online: bool
    arrival_rate: float
    retrain_every: float
    time_between_failures: float = 0.0
    cold_start: float = 0.0
    failure_seed: int = 0
    epochs_least: float = 0.0
    epochs_most: float = 0.0


@dataclass(frozen=True, slots=True)
class Requests:
    """How a rank reads and writes its files.

    Parameters
    ----------
    size
        Of a request; 0 for streams [B].
    depth, threads
        Requests that a thread keeps in flight, and threads of a rank.
    """

    size: float = 0.0
    depth: int = 1
    threads: int = 1


STREAMS: Final = Requests()


@dataclass(frozen=True, slots=True)
class Saving:
    """How often a job that runs for long saves its state, and what fails meanwhile.

    Parameters
    ----------
    every, mean_time_between_failures
        Between checkpoints, and between failures of the whole job; 0 for an estimate from its accelerators [s].
    cold_start, repair, length
        From a failure until the checkpoint is read, until what failed is back, and of the whole run [s].
    seed
        Of the failures that are drawn.
    """

    every: float = 0.0
    mean_time_between_failures: float = 0.0
    cold_start: float = 0.0
    repair: float = 0.0
    length: float = 0.0
    seed: int = 0


#: a job of which nothing is read, and one that is asked for its step alone
NO_INPUT: Final = InputPath("", "", 1, 1, "none", 0.0, "files", 0, 0.0, 0.0, 0, 0.0, "auto", 0.0, 1, "policy", "")
NO_RUN: Final = Run(0.0, 0, 0.0, 0, "", False, False, 0.0, 0.0)
NOT_SAVED: Final = Saving()

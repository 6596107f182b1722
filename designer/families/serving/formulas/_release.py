"""A release of a serving engine as numbers: what it adds to its kernels, how it schedules, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Overheads:
    """What an engine adds to its kernels.

    Parameters
    ----------
    layer
        For every layer and step [s].
    step
        For every step [s].
    request
        For every running request of a scheduler and step [s].
    prefill_step
        More for a step that holds prompts [s].
    prefill_factor
        What prompts take over the sum of their products [1].
    path
        A request's way to the queue [s].
    expert_layer
        More for every layer of routed experts and step [s].
    expert_prompts
        More for a step that holds prompts of a model with routed experts, per doubling of its devices [s].
    narrow
        Of the peak that its products in 8 bit reach over what the shared law has them reach [1].
    unpacked
        The same of its experts kept in 4 bit and multiplied in 16 [1].
    slower
        What a device and its engine take over what all other figures say, calibrated by a run [1].
    seeing
        More for every prompt, whose images are read [s].
    """

    layer: float
    step: float
    request: float
    prefill_step: float
    prefill_factor: float
    path: float
    expert_layer: float = 0.0
    expert_prompts: float = 0.0
    narrow: float = 1.0
    unpacked: float = 1.0
    slower: float = 1.0
    seeing: float = 0.0


@dataclass(frozen=True, slots=True)
class Scheduling:
    """How an engine fills its steps.

    Parameters
    ----------
    budget
        Tokens of a step at most, of one scheduler: groups of attention have one each.
    slots
        Requests that run at most, of one scheduler.
    mixed
        Prompts and running requests share steps; else prompts go first and alone.
    chunked
        A prompt may be split over steps.
    reserve
        Share of the output still to come that must fit before a request is admitted [1]; 1 never preempts.
    memory_share
        Of a device's memory that the engine takes [1].
    block
        Tokens of a block of the cache.
    stream_interval
        Tokens sent to a client at once.
    first_held
        The first token waits until so many are there; else it is sent at once, and only the later ones together.
    budget_divided
        The engine's default budget is of all its schedulers together.
    groups
        Schedulers of a replica, one for each group of attention; `budget` and `slots` are then of all together.
    hand_over
        When keys and values of a split deployment are sent: ``whole`` prompts, ``chunks`` or ``layers`` of them.
    """

    budget: int
    slots: int
    mixed: bool
    chunked: bool
    reserve: float
    memory_share: float
    block: int
    stream_interval: int = 1
    first_held: bool = False
    budget_divided: bool = False
    hand_over: str = "whole"
    groups: int = 1

    def of(self, groups: int) -> Scheduling:
        """Of so many schedulers together, each with requests of its own."""
        if groups < 2:
            return self
        return replace(self, budget=self.budget * groups, slots=self.slots * groups, groups=groups)


@dataclass(frozen=True, slots=True)
class Release:
    """One engine release, or what is taken for one that is not known.

    Parameters
    ----------
    known
        True if it was measured with this release.
    step_spread, first_spread
        80 % bands of the time per token and to the first token: natural logarithm of the factor either way [1].
    fitted_on
        In words: which measurements, and how many.
    models
        Models and formats of weights that were fitted, such as ``("qwen3-32b", "bf16")``; none: no single ones.
    architecture
        First word of that of the accelerators they ran on.
    overlapped
        True if the next step is scheduled while the accelerators work on this one.
    overlapped_since
        Of what is taken for releases that are not known: the first one that does; empty where that makes no difference.
    """

    id: str
    engine: str
    release: str
    title: str
    overheads: Overheads
    scheduling: Scheduling
    known: bool
    step_spread: float
    first_spread: float
    fitted_on: str
    source: str
    models: tuple[tuple[str, str], ...] = ()
    architecture: str = ""
    overlapped: bool = False
    overlapped_since: str = ""

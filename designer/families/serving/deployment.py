"""The operation of serving: which model, on what, in which engine, under which load, within which limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from designer.families.serving.engines import Calibration

#: sides of images where none are given [pixels]
_SIDE_LIMIT: Final = 1024


@dataclass(frozen=True, slots=True)
class Deployment:
    """A model in an engine on accelerators.

    Parameters
    ----------
    model
        Id of a shipped model, path of a ``config.json``, or its JSON text.
    group
        Accelerators, or processors.
    engine, release
        Which engine; an empty release is one that nobody knows.
    weights, cache
        Number formats of weights, and of keys and values; empty weights are those the model is published in.
    tensor, data, pipeline, expert
        Widths; 0 where they are not given: chosen for the limits, without any the smallest that fit.
    replicas
        0 for as many as the group holds.
    budget, slots, memory_share
        Of the engine's scheduler, one for each group of `data`; 0 for its default.
    graph
        True if decoding runs in captured graphs.
    adapters
        Rank of low-rank adapters; 0 for none.
    drafts, draft
        Tokens drafted ahead, and the id of the measured acceptance curve.
    prompts, prompt_tensor, prompt_data, prompt_expert, prompt_pipeline, prompt_replicas
        Accelerators that read prompts for the others, their widths, and engines; empty: all do both.
    block
        Tokens of a block of the cache; 0 for the engine's default.
    machines
        Ids of the virtual machines it runs in; empty for those the accelerators are given to.
    part
        A MIG instance or a virtual GPU that each replica has, such as ``1g.10gb`` or ``20C``; empty for whole ones.
    stream_interval
        Tokens sent to a client at once; 0 for the engine's default.
    calibration
        What a benchmark of it showed of its engine; None without.
    redundant
        Copies of experts that a balancer adds, over all devices of a replica.
    skew
        Coefficient of variation of how often experts are chosen over time [1]; 0 for evenly.
    overlap
        True if each step is cut into two batches: one computes while the tokens of the other are sent to experts.
    hand_over
        When keys and values are sent: ``whole`` prompts, ``chunks`` or ``layers`` of them; empty as the engine does.
    acceptance
        Chance that a drafted token is right where those before it are [1]; 0 for that of `draft`.
    draft_model
        Model that drafts: an id, the path of a config.json or its text; empty for layers of the model, or a head.
    images, image_width, image_height
        Images of each request, and their sides [pixels].
    published
        True once empty weights became those of the checkpoint, which an engine finds by itself.
    """

    model: str
    group: str
    engine: str
    release: str
    weights: str
    cache: str
    tensor: int
    data: int
    pipeline: int
    expert: int
    replicas: int
    budget: int
    slots: int
    memory_share: float
    graph: bool
    adapters: int
    drafts: int
    draft: str
    prompts: str = ""
    prompt_tensor: int = 0
    block: int = 0
    machines: str = ""
    part: str = ""
    stream_interval: int = 0
    published: bool = False
    calibration: Calibration | None = None
    prompt_data: int = 0
    prompt_expert: int = 0
    prompt_pipeline: int = 1
    prompt_replicas: int = 0
    redundant: int = 0
    skew: float = 0.0
    overlap: bool = False
    hand_over: str = ""
    acceptance: float = 0.0
    draft_model: str = ""
    images: int = 0
    image_width: int = _SIDE_LIMIT
    image_height: int = _SIDE_LIMIT


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked.

    Parameters
    ----------
    kind
        ``rate``: requests arrive; ``clients``: each sends its next when it has its answer; ``offline``: all at once;
        ``trace``: as in a file; ``agents``: as many clients that each send the next turn of a session.
    rate
        Requests a second over the whole deployment [1/s]; of a trace 0 leaves its own.
    clients
        Over the whole deployment.
    variation
        Coefficient of variation of the gaps between arrivals: 1 is Poisson, 0 even, more comes in bursts.
    profile
        Share of the rate in equal parts of the run, one after the other; empty for even.
    prompt, output, spread
        Mean lengths [tokens], and how far from the mean they go evenly either way [1].
    lengths
        Id of shipped lengths that replace them; empty for none.
    trace
        Path of a file of requests.
    prefix
        Share of prompt tokens found in the prefix cache [1].
    routing
        How requests of a trace and of agents find their replica: ``turns``, ``fewest`` or ``prefix``.
    turns, tool_tokens, pause
        Of agents: turns of a session, what a tool adds to the prompt of the next one [tokens], and how long it takes
        in the mean [s].
    reuse
        Share of prompt tokens found by room, in place of `prefix`; empty for none.
    count
        Requests that are looked at.
    waves, warm_up
        Of clients: requests each, and how many of them are not counted.
    seen
        Tokens that images add to each prompt.
    measured_as
        The benchmark script that sends it; empty for none.
    """

    kind: str
    rate: float
    clients: int
    variation: float
    profile: tuple[float, ...]
    prompt: int
    output: int
    spread: float
    lengths: str
    trace: str
    prefix: float
    count: int
    waves: int
    warm_up: int
    seed: int
    reuse: str = ""
    routing: str = "turns"
    turns: int = 1
    tool_tokens: int = 0
    pause: float = 0.0
    measured_as: str = ""
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """What must hold [s], 0 where it need not, at which share of requests [1]."""

    ttft: float
    tpot: float
    latency: float
    share: float

    @property
    def percentile(self) -> str:
        """The share as names of metrics have it: ``p95``."""
        return f"p{self.share:.0%}".removesuffix("%")


@dataclass(frozen=True, slots=True)
class Serving:
    """A model served.

    Parameters
    ----------
    storage, readers
        Where weights come from when an engine starts, and readers at once; empty to leave starting out.
    peers
        True if one server reads the weights and hands them to the others.
    update
        Replicas replaced at once in a rolling update; 0 to leave it out.
    tiers, tier_share
        Parts that hold keys and values beyond the GPU, and the share of their capacity that does [1].
    beside
        Ids of other served models on the same accelerators.
    origin, request, reply
        Selector of the clients requests come from, and the sizes of the messages [B]; empty: latencies are those at
        the server.
    accelerator_price, energy_price
        Of an accelerator for an hour, and of a kilowatt-hour it draws, in one currency; 0 to leave it out.
    scaling
        True if replicas are started and stopped as the load needs them.
    """

    name: str
    deployment: Deployment
    load: Load
    limits: Limits
    storage: str = ""
    readers: int = 1
    tiers: str = ""
    tier_share: float = 0.5
    peers: bool = False
    update: int = 0
    beside: tuple[str, ...] = ()
    origin: str = ""
    request: float = 0.0
    reply: float = 0.0
    scaling: bool = False
    accelerator_price: float = 0.0
    energy_price: float = 0.0

"""Settings of a served model that change nothing as it is asked for, each with what it waits for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from designer.families.serving.deployment import Deployment, Load, Serving
from designer.families.serving.frontier import COUNT_LIMIT
from designer.families.serving.inference import Inference
from designer.families.serving.tasks import Infer, Serve
from designer.findings import Finding, Severity
from designer.workload.kind import task_of

#: names of settings, why they change nothing, and what would let them
_Reason = tuple[list[str], str, str]


def unused(asked: Serving) -> tuple[Finding, ...]:
    """One finding for every reason for which something that was set changes nothing."""
    of_requests = (*_of_load(asked), *_of_split(asked), *_of_lengths(asked.load), *_of_images(asked.deployment))
    return _findings((*_of_deployment(asked.deployment), *of_requests, *_of_start(asked)))


def unused_in_batches(asked: Inference, *, tokens: bool) -> tuple[Finding, ...]:
    """The same of a model behind a server that gathers samples; `tokens` if a sample of it has a length."""
    return _findings(_of_batches(asked, tokens))


def _findings(reasons: Iterable[_Reason]) -> tuple[Finding, ...]:
    found: list[Finding] = []
    for names, why, remedy in reasons:
        if names:
            several = "change" if len(names) > 1 else "changes"
            text = f"{' and '.join(names)} {several} nothing: {why}"
            found.append(Finding("SERVE-UNUSED", Severity.INFO, text, (), remedy))
    return tuple(found)


def _set(**values: bool) -> list[str]:
    return [name for name, given in values.items() if given]


def _of_deployment(asked: Deployment) -> Iterator[_Reason]:
    if not asked.prompts:
        yield (
            _set(
                prompt_tensor=asked.prompt_tensor > 0,
                prompt_data=asked.prompt_data > 1,
                prompt_expert=asked.prompt_expert > 1,
                prompt_pipeline=asked.prompt_pipeline > 1,
                prompt_replicas=asked.prompt_replicas > 0,
                hand_over=bool(asked.hand_over),
            ),
            "all accelerators read prompts and answer, so no keys and values are handed over",
            "name accelerators in prompt_group, or leave it out",
        )
    wide = max(asked.expert, asked.prompt_expert if asked.prompts else 1) > 1
    if not wide:
        yield (
            _set(redundant_experts=asked.redundant > 0, expert_skew=asked.skew > 0),
            "every device has a part of every expert",
            "set expert to the devices that share whole experts",
        )
    if not (wide and max(asked.data, asked.prompt_data if asked.prompts else 1) > 1):
        yield _set(overlap=asked.overlap), "no tokens are sent to experts of others", "set data and expert above 1"
    if not asked.drafts:
        differs = _set(
            draft=bool(asked.draft.strip()), acceptance=asked.acceptance > 0, draft_model=bool(asked.draft_model)
        )
        yield differs, "no token is drafted", "set drafts to 1 or more"


def _of_load(asked: Serving) -> Iterator[_Reason]:
    load, plain = asked.load, _default_settings().load
    closed = load.kind in ("clients", "agents")
    if not closed:
        others = (load.waves != plain.waves, load.warm_up != plain.warm_up)
        differs = _set(clients=load.clients != plain.clients, waves=others[0], warm_up=others[1])
        yield differs, f"the load is {_LOADS[load.kind]}", "set load to clients"
    if load.kind != "rate":
        # the knee is looked for with requests that arrive, and clients have one
        drawn = load.kind != "clients"
        differs = _set(
            rate=load.kind != "trace" and load.rate != plain.rate,
            variation=drawn and load.variation != plain.variation,
            profile=bool(load.profile),
        )
        yield differs, f"the load is {_LOADS[load.kind]}", "set load to rate"
    if closed:
        agents = load.kind == "agents"
        differs = _set(count=load.count != plain.count and (agents or load.count >= COUNT_LIMIT))
        yield differs, f"the load is {_LOADS[load.kind]}", "set waves, the requests of each"
    if load.kind != "agents":
        names = ("turns", "tool_tokens", "pause")
        differs = [name for name in names if getattr(load, name) != getattr(plain, name)]
        yield differs, f"the load is {_LOADS[load.kind]}", "set load to agents"
        if load.kind != "trace":
            yield (
                _set(routing=load.routing != plain.routing),
                f"the load is {_LOADS[load.kind]}",
                "use a trace or agents",
            )
    if load.kind != "trace":
        yield _set(trace=bool(load.trace.strip())), f"the load is {_LOADS[load.kind]}", "set load to trace"
    elif load.reuse.strip():
        yield ["reuse"], "the trace says which prompts begin with the same tokens", "leave it out, or use another load"
    if load.kind != "trace" and load.reuse.strip():
        yield _set(prefix=load.prefix > 0), "reuse says how much of the prompts is found", "leave one of the two out"
    if asked.deployment.prompts and asked.tiers.strip():
        yield ["tiers"], "engines that read prompts keep them on their accelerators", "let all do both"
    if asked.deployment.prompts or load.kind not in ("rate", "trace"):
        where = (
            "engines for prompts and answers stay" if asked.deployment.prompts else f"the load is {_LOADS[load.kind]}"
        )
        yield _set(scaling=asked.scaling), where, "use a rate or a trace on replicas that do both"
    if not asked.tiers.strip():
        differs = _set(tier_share=asked.tier_share != _default_settings().tier_share)
        yield differs, "keys and values stay on the accelerators", "name parts in tiers"


def _of_split(asked: Serving) -> Iterator[_Reason]:
    if asked.deployment.prompts and asked.load.kind in ("trace", "agents"):
        differs = _set(routing=asked.load.routing != _default_settings().load.routing)
        yield differs, "engines for prompts take requests in turns", "let all accelerators do both"


def _of_images(asked: Deployment) -> Iterator[_Reason]:
    if not asked.images:
        names = ("image_width", "image_height")
        differs = [name for name in names if getattr(asked, name) != getattr(_default_settings().deployment, name)]
        yield differs, "requests are of text", "set images to 1 or more"


def _of_lengths(load: Load) -> Iterator[_Reason]:
    plain = _default_settings().load
    lengths = ("prompt", "output", "spread")
    differs = [name for name in lengths if getattr(load, name) != getattr(plain, name)]
    if load.kind == "trace":
        differs += [name for name in ("lengths", "count", "seed") if getattr(load, name) != getattr(plain, name)]
        yield differs, "the trace has its own requests", "set load to rate or clients"
    elif load.kind == "agents":
        yield _set(lengths=bool(load.lengths)), "the load is agents", "give prompt, output and tool_tokens"
    elif load.lengths:
        yield differs, f"lengths are those of {load.lengths}", "leave lengths empty"


def _of_start(asked: Serving) -> Iterator[_Reason]:
    if not asked.storage.strip():
        differs = _set(peers=asked.peers, update=asked.update > 0, readers=asked.readers != _default_settings().readers)
        yield differs, "nothing says where weights come from", "name what holds them in storage"


def _of_batches(asked: Inference, tokens: bool) -> Iterator[_Reason]:
    plain, scenario = _plain_in_batches(), asked.scenario

    def differing(*names: str) -> list[str]:
        return [name for name in names if getattr(asked, name) != getattr(plain, name)]

    needed = {"server": ["rate"], "video": ["streams", "frames"], "multi-stream": ["query"]}
    for wanted, names in needed.items():
        if scenario != wanted:
            yield differing(*names), f"the scenario is {scenario}", f"set scenario to {wanted}"
    if scenario in ("single-stream", "multi-stream"):
        yield differing("batch", "delay", "seed"), f"the scenario is {scenario}: batches are its queries", "use another"
    if scenario == "offline":
        yield differing("delay", "seed"), "all samples are there at the start", "use another scenario"
    if not tokens:
        yield differing("sequence"), "a sample of this model has no tokens", "leave it out"
    if not asked.input.source.strip() and not asked.input.dataset.strip():
        read = ("workers", "decode", "decode_rate", "loader", "cached", "access", "io_size", "queue_depth", "gpudirect")
        differs = [name for name in read if getattr(asked.input, name) != getattr(plain.input, name)]
        yield differs, "samples come out of host memory", "name in source what they are read from"
    if not asked.limit and scenario != "video":
        at = ["limit_at"] if asked.share != plain.share else []
        yield at, "there is no limit", "set limit"


#: loads in words
_LOADS = {
    "rate": "a rate",
    "clients": "clients",
    "offline": "everything at once",
    "trace": "a trace",
    "agents": "agents",
}


@cache
def _default_settings() -> Serving:
    """What is asked where nothing is set."""
    found = task_of("serving", {}, "serving", Serve)
    assert found is not None
    return found.operation


@cache
def _plain_in_batches() -> Inference:
    found = task_of("inference", {}, "inference", Infer)
    assert found is not None
    return found.asked

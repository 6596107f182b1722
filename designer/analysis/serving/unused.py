"""Settings of a served model that change nothing as it is asked for, each with what it waits for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from designer.findings import Finding, Severity
from designer.workload.kind import lower
from designer.workload.serving import Deployment, Serving


def unused(asked: Serving) -> tuple[Finding, ...]:
    """One finding for every reason for which something that was set changes nothing."""
    found: list[Finding] = []
    for names, why, remedy in (*_of_deployment(asked.deployment), *_of_load(asked), *_of_start(asked)):
        if names:
            several = "change" if len(names) > 1 else "changes"
            text = f"{' and '.join(names)} {several} nothing: {why}"
            found.append(Finding("SERVE-UNUSED", Severity.INFO, text, (), remedy))
    return tuple(found)


def _set(**values: bool) -> list[str]:
    return [name for name, given in values.items() if given]


def _of_deployment(asked: Deployment) -> Iterator[tuple[list[str], str, str]]:
    if not asked.prompts:
        yield (
            _set(prompt_tensor=asked.prompt_tensor > 0),
            "all accelerators read prompts and answer, so no keys and values are handed over",
            "name accelerators in prompt_group, or leave it out",
        )
    if not asked.drafts:
        yield _set(draft=bool(asked.draft.strip())), "no token is drafted", "set drafts to 1 or more"


def _of_load(asked: Serving) -> Iterator[tuple[list[str], str, str]]:
    load, plain = asked.load, _plain().load
    if load.kind != "clients":
        others = (load.waves != plain.waves, load.warm_up != plain.warm_up)
        differs = _set(clients=load.clients != plain.clients, waves=others[0], warm_up=others[1])
        yield differs, f"the load is {_LOADS[load.kind]}", "set load to clients"
    if load.kind != "rate":
        differs = _set(variation=load.variation != plain.variation, profile=bool(load.profile))
        yield differs, f"the load is {_LOADS[load.kind]}", "set load to rate"
    if load.kind != "trace":
        yield _set(trace=bool(load.trace.strip())), f"the load is {_LOADS[load.kind]}", "set load to trace"
    elif load.reuse.strip():
        yield ["reuse"], "the trace tells which prompts begin alike", "leave it out, or use another load"
    if not asked.tiers.strip():
        differs = _set(tier_share=asked.tier_share != _plain().tier_share)
        yield differs, "keys and values stay on the accelerators", "name parts in tiers"


def _of_start(asked: Serving) -> Iterator[tuple[list[str], str, str]]:
    if not asked.storage.strip():
        differs = _set(peers=asked.peers, update=asked.update > 0, readers=asked.readers != _plain().readers)
        yield differs, "nothing says where weights come from", "name what holds them in storage"


#: loads in words
_LOADS = {"rate": "a rate", "clients": "clients", "offline": "everything at once", "trace": "a trace"}


@cache
def _plain() -> Serving:
    """What is asked where nothing is set."""
    found = lower("serving", {}, "serving")
    assert isinstance(found, Serving)
    return found

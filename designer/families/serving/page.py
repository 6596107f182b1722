"""Served models: requests answered within limits, and what limits prompts and answers."""

from __future__ import annotations

from typing import Final

from designer.findings import Severity
from designer.present import numbers
from designer.present.answer import Answer, stack_of
from designer.present.blocks import Change, Stack, State, Tone
from designer.present.changes import suggest
from designer.present.family import Family

_STEPS: Final = {"prompts": "Prompt step", "decoding": "Token step", "batch": "One batch"}
#: less than this share of what it can serve is asked for [1]
_HALF: Final = 0.67


def _peak_metric(answer: Answer) -> str:
    return next((n for n in ("most_requests_per_second", "most_samples_per_second") if answer.metric(n)), "")


def _headline(answer: Answer) -> str:
    most = _peak_metric(answer)
    if not most:
        rate = next((n for n in ("requests_per_second", "tokens_per_second") if answer.metric(n)), "")
        return f"Serves {answer.text(rate)}." if rate else "Does not serve this load."
    target = answer.targets.get(most)
    if target is None:
        return f"Serves at most {answer.text(most)}."
    found = answer.result.metrics[most]
    asked = numbers.given(target.value)
    limited = any(answer.setting(s) not in ("", "0 s") for s in ("ttft_limit", "tpot_limit", "latency_limit"))
    within = " within its limits" if limited and not _too_slow(answer) else ""
    if found.value < target.value:
        return f"Serves {answer.text(most)}; you ask for {asked}. Queues would grow without limit."
    if _too_slow(answer):
        return f"Serves up to {answer.text(most)}, but misses a limit at the {asked} you ask for."
    return f"Serves {answer.text(most)}{within}; you ask for {asked}."


def _too_slow(answer: Answer) -> bool:
    """True if a latency misses its limit at the load that is asked for."""
    for name, target in answer.targets.items():
        found = answer.metric(name)
        if target.word == "limit" and found is not None and found.value > target.value:
            return True
    return any(f.severity is Severity.ERROR for f in answer.result.findings)


def _time_stacks(answer: Answer) -> tuple[str, tuple[Stack, ...]]:
    stacks = tuple(stack_of(answer, step, _STEPS[step.phase]) for step in answer.result.steps)
    return ("Where the time goes", stacks) if stacks else ("", ())


def _changes(answer: Answer) -> tuple[Change, ...]:
    most = _peak_metric(answer)
    target = answer.targets.get(most)
    found: list[Change] = []
    id_, served = answer.result.id, answer.result.metrics.get(most)
    is_language_model = answer.spec is not None and answer.spec.kind == "serving" and answer.metric("ttft") is not None
    if target is not None and served is not None and target.value <= _HALF * served.value and not _too_slow(answer):
        share = numbers.percent(target.value / served.value)
        found.append(Change(f"Nothing is needed: {share} of what it can serve is asked for.", tone=Tone.PLAIN))
    if is_language_model:
        size = ("size", answer.file, "--for", id_)
        found.append(Change("How many GPUs it needs", command=size, place="improve", tone=Tone.PLAIN))
    if target is not None and served is not None:
        low, high = (
            numbers.given(max(1.0, round(target.value / 3))),
            numbers.given(max(2.0, round(1.15 * served.value))),
        )
        vary = f"workloads.{id_}.rate={low} 1/s..{high} 1/s:5".replace(",", "")
        found.append(
            Change(
                "How far it scales",
                command=("sweep", answer.file, "--workload", id_, "--vary", vary),
                place="improve",
                tone=Tone.PLAIN,
            )
        )
    if target is None or (served is not None and served.value < target.value) or not is_language_model:
        found.append(suggest(answer))
    return tuple(found)


def _state(answer: Answer) -> tuple[State | None, str]:
    return (State.MISSED, "") if _too_slow(answer) else (None, "")


FAMILY = Family(
    ("inference",),
    _headline,
    (
        "most_requests_per_second",
        "most_samples_per_second",
        "ttft_p95",
        "tpot",
        "latency_p95",
        "memory_per_gpu",
        "power",
        "tokens_per_second",
        "requests_per_second",
        "mean_batch",
        "cost_per_day",
        "requests_per_money",
        "cold_start_time",
    ),
    _time_stacks,
    _changes,
    _state,
)

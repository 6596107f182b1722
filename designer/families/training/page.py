"""Training, and batches of inference that run as training does."""

from __future__ import annotations

from typing import Final

from designer.present import numbers
from designer.present.answer import Answer, shares_of
from designer.present.blocks import Change, Stack
from designer.present.changes import suggest, survive
from designer.present.family import Family

#: waiting for data is named in the headline from this share of a step [1]
_STALLED: Final = 0.05
_VERBS: Final = {"Shard": "Sharding", "Recompute": "Recomputing", "Split": "Splitting", "Use": "Using"}
#: parts of a GPU's memory, as the engine calls them
_MEMORY: Final = {
    "weights": "Weights",
    "gradients": "Gradients",
    "optimizer": "Optimizer states",
    "activations": "Activations",
    "gathered": "Gathered weights",
    "reserve": "Reserve",
}


def _headline(answer: Answer) -> str:
    speed = next((n for n in ("tokens_per_second", "samples_per_second") if answer.metric(n)), "")
    rate = answer.text(speed) if speed else ""
    if answer.result.unfit is not None:
        return _unfit(answer)
    time = answer.metric("time_to_train")
    if time is not None:
        head = f"Trains in {answer.text('time_to_train')}" + (f" at {rate}." if rate else ".")
    elif rate:
        head = f"Processes {rate}."
    elif answer.metric("step_time"):
        head = f"Makes a step in {answer.text('step_time')}."
    else:
        head = "Runs."
    stall, step = answer.value("input_stall"), answer.value("step_time")
    if step > 0 and stall / step >= _STALLED:
        head += f" GPUs wait for data {numbers.percent(stall / step)} of each step."
    return head


def _unfit(answer: Answer) -> str:
    needed = answer.metric("memory_per_gpu")
    if needed is None:
        return "Does not fit in the memory of the GPUs."
    has = numbers.shown(needed.details["capacity"], "B", exact=True)
    text = f"Does not fit: needs {answer.text('memory_per_gpu')} per GPU of {has}."
    if answer.fitting:
        best = answer.fitting[0]
        memory = best.result.metrics.get("memory_per_gpu")
        size = f" ({numbers.shown(memory.value, 'B')})" if memory is not None else ""
        text += f" {_as_gerund(best.title)} fits{size}."
    return text


def _as_gerund(title: str) -> str:
    """A change as what is done: ``Shard the optimizer`` is ``Sharding the optimizer``."""
    verb, _, rest = title.partition(" ")
    return f"{_VERBS[verb]} {rest}" if verb in _VERBS else title


def _time_stacks(answer: Answer) -> tuple[str, tuple[Stack, ...]]:
    if answer.result.unfit is not None:
        return _memory(answer)
    step = answer.value("step_time")
    if step <= 0:
        return "", ()
    parts = [
        ("Computing", answer.value("compute_time")),
        ("Network, not hidden", answer.value("communication_time")),
        ("Waiting for data", answer.value("input_stall")),
    ]
    first = max(parts, key=lambda part: part[1])[0]
    return "Where the time goes", (Stack("One step", answer.text("step_time"), shares_of(parts, step, "s", first)),)


def _memory(answer: Answer) -> tuple[str, tuple[Stack, ...]]:
    curves = answer.result.curves.get("memory", ())
    total = answer.value("memory_per_gpu")
    parts = [(_MEMORY.get(c.name, c.name), c.y[0]) for c in curves if c.y]
    if not parts or total <= 0:
        return "", ()
    first = max(parts, key=lambda part: part[1])[0]
    text = answer.text("memory_per_gpu")
    return "Where the memory goes", (Stack("Per GPU", text, shares_of(parts, total, "B", first)),)


def _changes(answer: Answer) -> tuple[Change, ...]:
    return (suggest(answer), survive(answer))


FAMILY = Family(
    ("training",),
    _headline,
    (
        "time_to_train",
        "tokens_per_second",
        "samples_per_second",
        "mfu",
        "step_time",
        "memory_per_gpu",
        "gpu_utilization",
        "scaling_efficiency",
        "data_rate_per_gpu",
    ),
    _time_stacks,
    _changes,
)

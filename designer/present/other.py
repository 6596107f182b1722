"""All other answers: searches over settings, workflows, pools; the first figure is the headline."""

from __future__ import annotations

from typing import Final

from designer.present import numbers
from designer.present.answer import Answer
from designer.present.blocks import Change
from designer.present.changes import suggest
from designer.present.family import Family, nowhere
from designer.present.words import metric_title

#: sentences by the metric that answers, the first that an answer has; braces hold its text
_SENTENCES: Final = (
    ("product_rate", "Each accelerator makes {}."),
    ("workflow_time", "The workflow takes {}."),
    ("round_time", "A round takes {}."),
    ("trial_time", "A trial takes {}."),
    ("smallest_pool", "A pool of {} GPUs keeps waits as short."),
    ("time_to_train", "The best layout trains in {}."),
    ("tokens_per_second", "Processes {}."),
    ("samples_per_second", "Processes {}."),
    ("requests_per_second", "Answers {}."),
    ("step_time", "The best layout makes a step in {}."),
    ("migration_time", "Moves in {}."),
    ("rate", "Moves {}."),
)


def _headline(answer: Answer) -> str:
    if answer.metric("fitting") is not None and not answer.value("fitting"):
        return f"None of {numbers.counted(answer.value('candidates'), 'layout')} fits."
    for name, sentence in _SENTENCES:
        if answer.metric(name) is not None:
            return sentence.format(answer.text(name))
    first = next(iter(answer.result.metrics), "")
    return f"{metric_title(first)}: {answer.text(first)}." if first else "Nothing to report."


def _changes(answer: Answer) -> tuple[Change, ...]:
    return (suggest(answer),)


FAMILY = Family(
    ("product", "workflow", "federated", "hyperparameter_sweep", "layout_search", "pooling"),
    _headline,
    (
        "product_time",
        "product_rate",
        "workflow_time",
        "round_time",
        "trial_time",
        "smallest_pool",
        "accelerators_saved",
        "wait_shared",
        "wait_dedicated",
        "time_to_train",
        "tokens_per_second",
        "samples_per_second",
        "step_time",
        "mfu",
        "memory_per_gpu",
        "fitting",
        "candidates",
        "training_time",
        "analysis_time",
        "deployment_time",
    ),
    nowhere,
    _changes,
)

"""A family of workloads with pages of one sort."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from designer.present.answer import Answer
from designer.present.blocks import Change, Stack, State


@dataclass(frozen=True, slots=True)
class Family:
    """What the page of a family says.

    Parameters
    ----------
    kinds
        Kinds of results it is for.
    headline
        What the answer comes to, without what limits it.
    figures
        Metrics that may be key figures, the most important first.
    where
        Title and stacks of where the time (or the memory, or the path) goes.
    changes
        Changes to consider and questions to ask next.
    state
        State of an answer that is valid and misses no target, with the words of its chip where the usual do not do.
    """

    kinds: tuple[str, ...]
    headline: Callable[[Answer], str]
    figures: tuple[str, ...]
    where: Callable[[Answer], tuple[str, tuple[Stack, ...]]]
    changes: Callable[[Answer], tuple[Change, ...]]
    state: Callable[[Answer], tuple[State | None, str]] = lambda _: (None, "")


def nowhere(_: Answer) -> tuple[str, tuple[Stack, ...]]:
    """No stack."""
    return "", ()

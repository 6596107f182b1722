"""Classical algorithms: how long a fit takes."""

from __future__ import annotations

from designer.present.answer import Answer
from designer.present.blocks import Change
from designer.present.changes import suggest
from designer.present.family import Family, nowhere


def _headline(answer: Answer) -> str:
    return f"Fits in {answer.text('fit_time')}, {answer.text('pass_time')} for each pass."


def _changes(answer: Answer) -> tuple[Change, ...]:
    return (suggest(answer),)


FAMILY = Family(("classical",), _headline, ("fit_time", "pass_time"), nowhere, _changes)

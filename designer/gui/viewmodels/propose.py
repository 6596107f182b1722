"""The form of a search for designs, as plain data: goals with their fields, what may be ticked, and what is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from designer.contrib.proposals.family import Asked, Family
from designer.contrib.proposals.goal import GOALS as KINDS
from designer.contrib.proposals.goal import Wanted
from designer.contrib.proposals.pareto import Choice
from designer.contrib.proposals.reading import read_wanted
from designer.design.document import Design, WorkloadSpec
from designer.errors import FormatError
from designer.registry import discover
from designer.report.settings import load_settings

_NUMBER: Final = re.compile(r"\s*[\d.,_]+\s*")
#: choices that are ticked in the form; the others are searched as usual
_TICKED: Final = ("server", "nodes", "network", "migration")


@dataclass(frozen=True, slots=True)
class Field:
    """A line of the form: the setting it gives (``within``: the limit of the goal), and the unit of a bare number."""

    name: str
    title: str
    text: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal: its name, title, lines, and what is ticked at first of choices with more values."""

    name: str
    title: str
    fields: tuple[Field, ...]
    ticked: Mapping[str, tuple[str, ...]]


GOALS: Final = (
    Goal(
        "train",
        "Train a model",
        (
            Field("model", "Model", "llama-2-7b"),
            Field("dataset", "Data set", "c4-en"),
            Field("global_batch", "Global batch", "1024"),
            Field("within", "Finish in", "20", "d"),
        ),
        {"server": ("dgx-a100", "dgx-h100", "dgx-b200"), "nodes": ("1", "2", "4", "8")},
    ),
    Goal(
        "serve",
        "Serve a load",
        (
            Field("model", "Model", "llama-3-8b"),
            Field("rate", "Requests", "20", "1/s"),
            Field("prompt", "Prompt tokens", "1024"),
            Field("output", "Answer tokens", "256"),
            Field("ttft_limit", "First token", "1", "s"),
        ),
        {"server": ("serving-l40s-4", "dgx-h100"), "nodes": ("1", "2", "4")},
    ),
    Goal(
        "evacuate",
        "Empty a host",
        (Field("hosts", "Hosts", "hosts[0]/server"), Field("within", "Within", "10", "min")),
        {"nodes": ("4", "5", "6")},
    ),
)
#: units as they are written behind a field
UNITS: Final = {"d": "days", "1/s": "per second", "s": "seconds", "min": "minutes", "kW": "kW"}


@dataclass(frozen=True, slots=True)
class ProposeForm:
    """What is filled in: texts by the name of their field, and the values ticked of each choice."""

    goal: Goal
    texts: Mapping[str, str]
    ticked: Mapping[str, tuple[str, ...]]
    prices: str = ""
    budget: str = ""
    power: str = ""
    racks: str = ""
    sure: bool = False


def choices(goal: Goal, base: Design | None) -> tuple[Choice, ...]:
    """What may be ticked for a goal, with all usual values of each choice."""
    kind = KINDS[goal.name]
    families = discover("designer.contrib.proposals.families", "FAMILY", Family).values()
    family = next(f for f in families if kind in f.goals)
    settings = {f.name: f.text for f in goal.fields if f.name != "within"}
    asked = Asked(WorkloadSpec(id=goal.name, kind=kind, settings=settings), _hosts(goal, base))
    found: list[Choice] = []
    chosen: dict[str, str] = {}
    while (choice := family.following(asked, chosen)) is not None:
        if choice.name in _TICKED and len(choice.values) > 1:
            found.append(choice)
        # a network is needed from two servers on
        chosen[choice.name] = choice.values[min(1, len(choice.values) - 1) if choice.name == "nodes" else 0]
    return tuple(found)


def tick_title(choice: str, value: str) -> str:
    """What a value of a choice is called: ``dgx-h100`` is ``DGX H100``."""
    if choice == "server":
        return value.upper().replace("-", " ")
    return "no network" if value == "none" else value


def chosen_of(data: object, text: str) -> str:
    """The id of what a list says, else what was typed."""
    return data if isinstance(data, str) else text.strip()


def _hosts(goal: Goal, base: Design | None) -> Design | None:
    return base if goal.name == "evacuate" and base is not None and base.vms and base.groups else None


def _spelled(field: Field, text: str) -> str:
    """A text with the unit of its field, where it is a bare number."""
    return f"{text.strip()} {field.unit}" if field.unit and _NUMBER.fullmatch(text) else text.strip()


def _settings(form: ProposeForm) -> list[str]:
    named = [(f, form.texts.get(f.name, "")) for f in form.goal.fields if f.name != "within"]
    return [f"{field.name}={_spelled(field, text)}" for field, text in named if text.strip()]


def _within(form: ProposeForm) -> str:
    field = next((f for f in form.goal.fields if f.name == "within"), None)
    return _spelled(field, form.texts.get("within", "")) if field is not None else ""


def _power(form: ProposeForm) -> str:
    return _spelled(Field("power", "", "", "kW"), form.power) if form.power.strip() else ""


def _chosen(form: ProposeForm) -> list[str]:
    # a layout is spelled with a comma of its own
    return [f"{n}={(';' if any(',' in v for v in vs) else ',').join(vs)}" for n, vs in form.ticked.items()]


def wanted(form: ProposeForm, base: Design | None = None) -> Wanted:
    """What a form asks for.

    Raises
    ------
    FormatError
        If something is not spelled as it has to be, or nothing is ticked of a choice.
    """
    empty = next((name for name, values in form.ticked.items() if not values), None)
    if empty is not None:
        raise FormatError("nothing is ticked", place=empty, remedy="tick one or more")
    prices = load_settings(None, Path(form.prices)).prices if form.prices.strip() else None
    return read_wanted(
        form.goal.name,
        _settings(form),
        within=_within(form) or None,
        prices=prices,
        budget=_number(form.budget, "Budget"),
        power=_power(form) or None,
        racks=int(_number(form.racks, "Racks") or 0) if form.racks.strip() else None,
        sure=form.sure,
        base=_hosts(form.goal, base),
        choose=_chosen(form),
    )


def _number(text: str, place: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text.replace(",", "").replace(" ", ""))
    except ValueError:
        raise FormatError(f"{text[:40]!r} is not a number", place=place, remedy="write 1500000") from None


def command(form: ProposeForm) -> Sequence[str]:
    """The same search on a command line."""
    words = ["designer", "propose", form.goal.name]
    for piece in _settings(form):
        words += ["--with", piece]
    for name, text in (
        ("within", _within(form)),
        ("prices", form.prices.strip()),
        ("budget", form.budget.strip()),
        ("power", _power(form)),
        ("racks", form.racks.strip()),
    ):
        if text:
            words += [f"--{name}", text]
    for piece in _chosen(form):
        words += ["--choose", piece]
    return [*words, "--sure"] if form.sure else words

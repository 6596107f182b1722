"""What the dialog of proposals asks and shows, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from designer.contrib.proposals.goal import MONEY, PORTS, POWER, Wanted
from designer.contrib.proposals.reading import read_wanted
from designer.contrib.proposals.results import Proposals
from designer.contrib.proposals.wording import reasons, shown
from designer.design.document import Design
from designer.errors import FormatError
from designer.gui.viewmodels.table import Cell, Column, Line
from designer.report.figure import Axis, Figure, LineSeries
from designer.report.settings import load_settings


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal that may be chosen: its name, what people call it, and what is filled in at first."""

    name: str
    title: str
    settings: str
    within: str
    choose: str


GOALS: Final = (
    Goal(
        "train",
        "Train a model",
        "model=llama-2-7b; dataset=c4-en; global_batch=1024",
        "20 d",
        "server=dgx-a100,dgx-h100,dgx-b200; nodes=1,2,4,8",
    ),
    Goal(
        "serve",
        "Serve a load",
        "model=llama-3-8b; rate=20 1/s; prompt=1024; output=256; ttft_limit=1 s",
        "",
        "server=serving-l40s-4,dgx-h100; nodes=1,2,4",
    ),
    Goal("evacuate", "Empty a host", "hosts=hosts[0]/server", "10 min", "nodes=4,5,6"),
)


@dataclass(frozen=True, slots=True)
class ProposeForm:
    """What is written in the dialog; settings and choices are parted by semicolons."""

    goal: str
    settings: str
    within: str = ""
    prices: str = ""
    budget: str = ""
    power: str = ""
    racks: str = ""
    choose: str = ""
    sure: bool = False


def wanted(form: ProposeForm, base: Design | None = None) -> Wanted:
    """What a form asks for.

    Raises
    ------
    FormatError
        If something is not spelled as it has to be.
    """
    prices = load_settings(None, Path(form.prices)).prices if form.prices.strip() else None
    return read_wanted(
        form.goal,
        _pieces(form.settings),
        within=form.within.strip() or None,
        prices=prices,
        budget=_number(form.budget, "Budget"),
        power=form.power.strip() or None,
        racks=int(_number(form.racks, "Racks") or 0) if form.racks.strip() else None,
        sure=form.sure,
        base=base if form.goal == "evacuate" and base is not None and _has_hosts(base) else None,
        choose=_pieces(form.choose),
    )


def _has_hosts(design: Design) -> bool:
    return bool(design.vms) and bool(design.groups)


def _pieces(text: str) -> list[str]:
    return [piece.strip() for piece in text.split(";") if piece.strip()]


def _number(text: str, place: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text.replace(",", "").replace(" ", ""))
    except ValueError:
        raise FormatError(f"{text[:40]!r} is no number", place=place, remedy="write 1500000") from None


def columns(found: Proposals) -> tuple[Column, ...]:
    """Heads of the table."""
    return (Column("Design", width=260), *(Column(m.title.capitalize(), number=True) for m in found.measures))


def lines(found: Proposals) -> tuple[Line, ...]:
    """The best designs."""
    made: list[Line] = []
    for number, one in enumerate(found.best):
        binding = one.binding[0].label if one.binding else "nothing that is drawn"
        tip = "\n".join([*(f"{k}: {v}" for k, v in one.choices.items()), f"limited by {binding}", *one.broken])
        cells = [Cell(one.title, one.title, tip)]
        for measure in found.measures:
            e = one.worth.values[measure.name]
            band = "" if e.low == e.high else f"80 % band {shown(measure, e.low)} to {shown(measure, e.high)}"
            cells.append(Cell(shown(measure, e.value), e.value, band))
        made.append(Line(tuple(cells), number))
    return tuple(made)


def figure(found: Proposals) -> Figure | None:
    """The goal over what one spends for it: money where prices are known, else power."""
    names = {m.name: m for m in found.measures}
    main = next((m for m in found.measures if m.counts and m.name not in (MONEY, POWER, PORTS, "racks")), None)
    if not found.best or main is None:
        return None
    spent = names.get(MONEY) or names[POWER]
    points = sorted((p.worth.values[spent.name].value, p.worth.values[main.name]) for p in found.best)
    line = LineSeries(
        "no other beats it",
        tuple(x for x, _ in points),
        tuple(e.value for _, e in points),
        tuple(e.low for _, e in points),
        tuple(e.high for _, e in points),
    )
    # money has no unit of its own on an axis
    unit = "" if spent.name == MONEY else spent.unit
    title = f"{spent.title}, {spent.unit}" if spent.name == MONEY else spent.title
    return Figure(
        f"{main.title.capitalize()} over {spent.title.lower()}",
        Axis(title, unit),
        Axis(main.title.capitalize(), "" if main.unit == "1" else main.unit),
        (line,),
    )


def summary(found: Proposals) -> str:
    """What was looked at, and why the others lost."""
    f = found.found
    head = f"{f.space:,} designs, {f.worked_out:,} worked out; {len(found.best):,} that no other beats."
    return "\n".join([found.impossible or head, *reasons(found)])


def command(form: ProposeForm) -> Sequence[str]:
    """The same search on a command line."""
    words = ["designer", "propose", form.goal]
    for piece in _pieces(form.settings):
        words += ["--with", piece]
    for name in ("within", "prices", "budget", "power", "racks"):
        text = str(getattr(form, name)).strip()
        if text:
            words += [f"--{name}", text]
    for piece in _pieces(form.choose):
        words += ["--choose", piece]
    return [*words, "--sure"] if form.sure else words

"""A goal with its limits from what people write: settings, times and powers with units, lists of choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from designer.contrib.proposals.goal import GOALS, Wanted, known_metric
from designer.contrib.proposals.question import Question
from designer.design.document import Design, WorkloadSpec
from designer.errors import FormatError, raised_as
from designer.report.tables.cost import Price
from designer.spelling import near
from designer.units import DIMENSIONS, parse
from designer.workload.kind import workload_kinds
from designer.workload.metrics import METRICS

#: dimension of a metric by its unit
_DIMENSION: Final = {"s": "duration", "B/s": "rate", "B": "size", "1/s": "frequency", "W": "power", "1": "ratio"}
#: what is not written is asked so
_USUAL: Final[Mapping[str, Mapping[str, object]]] = {"evacuation": {"hosts": "hosts[0]/server"}}


def read_wanted(
    goal: str,
    settings: Sequence[str] | Mapping[str, object] = (),
    *,
    within: str | None = None,
    limits: Sequence[str] = (),
    prices: Mapping[str, Price] | None = None,
    budget: float | None = None,
    power: str | None = None,
    racks: int | None = None,
    rack_power: str | None = None,
    rack_height: int | None = None,
    unpriced: bool = False,
    sure: bool = False,
    base: Design | None = None,
    choose: Sequence[str] = (),
) -> Wanted:
    """What is wanted.

    Parameters
    ----------
    goal
        ``train``, ``serve``, ``evacuate``, or a kind of workload.
    settings
        Of the workload: ``SETTING=VALUE``, or values by name.

    Raises
    ------
    FormatError
        If something is not spelled as it has to be, with its place.
    """
    kind = GOALS.get(goal, goal)
    if kind not in GOALS.values():
        raise FormatError(f"{goal[:40]!r} is no goal", place="GOAL", remedy=f"use {', '.join(GOALS)}")
    stated = dict(settings) if isinstance(settings, Mapping) else _settings(kind, settings)
    spec = WorkloadSpec(id=goal[:40], kind=kind, settings={**_USUAL.get(kind, {}), **stated})  # pyright: ignore[reportArgumentType]
    known = {name: _amount(kind, name, text) for name, text in _pairs(limits, "--limit")}
    for text, place in ((racks, "--racks"), (rack_height, "--rack-height")):
        if text is not None and text < 1:
            raise FormatError(f"{text} is none", place=place, remedy="give 1 or more")
    if budget is not None and not 0 < budget < 1e15:
        raise FormatError(f"{budget:g} is no budget", place="--budget", remedy="give what may be spent")
    currencies = sorted({p.currency for p in (prices or {}).values()})
    if len(currencies) > 1:
        raise FormatError(
            f"prices in {' and '.join(currencies)} cannot be added", place="--prices", remedy="give all in one currency"
        )
    wanted = Wanted(
        spec,
        known,
        prices,
        budget,
        _power(power, "--power"),
        racks,
        _power(rack_power, "--rack-power"),
        float(rack_height) if rack_height is not None else None,
        unpriced,
        sure,
        base,
        {name: _values(name, text) for name, text in _pairs(choose, "--choose")},
    )
    question = Question(wanted)
    main = question.main
    implied = _implied_limit(wanted, main)
    if within is not None:
        implied = {main: _parse_quantity(within, "duration", "--within")}
    return replace(wanted, limits={**implied, **known})


def _implied_limit(wanted: Wanted, main: str) -> dict[str, float]:
    """The limit on the first token or the answer that the workload has itself."""
    named = {"ttft": "ttft_limit", "latency": "latency_limit"}
    text = wanted.goal.settings.get(named.get(main.partition("_")[0], ""))
    if not isinstance(text, str):
        return {}
    value = _parse_quantity(text, "duration", "--with")
    return {main: value} if value else {}


def _settings(kind: str, given: Sequence[str]) -> dict[str, object]:
    known = {s.name: s for s in workload_kinds()[kind].settings}
    found: dict[str, object] = {}
    for name, text in _pairs(given, "--with"):
        setting = known.get(name)
        if setting is None:
            meant = near(name, known) or list(known)
            raise FormatError(f"{kind} has no setting {name!r}", place="--with", remedy=f"use {', '.join(meant)}")
        if setting.dimension == "count" and text.isascii() and text.isdigit():
            found[name] = int(text)
        elif setting.dimension == "flag" and text in ("true", "false"):
            found[name] = text == "true"
        else:
            found[name] = text
    return found


def _pairs(given: Sequence[str], place: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise FormatError(f"{text[:60]!r} is no NAME=VALUE", place=place, remedy="write nodes=1,2,4 or rate=20 1/s")
        found.append((name.strip(), value.strip()))
    return found


def _values(name: str, text: str) -> tuple[str, ...]:
    # a layout is spelled with a comma of its own
    pieces = text.split(";") if ";" in text else text.split(",")
    found = tuple(dict.fromkeys(piece.strip() for piece in pieces if piece.strip()))
    if not found:
        raise FormatError(f"{name} has no values", place="--choose", remedy="write nodes=1,2,4")
    return found


def _amount(kind: str, name: str, text: str) -> float:
    known_metric(kind, name)
    unit = METRICS[name].unit if name in METRICS else "1"
    dimension = _DIMENSION.get(unit, "")
    if dimension not in DIMENSIONS:
        try:
            return float(text)
        except ValueError:
            raise FormatError(f"{text[:40]!r} is no number", place=f"--limit {name}", remedy=f"in {unit}") from None
    return _parse_quantity(text, dimension, f"--limit {name}")


def _power(text: str | None, place: str) -> float | None:
    return None if text is None else _parse_quantity(text, "power", place)


def _parse_quantity(text: str, dimension: str, place: str) -> float:
    with raised_as(FormatError, place):
        found = float(parse(text, dimension))
    if found < 0:
        raise FormatError(f"{text[:40]!r} is below zero", place=place, remedy="give more")
    return found

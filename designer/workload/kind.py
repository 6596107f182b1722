"""What every workload kind offers, and how its settings are checked."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from designer.errors import AnalysisError, UnitError, raised_as
from designer.registry import rooms
from designer.spelling import did_you_mean
from designer.units import DIMENSIONS, parse
from designer.workload.metrics import Metric, add_metrics
from designer.workload.program import AnyTask, Program

#: no setting counts more than this
COUNT_LIMIT: Final = 10**12
#: nor is any quantity more than this, in SI units
AMOUNT_LIMIT: Final = 1e24


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a workload kind.

    Parameters
    ----------
    dimension
        A dimension of ``designer.units``, or ``count``, ``text``, ``flag``, ``selector``, ``choice``.
    """

    name: str
    title: str
    dimension: str
    default: str | int | bool | None = None
    choices: tuple[str, ...] = ()
    help: str = ""


@dataclass(frozen=True, slots=True)
class WorkloadKind:
    """A workload: typed settings, the program they lead to, and what is read from its run; or a search.

    Parameters
    ----------
    reports
        ``training``, ``inference``, ``control``, ``migration``, ``transfer`` or ``collective``: what the answer looks
        like.
    program
        Settings, in SI units, to the program that ``analyze`` and ``simulate`` run; None for searches.
    metrics
        Names of what the answer may have, in ``designer.workload.metrics`` or in `own`; some depend on the settings.
    own
        Metrics that no other kind has: unit, better direction and meaning.
    answer
        The module that reads the answer from the program, such as ``designer.families.storage.checkpointing``; by
        default the measures of the program are read from its run, and nothing else.
    search
        The module of a search over designs that answers instead; empty for all others.
    """

    name: str
    title: str
    reports: str
    settings: tuple[Setting, ...]
    program: Callable[[Mapping[str, Any]], Program] | None = None
    help: str = ""
    metrics: tuple[str, ...] = ()
    answer: str = "designer.engine.measured"
    search: str = ""
    own: Mapping[str, Metric] = field(default_factory=dict[str, Metric])


@cache
def workload_kinds() -> Mapping[str, WorkloadKind]:
    """All workload kinds by name; the metrics of their own are known from then on."""
    found = rooms("designer.families", "kinds", "WORKLOAD", WorkloadKind, group="designer.workloads")
    for kind in found.values():
        add_metrics(kind.own)
    return found


def program_of(kind_name: str, settings: Mapping[str, object], place: str) -> Program | None:
    """The program of a workload as stored in a design; None for searches. `place` is named in errors.

    Raises
    ------
    AnalysisError
        If the kind is unknown, or a setting is unknown, missing or cannot be read.
    """
    kind = kind_of(kind_name, place)
    read = read_settings(kind, settings, place)
    with placed(place):
        return kind.program(read) if kind.program is not None else None


def task_of(kind_name: str, settings: Mapping[str, object], place: str, kind: type[AnyTask]) -> AnyTask | None:
    """The first task of a type in the program of a workload; None where it has none.

    Raises
    ------
    AnalysisError
        As `program_of`.
    """
    program = program_of(kind_name, settings, place)
    return program.first(kind) if program is not None else None


def kind_of(kind_name: str, place: str) -> WorkloadKind:
    """A kind of workload by name; `place` is named in errors.

    Raises
    ------
    AnalysisError
        If there is none of that name.
    """
    kind = workload_kinds().get(kind_name)
    if kind is None:
        remedy = did_you_mean(kind_name, workload_kinds(), f"use one of {', '.join(workload_kinds())}")
        raise AnalysisError(f"there is no workload kind {kind_name!r}", place=place or None, remedy=remedy)
    return kind


@contextmanager
def placed(place: str) -> Generator[None]:
    """Errors of a kind, which knows its settings and not where they are placed, given with their place."""
    try:
        yield
    except AnalysisError as error:
        if error.place is not None and error.place.startswith(place):
            raise
        where = f"{place}.{error.place}" if error.place else place
        raise AnalysisError(error.text, place=where, remedy=error.remedy) from None


def read_settings(kind: WorkloadKind, settings: Mapping[str, object], place: str) -> dict[str, Any]:
    """Settings with defaults filled in, quantities in SI units."""
    known = {s.name: s for s in kind.settings}
    for name in settings:
        if name not in known:
            raise AnalysisError(f"{kind.title} has no setting {name!r}", place=place, remedy=f"use {', '.join(known)}")
    values: dict[str, Any] = {}
    for setting in kind.settings:
        value = settings.get(setting.name, setting.default)
        if value is None:
            raise AnalysisError(
                f"the setting {setting.name!r} is missing", place=place, remedy=setting.help or "give it"
            )
        values[setting.name] = _read(setting, value, f"{place}.{setting.name}")
    return values


def listed(text: str) -> tuple[str, ...]:
    """Ids written with commas between them."""
    return tuple(piece for piece in (p.strip() for p in text.split(",")) if piece)


def rate_or_none(text: str, name: str) -> float | None:
    """A rate that may be left empty [B/s].

    Raises
    ------
    AnalysisError
        If it cannot be read or is negative.
    """
    if not text.strip():
        return None
    with raised_as(AnalysisError, name, of=UnitError):
        rate = parse(text, "rate")
    if rate < 0:
        raise AnalysisError(f"{text!r} is negative", place=name, remedy="give zero or more")
    return rate


def _read(setting: Setting, value: object, place: str) -> object:
    if setting.dimension in DIMENSIONS:
        with raised_as(AnalysisError, place, of=UnitError):
            amount = parse(value, setting.dimension)
        if amount < 0:
            raise AnalysisError(f"{value!r} is negative", place=place, remedy="give zero or more")
        if amount > AMOUNT_LIMIT:
            raise AnalysisError(
                f"{value!r} is more than can be built or run", place=place, remedy=f"give {AMOUNT_LIMIT:.0e} at most"
            )
        return amount
    if setting.dimension == "count" and isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        if value > COUNT_LIMIT:
            raise AnalysisError(
                f"a count of {len(str(value))} digits is more than can be built or run",
                place=place,
                remedy=f"give {COUNT_LIMIT:,} at most",
            )
        return value
    if setting.dimension == "flag" and isinstance(value, bool):
        return value
    if setting.dimension in ("text", "selector") and isinstance(value, str):
        return value
    if setting.dimension == "choice" and value in setting.choices:
        return value
    wanted = f"one of {', '.join(c for c in setting.choices if c)}" if setting.choices else f"a {setting.dimension}"
    raise AnalysisError(f"{value!r} is not {wanted}", place=place, remedy=setting.help or f"give {wanted}")

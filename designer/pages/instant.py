"""The page of one instant of a run: what runs and what waits, what limits it, and what workloads lose to each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from designer.analysis.simulation import Simulation
from designer.design.document import Design
from designer.design.naming import link_title, part_title, several
from designer.engine.clock.frames import Frames, Held
from designer.engine.clock.interruptions import Cause, Interruption
from designer.pages.simulate import losses
from designer.present import numbers
from designer.present.answer import figure_text
from designer.present.blocks import Column, Figure, Limit, Page, Share, Stack, State, Table
from designer.present.limits import named
from designer.present.words import continued, counted_by, metric_title, opened, part_words
from designer.workload.metrics import times_better

#: points that a curve over the run has; the share that is busy is a mean over one of them
POINTS: Final = 800
#: figures compared with those of a workload alone, the first that it has
_COMPARED: Final = ("step_time", "evacuation_time", "migration_time", "communication_time", "transfer_time")
#: a figure counts as longer from this share on [1]
_SEEN: Final = 0.005
_LIMITS, _NAMED = 4, 2


def page_of_instant(found: Simulation, frames: Frames, design: Design, moment: float) -> Page:
    """The page of what happens at an instant.

    Parameters
    ----------
    frames
        Loads of the run of `found`.
    moment
        Time since the start of the run [s].
    """
    now = [one for one in frames.interruptions if one.begin <= moment < one.end or one.begin == moment]
    held = frames.held(moment)
    running = {found.run.tasks[task].program for task in frames.running(moment)}
    return Page(
        _list_text([_title(found, name) for name in found.metrics]),
        State.MISSED if now else State.ANSWERED,
        _headline(found, design, now, held, running),
        figures=_figures(frames, moment),
        table=_events(found, frames, design),
        where_title="Together and alone",
        where=_stacks(found),
        limits=_limits(held, design),
        remarks=tuple(losses(found)),
        chip=_chip(now, running),
        key="instant",
    )


def busy_at(frames: Frames, moment: float) -> float:
    """Share of what computes that is busy around an instant [1]; nan if nothing computes in this run."""
    width = frames.end / POINTS
    edge = (min(int(moment / width), POINTS - 1) + 1) * width if width else moment
    return frames.busy(edge, width)


def _title(found: Simulation, workload: str) -> str:
    return found.titles.get(workload) or workload


def _chip(now: Sequence[Interruption], running: set[str]) -> str:
    if any(one.cause is not Cause.NARROWED for one in now):
        return f"Stopped since {_time(max(one.begin for one in now))}"
    if now:
        return f"Slower since {_time(max(one.begin for one in now))}"
    return "Runs" if running else "Idle"


def _time(seconds: float) -> str:
    return numbers.shown(seconds, "s") if seconds > 0 else "0 s"


def _headline(
    found: Simulation, design: Design, now: Sequence[Interruption], held: Sequence[Held], running: set[str]
) -> str:
    if now:
        return _interruption_sentences(found, design, now)
    if not running:
        return "Nothing runs at this instant."
    limits = named([one.bottleneck for one in held if one.bottleneck.what != "compute"], design)
    active = [_title(found, name) for name in found.metrics if name in running]
    names = _list_text(active)
    if not limits:
        parts = _processors(held, design)
        verb = ("computes" if parts else "runs") if len(active) == 1 else ("compute" if parts else "run")
        where, them = f" on {parts}" if parts else "", "it" if len(active) == 1 else "them"
        return f"{names} {verb}{where}; no link limits {them} now."
    limit = " and ".join((limits[0].title, *(one.in_sentence for one in limits[1:_NAMED])))
    verb = "limit" if len(limits) > 1 else "limits"
    return f"{limit} {verb} {continued(names)} now."


def _interruption_sentences(found: Simulation, design: Design, now: Sequence[Interruption]) -> str:
    """Which workloads wait or are slower, and for what."""
    first = now[0]
    same = [one for one in now if (one.cause, one.what, one.begin) == (first.cause, first.what, first.begin)]
    names = [_title(found, name) for name in dict.fromkeys(one.program for one in same)]
    who, what, since = _list_text(names), name_of(design, first.what), _time(first.begin)
    one = len(names) == 1
    if first.cause is Cause.CUT:
        return f"{who} {'waits' if one else 'wait'}: {what} failed at {since}."
    if first.cause is Cause.NARROWED:
        left = numbers.percent(first.left)
        return f"{who} {'is' if one else 'are'} slower: {what} has {left} of its rate since {since}."
    if first.cause is Cause.STUN:
        return f"{who} {'waits' if one else 'wait'} while {what} is paused to move."
    then = f" {'It continues' if one else 'They continue'} at {_time(first.end)}." if first.end < found.run.end else ""
    return f"{who} stopped at {since}{f', because {what} failed' if what else ''}.{then}"


def name_of(design: Design, path: str) -> str:
    """A part or link that something happened to, as the drawing names it."""
    a, dash, b = path.rpartition("/")[2].partition("--")
    if not dash:
        return link_title(design, path)
    within = path.rpartition("/")[0]
    ends = (part_title(design, f"{within}/{end}" if within else end) for end in (a, b.partition(":")[0]))
    return f"the link {' – '.join(ends)}"


def _figures(frames: Frames, moment: float) -> tuple[Figure, ...]:
    busy = busy_at(frames, moment)
    figures = [Figure("", "Time", _time(moment), note=f"of {numbers.shown(frames.end, 's', exact=True)}")]
    if not math.isnan(busy):
        figures.append(Figure("", "Processors busy now", numbers.percent(busy)))
    return tuple(figures)


def _stacks(found: Simulation) -> tuple[Stack, ...]:
    """Of each workload what it takes alone and what the others add."""
    stacks: list[Stack] = []
    for name, metrics in found.metrics.items():
        alone = found.alone.get(name, {})
        key = next((key for key in _COMPARED if key in metrics and key in alone), "")
        if not key or not alone[key] or len(found.metrics) < 2:
            continue
        value, unit, what = metrics[key].value, metrics[key].unit, counted_by(key)
        if times_better(key, value, alone[key]) < 1 + _SEEN:
            continue
        before = figure_text(key, alone[key], unit, what)
        total = f"{figure_text(key, value, unit, what)}, {numbers.gain(value / alone[key])}"
        shares = (
            Share("alone", before, alone[key] / value),
            Share("added by the others", figure_text(key, value - alone[key], unit, what), 1 - alone[key] / value),
        )
        stacks.append(Stack(f"{_title(found, name)}, {continued(metric_title(key))}", total, shares))
    return tuple(stacks)


def _limits(held: Sequence[Held], design: Design) -> tuple[Limit, ...]:
    found = named([one.bottleneck for one in held if one.bottleneck.what != "compute"], design)
    ids = {one.bottleneck.id: one.equal for one in held}
    limits = [
        Limit("now", one.title, one.detail, ids=tuple(k for i in one.ids for k in (ids.get(i) or (i,))))
        for one in found[:_LIMITS]
    ]
    if not limits and (parts := _processors(held, design)):
        engines = tuple(k for one in held for k in (one.equal or (one.bottleneck.id,)))
        limits = [Limit("now", opened(parts.removeprefix("the ")), "each at its own speed", ids=engines)]
    return tuple(limits)


def _processors(held: Sequence[Held], design: Design) -> str:
    """What computes, in words: ``the GPUs``; empty where nothing does."""
    kinds = dict.fromkeys(part_words(design, one.bottleneck.id) for one in held if one.bottleneck.what == "compute")
    return " and ".join(f"the {several(kind)}" for kind in kinds if kind != "part")


def _events(found: Simulation, frames: Frames, design: Design) -> Table | None:
    """What hit workloads and when, and the end of the run."""
    rows: dict[tuple[float, str], None] = {}
    for one in frames.interruptions:
        what = opened(name_of(design, one.what)) if one.what else _title(found, one.program)
        text = {
            Cause.CUT: f"{what} fails",
            Cause.NARROWED: f"{what} falls to {numbers.percent(one.left)}",
            Cause.STUN: f"{what} is paused",
            Cause.FAILURE: f"{what} fails",
        }[one.cause]
        rows[one.begin, text] = None
        if one.end < found.run.end:
            rows[one.end, f"{_title(found, one.program)} continues"] = None
    if not rows:
        return None
    rows[found.run.end, "End"] = None
    ordered = sorted(rows, key=lambda row: row[0])
    return Table("Events", (Column("Time", True), Column("Event")), tuple((_time(at), text) for at, text in ordered))


def _list_text(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"

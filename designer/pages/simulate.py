"""The page of a simulation: what each workload comes to next to the others, and what it loses to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from designer.analysis.simulation import Meeting, Simulation
from designer.design.document import Design
from designer.families.serving.request_log import logs_of
from designer.findings import Finding
from designer.pages.workload import remarks
from designer.present import numbers
from designer.present.answer import figure_text
from designer.present.blocks import Change, Column, Limit, Page, State, Table, Tone
from designer.present.limits import named, with_gains
from designer.present.words import continued, counted_by, metric_title
from designer.workload.metrics import times_better

#: slower by less than this share is not stated [1]
_SEEN: Final = 0.005
#: figures of a workload, those first that say most about it
_FIRST: Final = (
    "step_time",
    "tokens_per_second",
    "samples_per_second",
    "ttft_p95",
    "latency_p95",
    "evacuation_time",
    "migration_time",
    "communication_time",
    "transfer_time",
    "rate",
)
_SENTENCES: Final = {
    "step_time": "A step takes {}",
    "tokens_per_second": "Processes {}",
    "samples_per_second": "Processes {}",
    "ttft_p95": "95% of first tokens come within {}",
    "latency_p95": "95% of answers are complete within {}",
    "evacuation_time": "Empties the host in {}",
    "migration_time": "Moves in {}",
    "communication_time": "Takes {}",
    "transfer_time": "Takes {}",
    "rate": "Moves {}",
}
_MOST: Final = 3
#: workloads whose limits are listed, and letters of their names
_LIMITS, _WHEN = 4, 24


def page_of_simulation(
    found: Simulation,
    design: Design,
    file: str = "DESIGN",
    findings: tuple[Finding, ...] = (),
    options: Sequence[str] = (),
    *,
    traced: bool = False,
) -> Page:
    """The page of what a simulation came to.

    Parameters
    ----------
    options
        Arguments of the run that a command which repeats it needs: starts, its end, failures.
    traced
        True if a trace was written: no command that writes one is proposed.
    """
    names = list(found.metrics)
    titles = {name: found.titles.get(name) or name for name in names}
    rows: list[tuple[str, ...]] = []
    for name, metrics in found.metrics.items():
        order = {key: at for at, key in enumerate(_FIRST)}
        for key in sorted(metrics, key=lambda key: order.get(key, len(order)))[:_MOST]:
            m = metrics[key]
            alone = found.alone.get(name, {}).get(key)
            other = figure_text(key, alone, m.unit, counted_by(key)) if alone is not None and len(names) > 1 else ""
            rows.append((titles[name], metric_title(key), figure_text(key, m.value, m.unit, counted_by(key)), other))
    heads = [Column("Workload"), Column("Figure"), Column("Value", True), Column("Alone", True)]
    if not any(row[3] for row in rows):
        heads, rows = heads[:3], [row[:3] for row in rows]
    limits = _limits(found, design, titles)
    trace = tuple(word for name in names for word in ("--workload", name))
    changes = (
        Change(
            "What happens when",
            command=("simulate", file, *trace, *options, "--trace", "trace.json"),
            place="time",
            tone=Tone.PLAIN,
        ),
    )
    return Page(
        f"{_listed([titles[name] for name in names])}, on {design.title or design.name}",
        State.ANSWERED,
        _headline(found, titles),
        table=Table("", tuple(heads), tuple(rows)),
        limits=limits,
        changes=() if traced else changes,
        remarks=(*_sample(found), *remarks(findings, design)),
        more="All figures, what met and what failed",
        key=names[0] if names else "",
    )


def _sample(found: Simulation) -> tuple[str, ...]:
    """What figures are taken from that differ from those of ``analyze``."""
    fails = any("ettr" in metrics for metrics in found.metrics.values())
    drawn = "Effective time counts the failures drawn in this run; analyze gives the mean of long runs."
    own = (drawn,) if fails else ()
    answered = sum(int((log.run.done <= found.run.end).sum()) for log in logs_of(found.run).values())
    if not answered:
        return own
    count, time = numbers.counted(answered, "request"), numbers.shown(found.run.end, "s", exact=True)
    return (
        *own,
        f"Latencies are those of {count} that all replicas answered within {time}; "
        "analyze gives those of the slowest replica over a longer run.",
    )


def losses(found: Simulation) -> list[str]:
    """What workloads lose to each other, the most first: one sentence each."""
    met = sorted((m for m in found.meetings if m.times > 1 + _SEEN), key=lambda m: -m.times)
    return [_loss(found, m) for m in met]


def _loss(found: Simulation, met: Meeting) -> str:
    slow, by = found.titles.get(met.workload) or met.workload, found.titles.get(met.by) or met.by
    now, alone = _took(found, met)
    if now and alone:
        per = " per step" if met.metric == "step_time" or not met.metric else ""
        return f"{slow} needs {now}{per} instead of {alone}, because it waits for {continued(by)}."
    return f"{slow} takes {numbers.digits(met.times)} times as long while {continued(by)} runs."


def _headline(found: Simulation, titles: dict[str, str]) -> str:
    time = numbers.shown(found.run.end, "s", exact=True)
    if lost := losses(found):
        return lost[0]
    if slowed := _slowed(found):
        name, key = slowed
        m = found.metrics[name][key]
        now, alone = (figure_text(key, value, m.unit, counted_by(key)) for value in (m.value, found.alone[name][key]))
        return f"{titles[name]} comes to {now} instead of {alone}, because it shares with the rest."
    if len(titles) > 1:
        return f"{numbers.counted(len(titles), 'workload')} run for {time} without slowing each other down."
    name = next(iter(titles), "")
    metrics = found.metrics.get(name, {})
    key = next((key for key in _FIRST if key in metrics), next(iter(metrics), ""))
    if not key:
        return f"{time} simulated; nothing was completed."
    m = metrics[key]
    stated = _SENTENCES.get(key, f"{metric_title(key)} {{}}").format(figure_text(key, m.value, m.unit, counted_by(key)))
    return f"{stated}; {time} simulated." if found.run.end > 0 else f"{stated}."


def _slowed(found: Simulation) -> tuple[str, str] | None:
    """The workload and figure that lose most to the others; None where no figure of the page loses what is seen."""
    losses: dict[tuple[str, str], float] = {}
    for name, metrics in found.metrics.items():
        alone = found.alone.get(name, {})
        for key in _FIRST:
            if key in metrics and key in alone:
                losses[name, key] = times_better(key, metrics[key].value, alone[key])
    worst = max(losses, key=lambda one: losses[one], default=None)
    return worst if worst is not None and losses[worst] > 1 + _SEEN else None


def _took(found: Simulation, met: Meeting) -> tuple[str, str]:
    """What a workload takes next to the others and alone, as texts; empty where it is not one figure."""
    metrics, alone = found.metrics.get(met.workload, {}), found.alone.get(met.workload, {})
    key = met.metric or next((k for k in _FIRST if k in metrics and k in alone), "")
    if key not in metrics or key not in alone:
        return "", ""
    m = metrics[key]
    return figure_text(key, m.value, m.unit, counted_by(key)), figure_text(key, alone[key], m.unit, counted_by(key))


def _limits(found: Simulation, design: Design, titles: dict[str, str]) -> tuple[Limit, ...]:
    """What limits each workload with the others; of one alone without its name."""
    limits: list[Limit] = []
    for name, binding in found.binding.items():
        for one in with_gains(named(binding.together or binding.alone, design))[:1]:
            gain = numbers.gain(one.gain) if one.gain is not None else ""
            when = titles.get(name, name) if len(found.binding) > 1 else "now"
            limits.append(
                Limit(when if len(when) <= _WHEN else f"{when[: _WHEN - 1]}…", one.title, one.detail, gain, one.ids)
            )
    return tuple(limits[:_LIMITS])


def _listed(names: list[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"

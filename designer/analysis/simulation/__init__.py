"""Workloads of a design over time, together on one network: what each comes to, and what it loses to the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from designer.analysis.simulation.jobs import (
    in_its_cadence,
    job_of_workload,
    machines_of,
    named_workloads,
    parts_in_turns,
    recovering,
    with_neighbours,
)
from designer.analysis.simulation.meetings import (
    MEETING_LIMIT,
    WORTH_TOLERANCE,
    Binding,
    Meeting,
    Shift,
    meetings_of,
    met,
    phases_of,
    proposed,
    shifts_of,
)
from designer.analysis.simulation.rerouting import Failure, changes_of_links, changes_of_parts, rerouted, still_down
from designer.design.document import Design
from designer.displayed import Displayed
from designer.engine.accelerators import memory_of
from designer.engine.clock.jobs import Changes, Job, goes_on, job_of
from designer.engine.clock.measures import (
    GROUPS_LIMIT,
    UNTIL,
    Answer,
    answer,
    answer_of,
    bands_of,
    main_metric,
    settling,
    values_of,
)
from designer.engine.clock.player import EVENTS_LIMIT, play
from designer.engine.clock.run import Run
from designer.engine.clock.settled import settled
from designer.engine.costs import Prices
from designer.engine.machines.guest_network import partitioned_network
from designer.engine.network import build_network
from designer.errors import AnalysisError
from designer.families.serving.clocked import ENGINE_START
from designer.families.serving.request_log import RequestLog
from designer.families.serving.user_impact import Felt
from designer.findings import Finding, Severity
from designer.sources import Constant, Estimate, Status
from designer.units import format_quantity
from designer.workload.kind import workload_kinds
from designer.workload.program import Program

#: memory that is full to the last byte is not too full
_ROUNDING_TOLERANCE: Final = 1e-9
#: runs that explaining a program takes, about
_TRIES_LIMIT: Final = 50
#: events of a first look at how long a run is
_PROBE_LIMIT: Final = 5_000
#: later than this a second has too few digits left for the steps of a job [s]
LATEST: Final = Constant(1e9, 1e8, 1e10, "flows-numerics", Status.ASSUMED, "s", "some thirty years: 10 us are resolved")


@dataclass(frozen=True, slots=True, eq=False)
class Simulation(Displayed):
    """Workloads over time.

    Parameters
    ----------
    metrics
        By workload, as it runs with the others.
    alone
        The values of the same metrics without the others.
    slow_down
        By workload: its main time next to the others ÷ alone [1].
    meetings
        What jobs lose to each of the others.
    shifts
        Later starts that would make periodic jobs faster.
    felt
        What users of served models felt of each of the others.
    binding
        What binds each program: alone, with the others, and when.
    """

    name: str
    file: str | None
    run: Run
    metrics: Mapping[str, Mapping[str, Estimate]]
    alone: Mapping[str, Mapping[str, float]]
    slow_down: Mapping[str, float]
    meetings: tuple[Meeting, ...]
    shifts: tuple[Shift, ...]
    findings: tuple[Finding, ...]
    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    felt: tuple[Felt, ...] = ()
    binding: Mapping[str, Binding] = field(default_factory=dict[str, Binding])


def simulate(
    design: Design,
    workloads: Sequence[str] | None = None,
    *,
    until: float | None = None,
    starts: Mapping[str, float] | None = None,
    failures: Sequence[Failure] = (),
    programs: Sequence[Program] = (),
    shifts: bool = False,
    bands: bool = True,
    file: str | None = None,
    progress: Callable[[float, str], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Simulation:
    """Run workloads of a design together over time.

    Parameters
    ----------
    workloads
        Ids of workloads of the design, or one id; by default the one it opens with, or the first that runs over time.
        Those that a workload names as running with it are run as well.
    until
        When to end [s]; by default when all is done, or after a minute where something goes on for ever.
    starts
        When workloads begin, by id [s].
    failures
        What fails or degrades.
    programs
        More to run with them.
    shifts
        True to look for later starts of periodic jobs that remove collisions.
    bands
        True to work out bands of the metrics.

    Raises
    ------
    AnalysisError
        If a workload is unknown, runs nothing over time, or cannot be run on this drawing.
    Cancelled
        If `cancelled` says so.
    """
    stated = progress or _silent
    _in_reach([("until", until), *(starts or {}).items(), *((f.path, f.at) for f in failures)])
    network = partitioned_network(build_network(design))
    specs = with_neighbours(design, named_workloads(design, workloads, bool(programs)))
    begins = dict(starts or {})
    jobs = [job_of_workload(spec, begins.pop(spec.id, None)) for spec in specs] + [
        job_of(program) for program in programs
    ]
    jobs = [recovering(network, job, failures) for job in jobs]
    jobs = [in_its_cadence(network, job, cancelled) for job in jobs]
    prices = Prices(network, machines_of(network, jobs), parts_in_turns(network, jobs))
    jobs = [rerouted(prices, job, failures, cancelled) for job in jobs] if failures else jobs
    if begins:
        raise AnalysisError(
            f"{next(iter(begins))!r} has a start and is not run",
            place="start",
            remedy=f"run: {', '.join(job.name for job in jobs)}",
        )
    stated(0.0, "running")
    changes = Changes(
        events=tuple(c for failure in failures for c in changes_of_links(network, failure)),
        parts=tuple(c for failure in failures for c in changes_of_parts(network, failure)),
    )
    # streams of one instant need no time at all: what goes on for ever is what has many items
    going_on = any(job.program is not None and goes_on(job.program) for job in jobs)
    end = until if until is not None else (UNTIL.value + max(j.start for j in jobs) if going_on else math.inf)
    # alone and whole, the question is that of ``analyze``
    steady = until is None and not failures and len(jobs) == 1
    run, end, short = _within_reason(prices, jobs, changes, end, bands, steady, stated, cancelled)
    stated(0.5, "each alone")
    alone, slow, runs = _run_alone(prices, jobs, run, changes, end, cancelled)
    metrics: dict[str, Mapping[str, Estimate]] = {}
    binding: dict[str, Binding] = {}
    for k, job in enumerate(jobs):
        stated((1 + k / len(jobs)) / 2, f"what binds {job.name}")
        by_itself = _explained_alone(prices, job, runs[job.name], bands, failures, cancelled)
        stated((1 + (k + 0.5) / len(jobs)) / 2, f"bands of {job.name}")
        metrics[job.name], binding[job.name] = _with_others(
            prices, jobs, job, run, by_itself, steady, changes, end, bands, cancelled
        )
        if by_itself is not None and steady:
            alone[job.name] = {name: m.value for name, m in metrics[job.name].items()}
    stated(1.0, "shifts")
    found = shifts_of(prices, jobs, cancelled) if shifts and len(jobs) > 1 else ()
    names = [job.name for job in jobs]

    def without(name: str) -> Run | None:
        if len(jobs) == 2:
            return runs[names[1 - names.index(name)]]
        if len(jobs) == 1 or len(jobs) > MEETING_LIMIT:
            return None
        stated(0.5, f"without {name}")
        others = [job for job in jobs if job.name != name]
        return play(prices, others, until=end, changes=changes, cancelled=cancelled)

    meetings, feelings = meetings_of(run, jobs, without)
    findings = (
        *(f for f in run.findings if short is None or f.code != short.code),
        *([short] if short is not None else ()),
        *still_down(jobs, run, failures),
        *_memory_findings(run),
        *_too_short(jobs, metrics, run),
        *_start_times(jobs, run),
        *_slowdown_findings(slow),
        *met(meetings),
        *proposed(found),
    )
    stated(1.0, "done")
    titles = {spec.id: spec.title or workload_kinds()[spec.kind].title for spec in specs}
    return Simulation(
        design.name, file, run, metrics, alone, slow, meetings, found, findings, titles, feelings, binding
    )


def _within_reason(
    prices: Prices,
    jobs: Sequence[Job],
    changes: Changes,
    end: float,
    bands: bool,
    steady: bool,
    stated: Callable[[float, str], None],
    cancelled: Callable[[], bool] | None,
) -> tuple[Run, float, Finding | None]:
    """The run of all together, when it ended, and what to say if that is sooner than asked.

    Each of the other runs, for bands and alone, is as long as this one: all of them together have one budget of events.
    """
    run = play(prices, jobs, until=end, changes=changes, cancelled=cancelled, most_events=_PROBE_LIMIT)
    if not run.cut:
        return run, end, None
    runs = _runs(prices, jobs, bands, run, steady)
    most = max(_PROBE_LIMIT, EVENTS_LIMIT // runs)
    in_all = run.events * (end / run.end) if run.end > 0 else math.inf
    known = f"{in_all:.1g} events" if math.isfinite(in_all) else "no known end"
    stated(0.0, f"{known} × {runs} runs, {most:,} each at most")
    if most > run.events:
        run = play(prices, jobs, until=end, changes=changes, cancelled=cancelled, most_events=most)
    if not run.cut:
        return run, end, None
    asked = f" of {format_quantity(end, 'duration')}" if math.isfinite(end) else ""
    text = f"ended at {format_quantity(run.end, 'duration')}{asked} after {run.events:,} events"
    many = f": bands and workloads alone take {runs} such runs, of {EVENTS_LIMIT:,} events together at most"
    fewer = ", run fewer workloads together, or leave out bands (--no-bands)"
    text, remedy = text + (many if runs > 1 else ""), "simulate a shorter time" + (fewer if runs > 1 else "")
    return run, run.end, Finding("CLOCK-LONG", Severity.WARNING, text, (), remedy)


def _runs(prices: Prices, jobs: Sequence[Job], bands: bool, run: Run, steady: bool) -> int:
    """How many runs an answer takes: together, each alone, without each, and at both ends of each band.

    Parameters
    ----------
    steady
        True where what a program comes to alone is the answer: one that settles itself has its band from that.
    """
    count = 1 + (len(jobs) if len(jobs) > 1 else 0) + (len(jobs) if 2 < len(jobs) <= MEETING_LIMIT else 0)
    for job in jobs if bands else ():
        if steady and job.program is not None and _needs_no_run(prices, job, job.program):
            continue
        steps = job.program.steps if job.program is not None else ()
        groups = list(bands_of(prices, [step.task for step in steps], run).values())
        count += sum(len({band.low, band.high} - {1.0}) for band in groups[:GROUPS_LIMIT])
    return count


def _in_reach(times: Sequence[tuple[str, float | None]]) -> None:
    """Refuse times at which the clock could not distinguish one step from the next."""
    for place, time in times:
        if time is not None and LATEST.value < time < math.inf:
            text = f"{time:g} s is later than the clock can separate steps"
            raise AnalysisError(text, place=place, remedy=f"give {LATEST.value:g} s at most")


def _silent(share: float, text: str) -> None:
    """Progress that is not reported."""


def _run_alone(
    prices: Prices,
    jobs: Sequence[Job],
    run: Run,
    changes: Changes,
    end: float,
    cancelled: Callable[[], bool] | None,
) -> tuple[dict[str, dict[str, float]], dict[str, float], dict[str, Run]]:
    alone: dict[str, dict[str, float]] = {}
    runs: dict[str, Run] = {}
    slow: dict[str, float] = {}
    for job in jobs:
        together = values_of(run, job)
        one = run if len(jobs) == 1 else play(prices, [job], until=end, changes=changes, cancelled=cancelled)
        runs[job.name] = one
        values = alone[job.name] = values_of(one, job)
        name = main_metric(job)
        if len(jobs) > 1 and name in together and values.get(name, 0.0) > 0:
            slow[job.name] = together[name] / values[name]
        elif len(jobs) > 1 and together.get("rate") and values.get("rate"):
            slow[job.name] = values["rate"] / together["rate"]
    return alone, slow, runs


def _needs_no_run(prices: Prices, job: Job, program: Program) -> bool:
    """True if what a program comes to alone is known without the clock."""
    return settling(prices, job) is not None or settled(prices, program, job.place) is not None


def _explained_alone(
    prices: Prices,
    job: Job,
    run: Run,
    explained: bool,
    failures: Sequence[Failure],
    cancelled: Callable[[], bool] | None,
) -> Answer | None:
    """The answer of a program alone, as ``analyze`` gives it; None where that would take long."""
    program = job.program
    if program is None or failures or not run.tasks:
        return None
    if settling(prices, job) is None:
        if not explained or job.name in run.requests:
            return None
        if run.events > EVENTS_LIMIT // _TRIES_LIMIT and not _needs_no_run(prices, job, program):
            return None
    return answer(prices, job, explained=explained, cancelled=cancelled)


def _with_others(
    prices: Prices,
    jobs: Sequence[Job],
    job: Job,
    run: Run,
    alone: Answer | None,
    steady: bool,
    changes: Changes,
    end: float,
    bands: bool,
    cancelled: Callable[[], bool] | None,
) -> tuple[Mapping[str, Estimate], Binding]:
    """Metrics of a program and what binds it; gains with the others where the runs that they take are not too long.

    Parameters
    ----------
    steady
        True where what it comes to alone is the answer.
    """
    program = job.program
    assert program is not None
    first = alone.bottlenecks(program) if alone is not None else ((), ())
    phases = phases_of(run, jobs, job)
    if alone is not None and steady:
        names = {measure.name for measure in program.measures}
        return {n: m for n, m in alone.metrics.items() if n in names}, Binding(*first, *first, phases)

    def run_with(asked: Changes) -> Run:
        changed = replace(changes, slower=asked.slower, wider=asked.wider)
        return play(prices, jobs, until=end, changes=changed, cancelled=cancelled)

    single = alone is not None and len(jobs) == 1
    few = run.events * len(jobs) <= EVENTS_LIMIT // _TRIES_LIMIT and job.name not in run.requests
    found = answer_of(prices, job, run, run_with, bands=bands, explained=bands and few and not single)
    if single:
        return found.metrics, Binding(*first, *first, phases)
    if bands and few:
        return found.metrics, Binding(*first, *found.bottlenecks(program), phases)
    whole = max(phases, key=lambda phase: phase.end - phase.begin, default=None)
    return found.metrics, Binding(*first, whole.binding if whole is not None else (), (), phases)


def _memory_findings(run: Run) -> list[Finding]:
    """Memory that programs want together and a part does not have."""
    if len(run.holds) < 2:
        return []
    network = run.table.network
    wanted: dict[int, dict[str, float]] = {}
    for name, held in run.holds.items():
        for part, size in held.items():
            wanted.setdefault(part, {})[name] = size
    found: list[Finding] = []
    for part, each in wanted.items():
        if len(each) < 2:
            continue
        room = memory_of(network, part)
        if 0 < room < sum(each.values()) * (1 - _ROUNDING_TOLERANCE):
            sizes = ", ".join(f"{name} {format_quantity(size, 'size')}" for name, size in each.items())
            path = network.net.path(part)
            text = f"{path} has {format_quantity(room, 'size')}, its programs want more together: {sizes}"
            remedy = "give each a part of the memory (memory_share, part), or accelerators of their own"
            found.append(Finding("CLOCK-MEMORY", Severity.ERROR, text, (path,), remedy))
            break
    return found


def _too_short(jobs: Sequence[Job], metrics: Mapping[str, Mapping[str, Estimate]], run: Run) -> list[Finding]:
    """Metrics that cannot be read yet."""
    found: list[Finding] = []
    for job in jobs:
        asked = job.program.measures if job.program is not None else ()
        log = run.requests.get(job.name)
        if log is not None and (log.saturated or (log.readings.values and not isinstance(log, RequestLog))):
            continue
        missing = [measure.name for measure in asked if measure.name not in metrics[job.name]]
        if missing:
            names = ", ".join(name.replace("_", " ") for name in missing)
            text = f"{names} of {job.name} not known after {run.end:g} s"
            found.append(Finding("CLOCK-SHORT", Severity.WARNING, text, (), "simulate a longer time"))
    return found


def _start_times(jobs: Sequence[Job], run: Run) -> list[Finding]:
    """From when on engines that start cold answer."""
    found: list[Finding] = []
    for job in jobs:
        starts = [t for t in run.tasks if t.program == job.name and t.step == ENGINE_START and t.done]
        if starts and job.name in run.requests:
            ready = max(t.ended for t in starts)
            text = (
                f"{job.name} answers from {format_quantity(ready, 'duration')} on: until then its weights are loaded "
            )
            text += "and its engine starts, and requests wait"
            found.append(Finding("CLOCK-COLD", Severity.INFO, text, (), "read percentiles of a longer time, or warm"))
    return found


def _slowdown_findings(slow: Mapping[str, float]) -> list[Finding]:
    return [
        Finding(
            "CLOCK-SLOWED", Severity.INFO, f"{name} takes {times:.2f} times as long with the others running", (), ""
        )
        for name, times in slow.items()
        if times > WORTH_TOLERANCE
    ]

"""``designer simulate``: workloads over time, together; a trace of all that happens."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from designer import atomic
from designer.analysis.simulation import simulate
from designer.analysis.simulation.replay import replay
from designer.analysis.simulation.rerouting import Failure
from designer.cli.command import Command
from designer.cli.decision_documents import busiest, simulation_document
from designer.cli.design import add_design, opened
from designer.cli.output import finding_dict, print_findings, print_json, progress_bar, shown_file, table
from designer.cli.pages import add_page_options, print_page
from designer.engine.clock.interruptions import interruptions
from designer.errors import DesignerError, ExchangeError, UnitError, raised_in
from designer.findings import Severity
from designer.pages.simulate import page_of_simulation
from designer.report.run_power import run_power
from designer.report.traces import chrome_trace, csv_trace
from designer.units import format_quantity, format_si, parse_duration
from designer.workload.job_lists import read_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from designer.analysis.simulation import Simulation
    from designer.analysis.simulation.replay import Replay
    from designer.report.run_power import UnitPower
    from designer.sources import Estimate

#: less of a slow-down is not stated
_SEEN = 0.005
#: so many of what held programs up are listed
_SHOWN = 20
#: and so much of what binds in one phase
_BINDING = 3
_MORE = (
    "A trace ends in .json (Chrome and Perfetto read it) or .csv (one task a line).\n"
    "What fails is a link or part, as analyze --json names it: its path, :ab or :ba after it for one direction.\n\n"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument("--workload", metavar="ID", action="append", help="run this one; may be given again")
    parser.add_argument("--until", metavar="T", help='end at this time, for example "10 min"')
    parser.add_argument("--start", metavar="ID=T", action="append", default=[], help='begin one later: "move=60 s"')
    parser.add_argument("--fail", metavar="PATH=T", action="append", default=[], help="it fails at this time")
    parser.add_argument("--mend", metavar="PATH=T", action="append", default=[], help="it works again from then on")
    parser.add_argument("--shifts", action="store_true", help="look for starts that keep jobs out of each other's way")
    parser.add_argument("--no-bands", action="store_true", help="values alone: many runs fewer, so longer times")
    parser.add_argument("--jobs", metavar="FILE", help="replay a job list of Philly, Helios or Acme, first come first")
    parser.add_argument("--trace", metavar="OUT", help="write what happened: OUT.json or OUT.csv")
    parser.add_argument("--power", action="store_true", help="what servers and racks draw over time, and in the trace")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """Simulate workloads."""

    until = _time(options.until, "--until") if options.until else None
    if options.jobs:
        return _replay(options, until)
    starts = dict(_pair(text, "--start") for text in options.start)
    failures = [Failure(*_pair(text, "--fail")) for text in options.fail]
    failures += [Failure(*_pair(text, "--mend"), share=1.0) for text in options.mend]
    trace = Path(options.trace) if options.trace is not None else None
    if trace is not None:
        _check(trace)
    loaded = opened(options)
    with raised_in(file=options.design):
        found = simulate(
            loaded.design,
            options.workload,
            until=until,
            starts=starts,
            failures=failures,
            shifts=options.shifts,
            bands=not options.no_bands,
            file=shown_file(options.design),
            progress=progress_bar(),
        )
    power = run_power(loaded.design, found) if options.power else ()
    if trace is not None:
        _write(found, trace, power)
    findings = [*loaded.findings, *found.findings]
    if options.json:
        document = simulation_document(found, findings, not options.no_bands)
        print_json(document | ({"power": [power_document(one) for one in power]} if options.power else {}))
    else:

        def rest() -> None:
            print(f"{loaded.design.title or loaded.design.name}\n")
            _print(found, not options.no_bands)
            print_findings(findings)

        given = [*(["--until", options.until] if options.until else [])]
        for name in ("start", "fail", "mend"):
            given += [word for text in getattr(options, name) for word in (f"--{name}", text)]
        print_page(
            lambda: page_of_simulation(
                found, loaded.design, options.design, tuple(findings), given, traced=trace is not None
            ),
            options,
            rest,
        )
        if options.power:
            _print_power(power)
    return 1 if any(f.severity is Severity.ERROR for f in findings) else 0


def power_document(found: UnitPower) -> dict[str, Any]:
    """The JSON of what a server or a rack draws over a run."""
    return {
        "name": found.name,
        "kind": found.kind,
        **{
            name: {"value": m.value, "low": m.low, "high": m.high, "unit": m.unit, "sources": list(m.sources)}
            for name, m in (("mean", found.mean), ("peak", found.peak))
        },
        "swing": found.swing,
        "rises": found.rises,
        "feeds": found.feeds or None,
    }


def _print_power(power: Sequence[UnitPower]) -> None:
    """One line for each unit: mean and peak with their bands, how far it swings, and what feeds it."""
    if not power:
        print("\nNo accelerator states a power.")
        return

    def banded(m: Estimate) -> str:
        return f"{format_si(m.value, 'W')} ({format_si(m.low, 'W')} – {format_si(m.high, 'W')})"

    rows = [
        (
            one.name,
            banded(one.mean),
            banded(one.peak),
            format_si(one.swing, "W"),
            f"{one.rises:,}",
            format_si(one.feeds, "W") if one.feeds else "",
        )
        for one in power[:_SHOWN]
    ]
    more = [(f"and {len(power) - _SHOWN:,} more", "", "", "", "", "")] if len(power) > _SHOWN else []
    print(
        "\n" + table(("power", "mean", "peak", "swing", "rises", "shelves or feeds"), [*rows, *more], (1, 2, 3, 4, 5))
    )


def _replay(options: argparse.Namespace, until: float | None) -> int:
    """Replay a job list."""

    given = [
        name
        for name in ("workload", "start", "fail", "mend", "shifts", "no_bands", "trace", "power")
        if getattr(options, name)
    ]
    if given:
        raise DesignerError(
            f"--jobs together with --{given[0].replace('_', '-')}", place="--jobs", remedy="replay a job list by itself"
        )
    listed = read_jobs(Path(options.jobs))
    loaded = opened(options)
    with raised_in(file=options.design):
        end = math.inf if until is None else until
        found = replay(loaded.design, listed, until=end, file=shown_file(options.design), progress=progress_bar())
    findings = [*loaded.findings, *found.findings]
    if options.json:
        print_json(replay_document(found, findings))
    else:
        print(f"{loaded.design.title or loaded.design.name}\n")
        _print_replay(found)
        print_findings(findings)
    return 1 if any(f.severity is Severity.ERROR for f in findings) else 0


def replay_document(found: Replay, findings: list[Any]) -> dict[str, Any]:
    """The JSON of a replay."""

    return {
        "design": {"name": found.design, "file": found.file},
        "jobs": {
            "file": found.listed.name,
            "format": found.listed.format,
            "listed": len(found.listed.jobs),
            "started": len(found.runs),
            "waiting": found.waiting,
        },
        "end": found.end,
        "metrics": {
            key: {"value": m.value, "unit": m.unit, "low": m.low, "high": m.high, "sources": list(m.sources)}
            for key, m in found.metrics.items()
        },
        "by_size": [dict(zip([c.name for c in found.table.columns], row, strict=True)) for row in found.table.rows],
        "findings": [finding_dict(f) for f in findings],
    }


def _print_replay(found: Replay) -> None:
    print(
        f"{len(found.runs):,} of {len(found.listed.jobs):,} jobs ({found.listed.format}) on {found.gpus:,} "
        f"accelerators of {found.servers:,} servers, {format_quantity(found.end, 'duration')}\n"
    )
    rows = [(key, format_si(m.value, m.unit), m.note) for key, m in found.metrics.items()]
    print(table(("metric", "value", ""), rows, (1,)))
    sizes = [
        (str(row[0]), f"{row[1]:.0f}", *(format_si(float(time or 0.0), "s") for time in row[2:]))
        for row in found.table.rows
    ]
    print("\n" + table(tuple(c.name for c in found.table.columns), sizes, (1, 2, 3, 4)))


def _time(text: str, place: str) -> float:
    try:
        value = float(parse_duration(text))
    except UnitError as error:
        remedy = 'write for example "10 min" or "2 s"'
        raise UnitError(error.text.partition(" — ")[0], place=place, remedy=remedy) from None
    if value < 0:
        raise UnitError(f"{text!r} is negative", place=place, remedy="give 0 s or later")
    return value


def _pair(text: str, place: str) -> tuple[str, float]:
    name, found, time = text.rpartition("=")
    if not found or not name:
        example = "h2d=60 s" if place == "--start" else "gpu0=60 s"
        raise UnitError(f"{text!r} is no name with a time", place=place, remedy=f'write for example "{example}"')
    return name, _time(time, place)


def _check(trace: Path) -> None:
    if trace.suffix not in (".json", ".csv"):
        raise ExchangeError(f"a trace called {trace.name}", place="--trace", remedy="let it end in .json or .csv")
    if not trace.parent.is_dir():
        raise ExchangeError(f"there is no folder {trace.parent}", place="--trace", remedy="make it, or name another")
    if trace.exists() and not trace.is_file():
        raise ExchangeError(f"{trace} is no file", place="--trace", remedy="name a file")


def _write(found: Simulation, trace: Path, power: Sequence[UnitPower]) -> None:
    text = chrome_trace(found.run, power) if trace.suffix == ".json" else csv_trace(found.run)
    atomic.write(trace, text.encode("utf-8", "replace"))


def _print(found: Simulation, bands: bool) -> None:
    run = found.run
    print(f"{format_quantity(run.end, 'duration')} simulated, {run.events:,} events\n")
    rows: list[tuple[str, ...]] = []
    for name, metrics in found.metrics.items():
        for key, m in metrics.items():
            alone = found.alone.get(name, {}).get(key)
            slower = f"{m.value / alone:.2f}×" if alone and name in found.slow_down else ""
            band = f"{format_si(m.low, m.unit)} – {format_si(m.high, m.unit)}" if bands else "–"
            rows.append((name, key, format_si(m.value, m.unit), band, slower))
    print(table(("workload", "metric", "value", "80% band", "of alone"), rows, (2,)))
    held = [
        (
            name,
            format_si(phase.begin, "s"),
            format_si(phase.end, "s"),
            b.label,
            f"{b.share:.0%}",
        )
        for name, binding in found.binding.items()
        for phase in binding.phases
        for b in phase.binding[:_BINDING]
    ]
    if held:
        print("\n" + table(("workload", "from", "to", "bound by", "of the time"), held, (1, 2, 4)))
    met = [
        (
            f"{m.workload} {m.metric}".strip(),
            m.by,
            f"{m.times:.2f}×",
            format_si(m.begin, "s"),
            format_si(m.seconds, "s"),
        )
        for m in sorted(found.meetings, key=lambda m: -m.times)
        if m.times > 1 + _SEEN
    ]
    if met:
        print("\n" + table(("slowed", "by", "takes", "from", "for"), met, (2, 3, 4)))
    for one in found.felt:
        rows = [
            (name, *(format_si(times[name], "s") if name in times else "–" for times in (one.during, one.outside)))
            for name in one.during
        ]
        if one.outside and rows:
            print(f"\n{one.workload} while {one.by} runs, {one.requests:,} requests:")
            print(table(("percentile", "meanwhile", "otherwise"), rows, (1, 2)))
    hit = [
        (one.program, str(one.cause), one.what, format_si(one.begin, "s"), format_si(one.end - one.begin, "s"))
        for one in interruptions(run)
    ]
    if hit:
        more = [("", f"and {len(hit) - _SHOWN:,} more", "", "", "")] if len(hit) > _SHOWN else []
        print("\n" + table(("held up", "by", "what", "from", "for"), [*hit[:_SHOWN], *more], (3, 4)))
    counts = [(name, str(len(times)), format_si(times[-1], "s")) for name, times in run.marks.items()]
    if counts:
        print("\n" + table(("step", "ended", "last at"), counts, (1, 2)))
    rows = [(bound.label, f"{share:.0%}") for bound, share in busiest(found)]
    if rows:
        print("\n" + table(("busiest", "mean"), rows, (1,)))


COMMAND = Command(
    "simulate",
    "Run workloads over time, together on one network: what each comes to, and what it loses to the others.",
    'designer simulate hgx-h100-8 --workload resnet-50 --until "10 s" --trace step.json',
    add_arguments,
    run,
    _MORE,
)

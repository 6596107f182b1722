"""``designer watch``: measured counters of a running machine next to what its drawing predicts."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any, Final

from designer import atomic
from designer.cli.command import Command
from designer.cli.design import add_design, opened
from designer.cli.output import print_json, print_written, table
from designer.cli.pages import add_page_options, print_page
from designer.decisions.watching import UNITS, Counter, watch_over
from designer.errors import FormatError, UnitError, raised_as
from designer.pages.watch import page_of_watch
from designer.units import format_si, parse_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from designer.decisions.watching import Watch, Watched

#: rows that are printed
_MOST: Final = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument("--workload", metavar="ID", help="what runs; the design's default workload if left out")
    parser.add_argument("--prometheus", metavar="URL", help="server to ask, as http://prometheus:9090")
    parser.add_argument("--record", metavar="FILE", help="recording to read instead of a server")
    parser.add_argument("--window", metavar="TIME", default="5m", help="mean over this time (5m)")
    parser.add_argument(
        "--at", metavar="SECONDS", type=float, help="end of the window, seconds since 1970; now, or the last recorded"
    )
    parser.add_argument("--since", metavar="TIME", help='record so far back, such as "1 h", to replay it')
    parser.add_argument("--step", metavar="TIME", default="1 min", help="time between two instants of that (1 min)")
    parser.add_argument("--hosts", metavar="FILE", help="a line a node: its name in the design, and in the counters")
    parser.add_argument("--save", metavar="FILE", help="write what was measured as a recording")
    parser.add_argument("--force", action="store_true", help="replace the recording if it exists")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """Print what is not as it should be, and what was compared. Exit code 1 where something is odd."""
    from pathlib import Path

    from designer.interchange.counters import ask, ask_over, dumps, load_all, read_hosts

    if bool(options.prometheus) == bool(options.record):
        raise FormatError("name one source of counters", place="--prometheus", remedy="give --prometheus or --record")
    design = opened(options).design
    if options.record:
        if options.since:
            raise FormatError("a recording has its own times", place="--since", remedy="leave it out, or give --at")
        instants = load_all(Path(options.record))
    elif options.since:
        span, step = (_seconds(text, place) for text, place in ((options.since, "--since"), (options.step, "--step")))
        instants = ask_over(options.prometheus, options.window, span, step, options.at)
    else:
        instants = (ask(options.prometheus, options.window, options.at),)
    if options.save:
        target = Path(options.save)
        if target.exists() and not options.force:
            raise FormatError("the file exists already", file=options.save, remedy="choose another name or add --force")
        notes = atomic.write(target, dumps(*instants).encode())
        if not options.json:
            print_written(options.save, notes)
    if options.record and options.at is not None:
        instants = (min(instants, key=lambda one: abs(one.time - options.at)),)
    counters = [[Counter(r.name, r.host, r.device, r.value) for r in one.readings] for one in instants]
    workload = options.workload or design.default_workload
    hosts = read_hosts(Path(options.hosts)) if options.hosts else None
    judged = watch_over(design, workload, counters, hosts)
    found, times = judged[-1], [one.time for one in instants]
    if options.json:
        over = {"instants": [_instant(at, one) for at, one in zip(times, judged, strict=True)]} if times[1:] else {}
        print_json(_document(workload, found) | over)
    else:
        print_page(lambda: page_of_watch(found, workload, design, options.design), options, lambda: _print(found))
        if times[1:]:
            _print_over(times, judged)
    return 1 if found.odd else 0


def _seconds(text: str, place: str) -> float:
    with raised_as(UnitError, place, of=UnitError):
        return float(parse_duration(text))


def _instant(at: float, found: Watch) -> dict[str, Any]:
    """What was not as it should be at a time."""
    return {"time": at, "common": dict(found.common), "odd": [row.path for row in found.odd]}


def _print_over(times: Sequence[float], judged: Sequence[Watch]) -> None:
    """One line for each time at which something else was odd, and the last."""
    rows: list[tuple[str, ...]] = []
    last: tuple[str, ...] | None = None
    for at, one in zip(times, judged, strict=True):
        odd = tuple(dict.fromkeys(row.path for row in one.odd))
        if odd == last and at != times[-1]:
            continue
        last = odd
        worst = f"{odd[0]}, {one.odd[0].ratio:.0%} of its equals" if odd else "all as their equals"
        clock = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
        rows.append((clock, f"{len(odd):,}", worst))
    print("\n" + table(("from", "odd", "the farthest"), rows[-_MOST:], (1,)))


def _row(row: Watched) -> dict[str, Any]:
    return {
        "counter": row.name,
        "host": row.host,
        "where": row.path,
        "link": row.link,
        "measured": row.measured,
        "predicted": row.predicted,
        "unit": UNITS[row.name],
        "ratio": row.ratio,
        "odd": row.odd,
    }


def _document(workload: str, found: Watch) -> dict[str, Any]:
    return {
        "workload": workload,
        "rows": [_row(row) for row in found.rows],
        "common": dict(found.common),
        "odd": [row.path for row in found.odd],
        "unknown": list(found.unknown),
    }


def _print(found: Watch) -> None:
    for name, share in found.common.items():
        own = [r for r in found.rows if r.name == name]
        if own and own[0].predicted is not None:
            print(f"{name}: {len(own)} devices, in the middle {share:.0%} of what is predicted")
        elif own:
            print(f"{name}: {len(own)} devices, compared with each other")
    if not found.odd:
        print("every device does as its equals do")
    else:
        rows = [
            (
                row.path,
                row.name,
                format_si(row.measured, UNITS[row.name]),
                format_si(row.predicted, UNITS[row.name]) if row.predicted is not None else "",
                f"{row.ratio:.0%}",
            )
            for row in found.odd[:_MOST]
        ]
        print("\nnot as it should be:")
        print(table(("device", "counter", "measured", "predicted", "of its equals"), rows, (2, 3, 4)))
    if found.unknown:
        more = f" and {len(found.unknown) - 3} more" if len(found.unknown) > 3 else ""
        print(f"not on the drawing: {', '.join(found.unknown[:3])}{more}")


COMMAND = Command(
    "watch",
    "Measured counters of a running machine (Prometheus) next to what its drawing predicts.",
    "designer watch pod.design.json --prometheus http://prometheus:9090 --workload all-reduce",
    add_arguments,
    run,
)

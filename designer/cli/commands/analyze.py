"""``designer analyze``: route, allocate, estimate; names the binding link."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from designer.cli.command import Command
from designer.cli.design import add_design, opened
from designer.cli.documents import analysis_document
from designer.cli.output import paragraph, print_findings, print_json, progress_bar, shown_file, table
from designer.cli.pages import add_page_options, print_page
from designer.errors import raised_in
from designer.findings import Severity
from designer.units import format_quantity, format_si

if TYPE_CHECKING:
    from collections.abc import Sequence

    from designer.decisions.fitting import FittingSettings
    from designer.decisions.suggest import Suggestions
    from designer.design.document import Design
    from designer.engine.results import Analysis, Bottleneck, Table, WorkloadResult
    from designer.findings import Finding
    from designer.present.blocks import Page
    from designer.report.names import Naming

#: so many channels are stated, the busiest
_CHANNELS_SHOWN = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument("--workload", metavar="ID", action="append", help="only this workload; may be given again")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.add_argument("--channels", metavar="N", type=int, help="at most this many channels in the JSON, as listed")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """Analyse a design."""
    from designer.checks.analysing import analyze

    loaded = opened(options)
    with raised_in(file=options.design):
        found = analyze(
            loaded.design, options.workload, file=shown_file(options.design), curves=False, progress=progress_bar()
        )
    findings = [*loaded.findings, *found.findings, *(f for w in found.workloads for f in w.findings)]
    if options.json:
        print_json(analysis_document(found, findings, options.channels))
    else:
        _print(options, loaded.design, found, findings)
    return 1 if any(f.severity is Severity.ERROR for f in findings) else 0


def _print(options: argparse.Namespace, design: Design, found: Analysis, findings: Sequence[Finding]) -> None:
    """The page of the answer, of several workloads an overview; everything where that is wanted."""
    from designer.pages.workload import overview, page_of
    from designer.report.names import Naming

    def page() -> Page:
        of_design = tuple(f for f in findings if not any(f in w.findings for w in found.workloads))
        alone = len(found.workloads) == 1
        pages = [
            page_of(
                w,
                design,
                options.design,
                fitting=_settings_that_fit(design, w),
                findings=of_design,
                helps=_change_that_helps(design, w, len(found.channels)) if alone else None,
            )
            for w in found.workloads
        ]
        return pages[0] if len(pages) == 1 else overview(pages, design, options.design)

    def rest() -> None:
        named = Naming(design)
        print(f"{design.title or design.name}\n")
        if not found.workloads:
            print("no workloads: add one in the window, or to the design file")
        for result in found.workloads:
            _print_workload(result, named)
        _print_channels(found, named)
        print_findings(findings, named=named)

    print_page(page, options, rest)


def _settings_that_fit(design: Design, result: WorkloadResult) -> tuple[FittingSettings, ...]:
    """Settings with which a workload fits that does not."""
    if result.unfit is None:
        return ()
    from designer.decisions.fitting import fitting_settings

    return fitting_settings(design, result.id)


def _change_that_helps(design: Design, result: WorkloadResult, channels: int) -> Suggestions | None:
    """The change that helps a workload; None where the search takes longer than one waits for an answer."""
    from designer.decisions.suggest import QUICK_CHANNELS, best_single_change
    from designer.errors import DesignerError

    if channels > QUICK_CHANNELS or result.unfit is not None or result.kind == "serving":
        return None
    try:
        return best_single_change(design, result.id, result)
    except DesignerError:
        # nothing that counts, or no search for this kind of workload
        return None


def _print_workload(result: WorkloadResult, named: Naming) -> None:
    print(f"{result.title}  ({result.id})")
    # metrics of one workload rest on the same few sets of sources: each set is stated once, below
    marks = {
        sources: chr(ord("a") + k)
        for k, sources in enumerate(dict.fromkeys(m.sources for m in result.metrics.values()))
    }
    rows: list[tuple[str, ...]] = []
    for name, m in result.metrics.items():
        band = f"{format_si(m.low, m.unit)} – {format_si(m.high, m.unit)}"
        rows.append((name, format_si(m.value, m.unit), band, marks[m.sources], named(m.note)))
    print(table(("metric", "value", "80% band", "from", "how"), rows, margin="  "))
    for sources, mark in marks.items():
        print(paragraph(f"  from {mark}: ", ", ".join(sources) or "the design alone"))
    for title, bottlenecks in (("binding", result.binding), ("next", result.next)):
        _print_bottlenecks(title, bottlenecks, named, _metric_that_gains(result))
    for stated in result.tables.values():
        _print_table(stated, named)
    print()


def _print_table(stated: Table, named: Naming) -> None:
    """Rows with their units; empty columns are left out."""

    if not stated.rows:
        return
    kept = [i for i in range(len(stated.columns)) if any(row[i] is not None for row in stated.rows)]
    rows = [
        tuple(
            ""
            if (cell := row[i]) is None
            else named(cell)
            if isinstance(cell, str)
            else format_si(cell, stated.columns[i].unit or "1")
            for i in kept
        )
        for row in stated.rows
    ]
    numbers = tuple(at for at, i in enumerate(kept) if stated.columns[i].unit)
    print(f"\n  {stated.title}")
    print(table([stated.columns[i].name for i in kept], rows, numbers, margin="  "))


def _metric_that_gains(result: WorkloadResult) -> str:
    """What gains, where that is not the whole: of flows at different rates the slowest."""
    rates = [flow.rate for flow in result.flows] if result.kind == "transfer" else []
    return " for the slowest flow" if rates and max(rates) > min(rates) * (1 + 1e-6) else ""


def _print_bottlenecks(title: str, bottlenecks: tuple[Bottleneck, ...], named: Naming, gaining: str) -> None:
    """Bottlenecks, those that read the same on one line."""

    if len(bottlenecks) == 0:
        return
    joint = bottlenecks[0].gain_together
    several = len(bottlenecks) > 1 or bottlenecks[0].equal > 1
    gain = f"   (all together twice as wide: {joint:.2f}×{gaining})" if joint is not None and several else ""
    print(f"  {title}:{gain}")
    lines: dict[tuple[str, str, float | None], list[Bottleneck]] = {}
    for bottleneck in bottlenecks:
        lines.setdefault((bottleneck.what, bottleneck.why, bottleneck.gain_if_doubled), []).append(bottleneck)
    for (_, why, alone), equal in list(lines.items())[:8]:
        more = sum(b.equal for b in equal) - 1
        gain = f" (this one twice as wide: {alone:.2f}×{gaining})" if alone is not None else ""
        # what is no channel is stated in words, with paths in them
        label = named.way(equal[0].label) if equal[0].what == "channel" else named(equal[0].label)
        text = f"{label}{f' and {more:,} like it' if more else ''}: {named(why)}{gain}"
        print(paragraph("    ", text, "      "))
    if len(lines) > 8:
        print(f"    … and {len(lines) - 8} more")


def _print_channels(found: Analysis, named: Naming) -> None:
    from designer.engine.routes.channel_rows import fullest

    loaded = fullest(found.channels, _CHANNELS_SHOWN)
    if not loaded:
        return
    rows: list[tuple[str, ...]] = []
    for c in loaded:
        capacity, load = format_quantity(c.capacity, "rate"), format_quantity(c.load, "rate")
        rows.append(
            (f"{named.way(c.source)} → {named.way(c.target)}", c.kind, capacity, load, f"{c.utilization:.0%}", c.status)
        )
    print("busiest channels")
    print(table(("channel", "kind", "raw", "load", "busy", "how sure"), rows, (2, 3, 4), margin="  "))


COMMAND = Command(
    "analyze",
    "Route, allocate, estimate; names the binding link and the next one.",
    "designer analyze hgx-h100-8 --workload h2d",
    add_arguments,
    run,
)

"""Requirements and assumptions: what is wanted, what is taken for granted, and whether it is met."""

from __future__ import annotations

import re

from designer.catalog.parttype import part_kinds, value_of
from designer.present import numbers
from designer.present.words import counted_by
from designer.report.chapter import ChapterKind, metric_title, muted, strong, sure, text
from designer.report.charts.strip import margin_strip
from designer.report.document import Align, Block, Cell, Chapter, Follows, Head, Row, Table, rich
from designer.report.inventory import bundles
from designer.report.subject import Context, Subject, Target
from designer.report.verdicts import written
from designer.report.wording import DASH, NBSP, continued, counted, ends, in_words, line_rate, quantity, sentence
from designer.sources import Status

_SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "<": "<", ">": ">"}
_MOST = 14
#: dimensions whose values are written as everywhere; sizes and rates stay in the units of their sources
_SHOWN = {"power": "W", "mass": "kg", "duration": "s"}
#: microseconds, as files spell them
_MICRO = re.compile(r"\bus\b")


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where nothing is wanted and nothing assumed."""
    blocks: list[Block] = []
    if subject.targets:
        blocks.append(_requirements(subject))
    assumed = _assumptions(subject)
    if assumed:
        blocks.append(_assumption_table(assumed))
    if not blocks:
        return None
    missed = [t for t in subject.targets if t.verdict is not None and not t.verdict.good]
    blocks.append(_next_steps(subject, missed, assumed))
    return Chapter(
        context.key("requirements", subject),
        "Requirements and assumptions",
        _title(subject, missed, assumed),
        "What is wanted, taken for granted, and met?",
        tuple(blocks),
        rich("A verdict is read from the band, not from the value: met is the whole band on the good side."),
        context.lettered(subject),
    )


def _requirements(subject: Subject) -> Table:
    """Each target with its estimate, margin and verdict."""
    rows: list[Row] = []
    for t in subject.targets:
        strip: Cell = ()
        if t.found is not None and t.verdict is not None and t.value > 0:
            strip = margin_strip(t.found, t.comparison, t.value, t.verdict)
        what = counted_by(t.metric, subject.design.workloads.get(t.workload))
        asked = numbers.shown(t.value, t.unit, what, exact=True).replace(" ", NBSP)
        wanted = f"{_SIGNS[t.comparison]}{NBSP}{asked}" if t.verdict else t.note
        found = quantity(t.found.value, t.found.unit, what) if t.found is not None else "–"
        band = DASH.join(ends(t.found)) if t.found is not None and t.found.low < t.found.high else ""
        rows.append(
            Row(
                (
                    text(t.number, "strong"),
                    rich(t.title, *muted(f" {metric_title(t.metric)}")),
                    text(wanted),
                    strong(found),
                    muted(band),
                    strip,
                    rich(written(t.verdict)) if t.verdict else muted("not judged"),
                )
            )
        )
    r = Align.RIGHT
    heads = (
        Head("No."),
        Head("Requirement"),
        Head("Target", r),
        Head("Estimate", r),
        Head("80% band", r),
        Head("Worse · target · better"),
        Head("Verdict"),
    )
    note = rich("Strips share one scale of margin: black is the target, light the band, right of it is good.")
    return Table("Requirements", heads, tuple(rows), note=note)


def _assumption_table(assumed: list[Row]) -> Table:
    """The assumptions that touch most."""
    heads = (
        Head("Assumption"),
        Head("Value"),
        Head("Of how many", Align.RIGHT),
        Head("How sure"),
        Head("Confirm by"),
    )
    more = len(assumed) - _MOST
    aside = f"the first {_MOST} of {len(assumed)}" if more > 0 else ""
    return Table("Assumptions", heads, tuple(assumed[:_MOST]), aside)


def _title(subject: Subject, missed: list[Target], assumed: list[Row]) -> str:
    """How many targets are met; without targets, how much is assumed."""
    targets = subject.targets
    good = [t for t in targets if t.verdict is not None and t.verdict.good]
    if targets:
        title = (
            f"{sentence(in_words(len(good), 'target'))} of {len(targets)} {'is' if len(good) == 1 else 'are'} met or"
            " likely"
        )
        title += f"; {missed[0].title} misses {metric_title(missed[0].metric)}" if missed else ""
    else:
        title = (
            f"No target is set; {in_words(len(assumed), 'value')} of the drawing {'is' if len(assumed) == 1 else 'are'}"
            " taken for granted"
        )
    return title


def _next_steps(subject: Subject, missed: list[Target], assumed: list[Row]) -> Follows:
    """What to work on, write down and confirm."""
    follows = []
    if missed:
        follows.append(
            rich(
                f"Work on {', '.join(t.number for t in missed)} first: chapters on data paths and training say what"
                " lifts them."
            )
        )
    if not subject.targets:
        follows.append(
            rich(
                "Write down what the machine must reach, as assertions of the design or targets in the settings of the"
                " report: then every figure gets a verdict."
            )
        )
    if assumed:
        follows.append(rich("Confirm the assumed values before the order; each one changes what rests on it."))
    return Follows(tuple(follows))


def _assumptions(subject: Subject) -> list[Row]:
    """Values of parts and links in use that are assumed or not verified; those that touch most first."""
    found: list[tuple[int, Row]] = []
    for b in bundles(subject.stock):
        if not b.status.is_sure:
            cells = (
                strong(f"Rate of {b.name}"),
                text(line_rate(b.rate)),
                text(counted(b.cables, "cable")),
                sure(b.status),
                muted("the order, or the port list of the switch"),
            )
            found.append((10_000 + b.cables, Row(cells)))
    net = subject.stock.net
    seen: set[tuple[str, str]] = set()
    counts: dict[int, int] = {}
    for k in net.part_def.tolist() if net.n_parts < 200_000 else net.part_def[:200_000].tolist():
        counts[k] = counts.get(k, 0) + 1
    of_type: dict[str, int] = {}
    for k, n in counts.items():
        of_type[net.part_defs[k].type] = of_type.get(net.part_defs[k].type, 0) + n
    for part in net.part_defs:
        part_type = subject.design.type_of(part)
        values = {**(part_type.values if part_type is not None else {}), **part.overrides}
        for name, quantity_ in values.items():
            if quantity_.status is not Status.ASSUMED or (part.type, name) in seen:
                continue
            seen.add((part.type, name))
            kind = part_kinds().get(part.kind)
            field = kind.field(name) if kind is not None else None
            unit = _SHOWN.get(field.dimension) if field is not None else None
            value = value_of(part.kind, name, quantity_) if unit is not None else None
            written_so = _MICRO.sub("µs", str(quantity_.value))
            stated = numbers.shown(value, unit, exact=True) if value is not None and unit is not None else written_so
            cells = (
                strong(f"{subject.stock.title(part)}: {continued(field.title) if field else name.replace('_', ' ')}"),
                text(stated.replace(" ", NBSP)),
                text(f"{of_type.get(part.type, 1):,}"),
                sure(quantity_.status),
                muted("a data sheet or a measurement"),
            )
            found.append((of_type.get(part.type, 1), Row(cells)))
    return [row for _, row in sorted(found, key=lambda one: -one[0])]


CHAPTER = ChapterKind("requirements", "Requirements and assumptions", 10, of_design=build)

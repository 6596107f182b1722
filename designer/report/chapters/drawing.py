"""Logical drawing: what is connected, how loaded it is, and the fabrics with their port counts."""

from __future__ import annotations

from designer.catalog.parttype import part_kinds
from designer.engine.results import WorkloadResult
from designer.present.limits import short_of
from designer.report.chapter import ChapterKind, muted, strong, sure, text
from designer.report.design_picture import loaded_picture
from designer.report.document import Align, Block, Chapter, Drawing, Follows, Head, Row, Table, rich
from designer.report.inventory import bundles, gathered, group_name, ports_used
from designer.report.subject import Context, Subject
from designer.report.wording import continued, counted, in_words, line_rate, listed, percent, sentence

#: rows of the table of ports
_MOST_SWITCHES = 14


def build(context: Context, subject: Subject) -> Chapter:
    """The chapter."""
    shown = _drawn_workload(subject)
    together, cables = gathered(subject.stock)
    blocks: list[Block] = [
        Drawing(
            loaded_picture(context, subject, shown),
            f"Drawing of {subject.name}" + (f" with the load of {shown.title} on every link" if shown else ""),
            note=(
                rich("Colour is load ÷ achievable rate; width is capacity; dashed capacities are assumed.")
                if shown
                else ()
            ),
        )
    ]
    if cables:
        rows = [
            Row(
                (
                    strong(sentence(b.name)),
                    text(
                        {"infiniband": "InfiniBand", "ethernet": "Ethernet"}.get(b.definition.kind, b.definition.kind)
                    ),
                    text(f"{b.cables:,}"),
                    text(line_rate(b.rate)),
                    text(line_rate(b.rate * b.cables)),
                    sure(b.status),
                )
            )
            for b in cables
        ]
        right = Align.RIGHT
        heads = (
            Head("Between"),
            Head("Network"),
            Head("Cables", right),
            Head("Each", right),
            Head("Together", right),
            Head("How sure"),
        )
        aside = f"{len(bundles(subject.stock)):,} bundles, those between equal kinds together" if together else ""
        blocks.append(Table("Fabrics", heads, tuple(rows), aside))
    switches, kinds = _switches(subject)
    if switches:
        aside = f"the fullest {len(switches)} of {kinds} that differ" if kinds > len(switches) else ""
        heads = (
            Head("Switches"),
            Head("Model"),
            Head("Count", Align.RIGHT),
            Head("Ports used, one", Align.RIGHT),
            Head("Ports, one", Align.RIGHT),
            Head("Free", Align.RIGHT),
        )
        blocks.append(Table("Ports", heads, tuple(switches), aside))
    else:
        blocks.append(_contents_text(subject))
    blocks.append(_follows(subject, shown))
    return Chapter(
        context.key("drawing", subject),
        "Logical drawing",
        _title(subject, shown),
        "What is connected, and where is it narrow?",
        tuple(blocks),
        rich(f"Load of {shown.title} on every link." if shown else "As drawn, without load."),
        context.lettered(subject),
    )


def _drawn_workload(subject: Subject) -> WorkloadResult | None:
    """The workload whose load is drawn: the one that most of the drawing carries."""
    loads = subject.analysis.loads
    known = [w for w in subject.results if w.id in loads]
    transfers = [w for w in known if any(b.what == "channel" or b.what == "part" for b in w.binding)]
    preferred = [w for w in transfers if w.kind in ("transfer", "migration") and "storage" in w.id]
    return next(iter(preferred or transfers or known), None)


def _title(subject: Subject, shown: WorkloadResult | None) -> str:
    cables = bundles(subject.stock)
    n = sum(b.cables for b in cables)
    gpus = subject.stock.accelerators
    if shown is None or not shown.binding:
        if not gpus:
            units = sentence(in_words(_units(subject), "unit"))
            return f"{units} {'is' if _units(subject) == 1 else 'are'} {_caption(n)}"
        stand = "is" if gpus == 1 else "are"
        return f"{sentence(counted(gpus, 'accelerator'))} {stand} in {in_words(_units(subject), 'unit')} {_caption(n)}"
    name = continued(short_of(shown.binding, subject.design))
    where = f"{counted(gpus, 'GPU')}" + (f", {counted(n, 'network cable')}" if n else ", no network cable")
    return f"{where}: the narrow place is {name}"


def _caption(cables: int) -> str:
    return f"on {counted(cables, 'cable')}" if cables else "without a network cable"


def _units(subject: Subject) -> int:
    return sum(c.count for c in subject.stock.classes)


def _switches(subject: Subject) -> tuple[list[Row], int]:
    """Equal switches in one row, and how many rows there are in all: where they are too many, the fullest."""
    stock = subject.stock
    used = ports_used(stock)
    rows: dict[tuple[str, str, int, int | None], int] = {}
    for unit in stock.classes:
        if unit.part.kind != "switch":
            continue
        ports = stock.number(unit.part, "ports")
        for member in unit.members.tolist():
            key = (
                group_name(stock, member),
                stock.title(unit.part),
                used.get(member, 0),
                int(ports) if ports else None,
            )
            rows[key] = rows.get(key, 0) + 1
    found: list[Row] = []
    shown = list(rows.items())
    if len(shown) > _MOST_SWITCHES:
        # what no source gives a number of ports for may be full
        fullest = sorted(shown, key=lambda row: -(row[0][2] / row[0][3] if row[0][3] else 1.0))[:_MOST_SWITCHES]
        shown = [row for row in shown if row in fullest]
    for (name, model, busy, ports), n in shown:
        free = ports - busy if ports is not None else None
        cells = (
            strong(sentence(name)),
            text(model),
            text(f"{n:,}"),
            text(f"{busy:,}"),
            text(f"{ports:,}") if ports is not None else muted("not stated"),
            text(f"{free:,}" if free is not None else "–", "alarm" if free is not None and free < 0 else ""),
        )
        found.append(Row(cells))
    return found, len(rows)


def _contents_text(subject: Subject) -> Table:
    """What is in the drawing, where there is no network to describe."""
    rows = []
    for unit in subject.stock.classes[:6]:
        rows.append(Row((strong(subject.stock.title(unit.part)), text(f"{unit.count:,}"), ())))
        inside: dict[tuple[str, str], int] = {}
        for content in unit.contents:
            # parts that differ in a value alone are one line of what a person counts
            what = (subject.stock.title(content.part), content.part.kind)
            inside[what] = inside.get(what, 0) + content.count
        for (title, key), count in list(inside.items())[:14]:
            kind = part_kinds().get(key)
            name = (kind.title if count == 1 else kind.plural) if kind else key
            rows.append(Row((muted(title), text(f"{count * unit.count:,}"), text(name))))
    return Table("What is in it", (Head("Part"), Head("Count", Align.RIGHT), Head("Kind")), tuple(rows))


def _follows(subject: Subject, shown: WorkloadResult | None) -> Follows:
    cables = bundles(subject.stock)
    unsure = [b for b in cables if not b.status.is_sure]
    lines = []
    if unsure:
        n = sum(b.cables for b in unsure)
        lines.append(
            rich(
                f"Confirm the speed of {counted(n, 'cable')} before the order: {listed([b.name for b in unsure], 3)}"
                " rest on assumed or unverified rates."
            )
        )
    if shown is not None and shown.binding:
        fullest = subject.analysis.loads.get(shown.id)
        if fullest is not None and len(used := fullest.utilization):
            full = int((used > 0.95).sum())
            if full:
                lines.append(
                    rich(
                        f"{counted(full, 'link direction')} of {counted(len(used))} run above"
                        f" {percent(0.95)} under this load; the others have room."
                    )
                )
    if not lines:
        known = "No capacity of a cable is assumed; the drawing can be ordered from."
        lines.append(rich(known if cables else "No network cable is drawn: nothing leaves these units."))
    return Follows(tuple(lines))


CHAPTER = ChapterKind("drawing", "Logical drawing", 20, of_design=build)

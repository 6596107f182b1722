"""The page of failures: whether a single one stops a workload, and what the worst cost."""

from __future__ import annotations

import re
from typing import Final

from designer.catalog.parttype import part_kinds
from designer.decisions.failures_survey import Loss, Survey
from designer.design.channels import link_number
from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.design.naming import part_title
from designer.finding_codes import CODES
from designer.present import numbers
from designer.present.answer import make_figure
from designer.present.blocks import Change, Column, Figure, Page, State, Table, Tone
from designer.present.words import continued, counted_by, opened
from designer.sources import Estimate

#: numbers of parts, in which failures of one sort differ
_DIGITS: Final = re.compile(r"\d+")


def page_of_failures(found: Survey, design: Design, file: str = "DESIGN") -> Page:
    """The page of what `survive` found."""
    spec = design.workloads.get(found.workload)
    title = (spec.title if spec is not None else "") or found.workload
    costly = [loss for loss in found.losses if any(loss.badness)]
    worst = costly[0] if costly else None
    if found.fatal:
        head = f"{found.fatal:,} of {numbers.counted(found.failures, 'single failure')} "
        head += "stops it: " if found.fatal == 1 else "stop it, such as "
        head += f"{_name(next(loss for loss in costly if loss.stops), design)}."
    elif worst is None:
        head = f"None of {numbers.counted(found.failures, 'single failure')} costs anything."
    else:
        head = f"None of {numbers.counted(found.failures, 'single failure')} stops it. "
        head += f"The worst, {_name(worst, design)}, costs {numbers.percent(worst.lost)}."
    figures: list[Figure] = [
        make_figure(
            found.metric, Estimate.exact(found.value, found.unit), counted_by(found.metric, spec), "without a failure"
        )
    ]
    if found.gpus:
        figures.append(make_figure("mean_time_between_failures", found.between, "", "of any part"))
        hours = found.gpu_hours_per_year
        figures.append(
            Figure(
                "",
                "Cost in a year",
                numbers.digits(hours.value),
                "GPU-hours",
                "" if hours.low == hours.high else f"{numbers.digits(hours.low)}–{numbers.digits(hours.high)}",
                "",
                low=hours.low,
                at=hours.value,
                high=hours.high,
                sources=hours.sources,
            )
        )
    rows, harmless = _rows(found, design)
    heads = [
        Column("What fails"),
        Column("Such as"),
        Column("Lost", True),
        Column("Number", True),
        Column("GPUs lost", True),
    ]
    if any(row[-1] for row in rows):
        heads.append(Column("What no longer holds"))
    else:
        rows = [row[:-1] for row in rows]
    if harmless and rows:
        head += f" {harmless:,} {'costs' if harmless == 1 else 'cost'} nothing."
    again = ("survive", file, "--workload", found.workload, "--pairs", "100")
    changes = [Change("What limits it now", command=("analyze", file, "--workload", found.workload), tone=Tone.PLAIN)]
    if not found.pairs:
        changes.append(Change("Two at a time", command=again, tone=Tone.PLAIN))
    return Page(
        f"Single failures under {title}, on {design.title or design.name}",
        State.ANSWERED,
        head,
        figures=tuple(figures),
        table=Table("The worst", tuple(heads), tuple(rows)),
        changes=tuple(changes),
        remarks=_doubles(found, design),
        more="All classes of failures, and what limits then",
        key=found.workload,
    )


def _doubles(found: Survey, design: Design) -> tuple[str, ...]:
    """What two failures at once cost; nothing where none were drawn."""
    if not found.pairs:
        return ()
    stop = sum(pair.share == 0 for pair in found.pairs)
    mean = sum(min(pair.share, 1.0) for pair in found.pairs) / len(found.pairs)
    drawn = numbers.counted(len(found.pairs), "double failure")
    stated = (
        f"{stop:,} of {drawn} {'stops' if stop == 1 else 'stop'} it; {numbers.percent(1 - mean)} is lost on average."
    )
    first, second = (_link(path, design) for path in found.pairs[0].paths)
    return (f"{stated} The worst: {first}, and {second}.",)


def _name(loss: Loss, design: Design) -> str:
    kind = part_kinds().get(loss.kind)
    what = kind.title if kind is not None else loss.kind.replace("_", " ")
    if loss.count > 1:
        article = "an" if (what[:1] in "AEFHILMNORSX" and what[1:2].isupper()) or what[:1] in "aeio" else "a"
        return f"{article} {continued(what)}"
    return part_title(design, loss.path.split(":")[0]) if "--" not in loss.path else f"a {continued(what)}"


def _rows(found: Survey, design: Design) -> tuple[list[tuple[str, ...]], int]:
    """Failures that cost something, one row for each sort and cost; and how many cost nothing."""
    sorts: dict[tuple[str, ...], list[Loss]] = {}
    nothing, harmless = numbers.percent(0.0), 0
    for loss in found.losses:
        broken, lost = _broken_limits(loss, design), numbers.percent(loss.lost)
        if lost == nothing and not broken:
            harmless += loss.count
            continue
        kind = part_kinds().get(loss.kind)
        what = kind.title if kind is not None else opened(loss.kind.replace("_", " "))
        ends = _DIGITS.sub("", _link(loss.path, design))
        sort = (what, ends, "stops" if loss.stops else lost, f"{loss.gpus_lost:,}" if loss.gpus_lost else "", broken)
        sorts.setdefault(sort, []).append(loss)
    rows = [
        (what, _link(each[0].path, design), lost, f"{sum(loss.count for loss in each):,}", gpus, broken)
        for (what, _, lost, gpus, broken), each in sorts.items()
    ]
    return rows, harmless


def _broken_limits(loss: Loss, design: Design) -> str:
    """Machines without a place and limits that no longer hold after a failure; empty for none."""
    names = [design.vms[m].label if m in design.vms else m for m in loss.machines]
    restart = [f"{name} cannot restart" for name in names]
    return "; ".join((*restart, *(CODES[m].title if m in CODES else m for m in loss.limits)))


def _link(path: str, design: Design) -> str:
    head, dashes, tail = path.partition("--")
    if not dashes:
        net = elaborate(design)
        number = link_number(net, path)
        if number is None:
            return part_title(design, path)
        ends = (net.path(int(end[number])) for end in (net.link_a, net.link_b))
        return " – ".join(part_title(design, end) for end in ends)
    folder = head.rpartition("/")[0]
    return f"{part_title(design, head)} – {part_title(design, f'{folder}/{tail}' if folder else tail)}"

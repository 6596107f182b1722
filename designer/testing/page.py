"""The page of a comparison: what one design does better than another, and why."""

from __future__ import annotations

from designer.decisions.comparing import Comparison, Moved
from designer.design.document import Design, WorkloadSpec
from designer.design.naming import in_names
from designer.engine.account.worth import WORTH
from designer.present import numbers
from designer.present.answer import figure_text
from designer.present.blocks import Change, Column, Page, State, Table, Tone
from designer.present.words import counted_by, metric_title, plain
from designer.workload.metrics import is_same, times_better

#: gains below this are none [1]
_SAME = 1.005


def page_of_comparison(found: Comparison, a: Design, b: Design, files: tuple[str, str] = ("A", "B")) -> Page:
    """The page of what differs from design `a` to design `b`."""
    names = (a.title or a.name, b.title or b.name)
    main = _main_figure(found)
    titles = {w: (a.workloads[w].title if w in a.workloads else "") or w for w in main}
    gains = {
        w: times_better(m.name, m.before, m.after, a.workloads[w].kind if w in a.workloads else "")
        for w, m in main.items()
    }
    up = sorted((w for w in gains if gains[w] > _SAME), key=lambda w: -gains[w])
    down = sorted((w for w in gains if gains[w] < 1 / _SAME), key=lambda w: gains[w])
    same = len(gains) - len(up) - len(down)
    pieces = [f"{titles[w]} gains {numbers.gain(gains[w]).removeprefix('+')}" for w in up[:1]]
    pieces += [f"{titles[w]} loses {numbers.percent(1 - gains[w])}" for w in down[:1]]
    if pieces:
        head = f"With the second, {' and '.join(pieces)}."
        rest = len(up[1:]) + len(down[1:])
        if rest:
            head += f" {numbers.counted(rest, 'more workload changes', 'more workloads change')}."
        if same:
            head += f" {numbers.counted(same, 'stays', 'stay')} the same."
    elif gains:
        head = f"Both do the same: {numbers.counted(len(gains), 'workload')} with equal figures."
    else:
        head = "The designs have no workload in common."
    moved = [m for m in found.metrics if not is_same(m.before, m.after)]
    ranked = [*up, *down]
    first = sorted(
        (m for m in moved if main.get(m.workload) is m and m.workload in ranked), key=lambda m: ranked.index(m.workload)
    )
    rows = tuple(
        _row(m, titles.get(m.workload, m.workload), a.workloads.get(m.workload))
        for m in (*first, *(m for m in moved if m not in first))
    )
    heads = (
        Column("Workload"),
        Column("Figure"),
        Column("First", True),
        Column("Second", True),
        Column("Change", True),
    )
    why = tuple(f"{titles.get(m.workload, m.workload)}: {plain(_in_names(m.why, a, b))}." for m in first if m.why)[:1]
    counted = [
        f"{kind} {x:,} → {y:,}" for counts in (found.parts, found.links) for kind, (x, y) in counts.items() if x != y
    ]
    parts = (f"Numbers of parts and links: {', '.join(counted[:4])}.",) if counted else ()
    new = sum(1 for _ in found.new)
    findings = (f"{numbers.counted(new, 'finding is', 'findings are')} new in the second.",) if new else ()
    return Page(
        f"{names[0]}, and {names[1]}" if names[0] != names[1] else f"{names[0]}, as it is and changed",
        State.ANSWERED,
        head,
        table=Table("", heads, rows) if rows else None,
        changes=tuple(
            Change(f"What limits the {word}", command=("analyze", file), tone=Tone.PLAIN)
            for word, file in zip(("first", "second"), files, strict=True)
            if file not in ("A", "B")
        ),
        remarks=(*why, *parts, *findings),
        more=f"All {numbers.counted(len(found.metrics), 'figure')}, reasons and changes",
    )


def _in_names(why: str, a: Design, b: Design) -> str:
    """A reason with what held each design back as that design names it."""
    before, to, after = why.partition(" to ")
    return f"{in_names(a, before)}{to}{in_names(b, after)}"


def _main_figure(found: Comparison) -> dict[str, Moved]:
    """The figure by which each workload is compared."""
    order = {name: at for at, name in enumerate(WORTH)}
    best: dict[str, Moved] = {}
    for m in found.metrics:
        if m.name in order and (m.workload not in best or order[m.name] < order[best[m.workload].name]):
            best[m.workload] = m
    return best


def _row(m: Moved, title: str, spec: WorkloadSpec | None) -> tuple[str, ...]:
    what = counted_by(m.name, spec)
    change = m.change
    text = "" if change is None else f"{'+' if change > 0 else '−'}{numbers.percent(abs(change))}"
    if change is not None and change > 1:
        text = numbers.gain(1 + change)
    return (
        title,
        metric_title(m.name),
        figure_text(m.name, m.before, m.unit, what),
        figure_text(m.name, m.after, m.unit, what),
        text,
    )

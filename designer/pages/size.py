"""The page of a size: how many GPUs a load needs, and how many are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from designer.decisions.serving_size import Candidate, Sized
from designer.decisions.serving_ways import Pods
from designer.design.document import Design
from designer.present import numbers
from designer.present.answer import make_figure
from designer.present.blocks import Change, Column, Figure, Limit, Page, Sketch, State, Table, Tone
from designer.present.limits import named
from designer.present.sketch import captioned, sketch_of
from designer.present.targets import Target
from designer.present.words import opened, plain
from designer.sources import Estimate

if TYPE_CHECKING:
    from designer.design.edit import Edit
    from designer.families.serving.deployment import Limits


@dataclass(frozen=True, slots=True)
class Placed:
    """A layout on the drawing: the edit that draws it, the design then, and its price; or why it cannot be drawn."""

    edit: Edit | None = None
    after: Design | None = None
    price: str = ""
    refused: str = ""


def page_of_size(
    found: Sized,
    design: Design,
    title: str,
    rate: float,
    limits: Limits,
    file: str = "DESIGN",
    load: str = "",
    *,
    largest: float | None = None,
    placed: Mapping[int, Placed] | None = None,
) -> Page:
    """The page of what `size` found.

    Parameters
    ----------
    title
        The load in words.
    rate
        Requests per second asked for; 0 where the load is none of a steady rate.
    largest
        Requests per second that what is drawn serves as it is placed [1/s]; None where that was not computed.
    placed
        By the number of a candidate, how it is drawn: these become the changes.
    """
    best = found.best
    asked = numbers.shown(rate, "1/s", "requests", exact=True) if rate > 0 else "This load"
    verb = "need" if asked not in ("1 request/s", "This load") else "needs"
    if best is None:
        head = f"No number of these GPUs serves {asked[:1].lower() + asked[1:]} within its limits."
        state = State.MISSED
    else:
        gpus = numbers.counted(best.accelerators, "GPU")
        drawn = f"{found.drawn:,} {'is' if found.drawn == 1 else 'are'} drawn"
        if largest is not None:
            most = numbers.shown(largest, "1/s", "requests")
            serve = "serves" if found.drawn == 1 else "serve"
            drawn += f" and {serve} {most}" if largest > 0 else " and keep the limits at no load"
        head = f"{asked} {verb} {gpus}; {drawn}."
        state = State.MET if best.accelerators <= found.drawn else State.MISSED
        head += f" {_layout(best)}."
    changes = [_card(found, number, one, limits, design) for number, one in (placed or {}).items()]
    if placed is None and best is not None and load:
        widths = {"tensor": best.tensor}
        if isinstance(best.way, Pods):
            widths["prompt_tensor"] = best.way.prompts.split.tensor
        sets = tuple(word for name, n in widths.items() for word in ("--set", f"workloads.{load}.{name}={n}"))
        changes.append(
            Change("With this layout", command=("analyze", file, "--workload", load, *sets), tone=Tone.PLAIN)
        )
    if placed is None and load:
        changes.append(
            Change("The most these parts serve", command=("size", file, "--for", load, "--largest"), tone=Tone.PLAIN)
        )
    names = named(found.binding, design)
    rows = tuple(_row(one, best, rate) for one in found.candidates)
    is_split = best is not None and isinstance(best.way, Pods)
    heads = (
        Column("Prompts + answers" if is_split else "GPUs a replica", True),
        Column("Pods" if is_split else "Replicas", True),
        Column("GPUs", True),
        Column("First token", True),
        Column("Result"),
    )
    return Page(
        f"How many GPUs for {title}, on {design.title or design.name}",
        state,
        head,
        figures=_figures(best, limits) if best is not None else (),
        table=Table("Layouts", heads, rows),
        limits=tuple(Limit(one.phase or "now", one.title, one.detail, ids=one.ids) for one in names[:2]),
        changes_title="What to change" if placed else "What to do next",
        changes=tuple(changes),
        remarks=tuple(f"{opened(plain(f.text))}." for f in found.findings[:1]),
        more="Every layout that was tried",
        key=load,
    )


def _card(found: Sized, number: int, placed: Placed, limits: Limits, design: Design) -> Change:
    """A layout as a change: what is added, the times then, and the edit that draws it."""
    one = found.candidates[number]
    more = one.accelerators - found.drawn
    title = f"{numbers.counted(one.accelerators, 'GPU')}: {_layout(one)}"
    if placed.refused:
        return Change(title, placed.refused, tone=Tone.BAD)
    if more > 0:
        detail = f"{opened(captioned(more, 'gpu'))} more than drawn."
    else:
        detail = f"{captioned(-more, 'gpu')} stay free." if more else "All on the GPUs drawn."
    rows = tuple((f.title, " · ".join(x for x in (f.text, f.target) if x)) for f in _figures(one, limits))
    sketch = sketch_of(design, placed.after) if placed.after is not None else ()
    if more <= 0:
        sketch = (Sketch(one.accelerators, "gpu", captioned(one.accelerators, "gpu"), new=True),)
    return Change(title, detail, price=placed.price, edit=placed.edit, rows=rows, sketch=sketch)


def _figures(best: Candidate, limits: Limits) -> tuple[Figure, ...]:
    share = f"p{limits.share * 100:.0f}"
    found: list[Figure] = []
    for name, value, limit in (
        (f"ttft_{share}", best.ttft, limits.ttft),
        ("tpot", best.tpot, limits.tpot),
        (f"latency_{share}", best.latency, limits.latency),
    ):
        target = Target(name, "limit", "<=", limit) if limit else None
        found.append(make_figure(name, Estimate.exact(value, "s"), "", "", target))
    return tuple(found)


def _layout(one: Candidate) -> str:
    """A way in words: ``2 replicas on 4 GPUs each``, ``1 pod: prompts on 3 × 2 GPUs, answers on 2 × 4 GPUs``."""
    if isinstance(one.way, Pods):
        pods = numbers.counted(one.replicas, "pod")
        sides = [(one.way.engines, one.way.prompts.split.tensor), (one.way.answering, one.way.tensor)]
        prompts, answers = (f"{n} × {numbers.counted(width, 'GPU')}" for n, width in sides)
        return f"{pods}{', each with' if one.replicas > 1 else ':'} prompts on {prompts}, answers on {answers}"
    each = f"{numbers.counted(one.replicas, 'replica')} on {numbers.counted(one.tensor, 'GPU')}"
    return f"{each}{' each' if one.replicas > 1 else ''}{f', {one.choice}' if one.choice else ''}"


def _row(one: Candidate, best: Candidate | None, rate: float) -> tuple[str, ...]:
    width = f"{one.tensor}"
    if isinstance(one.way, Pods):
        width = f"{one.way.engines} × {one.way.prompts.split.tensor} + {one.way.answering} × {one.way.tensor}"
    if not one.holds:
        return (width, "", "", "", opened(plain(one.why)))
    result = opened(plain(one.why)) or "Holds the limits"
    if best is not None and one.accelerators > best.accelerators:
        result = f"{numbers.counted(one.accelerators - best.accelerators, 'GPU')} more than the smallest"
    elif rate > 0 and one.most is not None and one.cost <= (best.cost if best is not None else one.cost):
        most, low, high = one.most
        unit = "pod" if isinstance(one.way, Pods) else "replica"
        result = f"Each {unit} gets {numbers.digits(rate / one.replicas)} of {numbers.shown(most, '1/s', 'requests')}"
        result += f" ({numbers.span(most, min(low, high), max(low, high), '1/s')})" if low != high else ""
    return (width, f"{one.replicas:,}", f"{one.accelerators:,}", numbers.shown(one.ttft, "s"), result)

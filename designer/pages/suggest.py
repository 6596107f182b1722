"""The page of suggestions: the cheapest changes that make a workload faster, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from designer.decisions.suggest import Step, Suggestions
from designer.design.document import Design
from designer.design.edit import Edit
from designer.design.edits.together import Together
from designer.design.naming import in_names
from designer.engine.results import Bottleneck
from designer.present import numbers
from designer.present.answer import figure_text, make_figure
from designer.present.blocks import Change, Page, State, Tone
from designer.present.limits import limits_it, short_of
from designer.present.sketch import sketch_of
from designer.present.words import continued, counted_by, opened, plain, sentence
from designer.sources import Estimate


def page_of_suggestions(found: Suggestions, design: Design, file: str = "DESIGN") -> Page:
    """The page of what `suggest` found."""
    spec = design.workloads.get(found.workload)
    title = (spec.title if spec is not None else "") or found.workload
    what = counted_by(found.metric, spec)
    changes: list[Change] = []
    # each step starts from the design that those before it leave, so its edit contains theirs
    edits: tuple[Edit, ...] = ()
    drawn = design
    for step in found.steps:
        edits = (*edits, *step.edit.edits)
        changed = step.edit.apply(drawn)
        card = _card(found, step, what, edits)
        detail = f"{card.detail}, with the changes above" if changes else card.detail
        changes.append(replace(card, detail=detail, sketch=sketch_of(drawn, changed)))
        drawn = changed
    now = make_figure(found.metric, Estimate.exact(found.value, found.unit), what)
    if found.steps:
        last = found.steps[-1]
        gain = last.after / found.value if found.value > 0 else 1.0
        gain = 1 / gain if last.gain > 1 and 0 < gain < 1 else gain
        count = numbers.counted(len(found.steps), "change")
        reached = figure_text(found.metric, last.after, found.unit, what)
        head = f"{opened(count)} bring{'s' if len(found.steps) == 1 else ''} {reached} instead of {now.text}, "
        head += f"{numbers.gain(gain)}."
        after = _limits(last.binding, design)
        head += f" {after}" if after else ""
        apply = ("suggest", file, "--workload", found.workload, "-o", "better.design.json")
        changes.append(Change("Draw them", command=apply, tone=Tone.PLAIN))
    else:
        head = f"No change to this design helps {title}."
        changes.append(
            Change("What limits it", command=("analyze", file, "--workload", found.workload), tone=Tone.PLAIN)
        )
    return Page(
        f"What to change for {title}, on {design.title or design.name}",
        State.ANSWERED,
        head,
        figures=(now,),
        changes_title="What to change" if found.steps else "What to do next",
        changes=tuple(changes),
        remarks=(sentence(plain(in_names(design, found.stuck))),) if found.stuck and not found.steps else (),
        more="How each was found" if found.steps else "",
        key=found.workload,
    )


def change_that_helps(found: Suggestions, design: Design, file: str = "DESIGN") -> Change:
    """The first change that was found, or that there is none, for the page of the workload."""
    if not found.steps:
        return Change("No single change to parts, links or routes helps.", tone=Tone.PLAIN)
    step = found.steps[0]
    card = _card(found, step, counted_by(found.metric, design.workloads.get(found.workload)), step.edit.edits)
    return replace(card, command=("suggest", file, "--workload", found.workload), place="improve")


def _card(found: Suggestions, step: Step, what: str, edits: tuple[Edit, ...]) -> Change:
    before, after = (figure_text(found.metric, value, found.unit, what) for value in (step.before, step.after))
    return Change(
        opened("; ".join(one.words for one in step.edits)),
        f"{before} → {after}",
        gain=numbers.gain(step.gain),
        price=step.cost.text(found.currency),
        edit=Together(edits, "; ".join(one.label for one in edits)),
    )


def _limits(binding: Sequence[Bottleneck], design: Design) -> str:
    name = short_of(binding, design)
    return f"Then {continued(name)} {limits_it(name)}." if name else ""

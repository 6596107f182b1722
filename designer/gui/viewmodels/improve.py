"""Questions of the place Improve: what computes each, the page that answers it, and the words for what was drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from designer.decisions.failures_survey import survive
from designer.decisions.more_servers import place_layout
from designer.decisions.serving_size import size_serving
from designer.decisions.suggest import suggest
from designer.engine.network import build_network
from designer.errors import DesignerError
from designer.families.serving.limits import largest_load
from designer.families.serving.tasks import Serve
from designer.families.serving.widths import placed
from designer.pages.survive import page_of_failures
from designer.present import numbers
from designer.present.blocks import Page
from designer.progress import Watch
from designer.report.tables.power import draws, total
from designer.workload.kind import task_of

if TYPE_CHECKING:
    from designer.decisions.failures_survey import Survey
    from designer.decisions.serving_size import Sized
    from designer.design.document import Design, Link
    from designer.pages.size import Placed

#: layouts drawn as cards; names in a message
_CARDS: Final = 3
_NAMED: Final = 12

Cancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Answer:
    """A page, and the survey that colours the drawing where failures were asked about."""

    page: Page
    survey: Survey | None = None


def suggested(design: Design, workload: str, cancelled: Cancelled) -> Answer:
    """The cheapest changes that make a workload faster."""
    from designer.pages.suggest import page_of_suggestions

    return Answer(page_of_suggestions(suggest(design, workload, cancelled=cancelled), design))


def surveyed(design: Design, workload: str, cancelled: Cancelled) -> Answer:
    """What single failures cost a workload."""

    found = survive(design, workload, cancelled=cancelled)
    return Answer(page_of_failures(found, design), found)


def sized(design: Design, workload: str, cancelled: Cancelled) -> Answer:
    """How many GPUs a served load takes, and how to draw them.

    Raises
    ------
    AnalysisError
        If the load has no rate, or no width fits at all.
    """
    from designer.pages.size import page_of_size

    spec, place = design.workloads[workload], f"workloads.{workload}"
    served = task_of("serving", spec.settings, place, Serve)
    assert served is not None
    asked = served.operation
    network = build_network(design)
    found = size_serving(network, asked, place, Watch(cancelled=cancelled))
    steady = asked.load.kind == "rate"
    largest = None
    if steady and not asked.deployment.prompts:
        largest = largest_load(placed(network, asked, place), asked, cancelled)
    return Answer(
        page_of_size(
            found,
            design,
            spec.title or workload,
            asked.load.rate if steady else 0.0,
            asked.limits,
            load=workload,
            largest=largest,
            placed=_placed(design, workload, found),
        )
    )


def _placed(design: Design, workload: str, found: Sized) -> Mapping[int, Placed]:
    """How the smallest layouts are drawn, by their number."""
    from designer.pages.size import Placed

    made: dict[int, Placed] = {}
    now = total(draws(design, None))[0]
    for number, way in enumerate(found.candidates[:_CARDS]):
        if not way.holds:
            continue
        try:
            edit = place_layout(design, workload, way, found.drawn)
            after = edit.apply(design)
        except DesignerError as error:
            made[number] = Placed(refused=" ".join(x for x in (f"{error.text}.", error.remedy) if x))
            continue
        more = total(draws(after, None))[0] - now
        made[number] = Placed(edit, after, f"+{numbers.shown(more, 'W')} rated" if more > 0 else "")
    return made


def serves(design: Design, workload: str) -> bool:
    """True if a workload is a served model, which has a size."""
    spec = design.workloads.get(workload)
    return spec is not None and spec.kind == "serving"


def added_words(before: Design, after: Design) -> str:
    """What an edit added, by name, and how many links came with it; empty where it added nothing."""
    parts = [p.label for p in after.parts.values() if p.id not in before.parts and p.parent is None]
    parts += [p.label for p in after.parts.values() if p.id not in before.parts and p.parent in before.parts]
    members = [
        f"{g.replicas - before.groups[g.id].replicas} × {g.label}"
        for g in after.groups.values()
        if g.id in before.groups and g.replicas > before.groups[g.id].replicas
    ]
    if not parts and not members:
        return ""
    cables = [x for x in after.links.values() if x.id not in before.links and _leaves(before, x)]
    with_cables = f", with {len(cables)} link{'s' if len(cables) > 1 else ''} to what was there" if cables else ""
    return f"Added {', '.join((*parts, *members)[:_NAMED])}{with_cables}"


def _leaves(before: Design, link: Link) -> bool:
    """True of a link between something new and something old."""
    old = [end in before.parts or "/" in end for end in (link.a, link.b)]
    return old[0] != old[1]

"""How many accelerators a served load takes, and the load that those drawn serve, as rows of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from designer.gui.viewmodels.table import Cell, Column, Line
from designer.gui.viewmodels.words import sentence_case
from designer.units import format_quantity

if TYPE_CHECKING:
    from designer.decisions.serving_size import Candidate, Sized
    from designer.design.document import Design, WorkloadSpec
    from designer.design.edit import Edit
    from designer.workload.serving import Limits

COLUMNS: Final = (
    Column("Tensor parallel", number=True, width=84),
    Column("Replicas", number=True, width=80),
    Column("Accelerators", number=True, width=104),
    Column("First token", number=True, width=84, spare=True),
    Column("Per token", number=True, width=84, spare=True),
    Column("Whole answer", number=True, width=88, spare=True),
    Column("Why", width=360, spare=True),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found.

    Parameters
    ----------
    rate
        Requests a second that are asked for [1/s]; 0 for those of a trace.
    largest
        Requests a second that what is drawn, as it is placed now, serves within the limits [1/s]; None where that is
        not asked: of prompts and answers on accelerators of their own, and of a trace.
    """

    workload: str
    title: str
    found: Sized
    limits: Limits
    rate: float
    largest: float | None


def serves(design: Design, workload: str) -> bool:
    """True if a workload is a model served, so that a size can be found for it."""
    spec = design.workloads.get(workload)
    return spec is not None and spec.kind == "serving"


def sized(design: Design, workload: str, cancelled: Callable[[], bool]) -> Answer:
    """The ways to serve the load of a workload, and the largest load of what is drawn.

    Raises
    ------
    AnalysisError
        If the load has no rate, or no width fits at all.
    """
    from designer.analysis.network import build_network
    from designer.analysis.serving.limits import largest_load
    from designer.analysis.serving.placement import place_deployment
    from designer.decisions.serving_size import size_serving
    from designer.progress import Watch
    from designer.workload.kind import task_of
    from designer.workload.program.serving import Serve

    spec, place = design.workloads[workload], f"workloads.{workload}"
    served = task_of("serving", spec.settings, place, Serve)
    assert served is not None
    asked = served.operation
    network = build_network(design)
    found = size_serving(network, asked, place, Watch(cancelled=cancelled))
    largest = None
    if asked.load.kind == "rate" and not asked.deployment.prompts:
        largest = largest_load(place_deployment(network, asked.deployment, place), asked, cancelled)
    rate = asked.load.rate if asked.load.kind == "rate" else 0.0
    return Answer(workload, spec.title or workload, found, asked.limits, rate, largest)


def lines(answer: Answer) -> list[Line]:
    """A row for each way, the smallest first; its key is its number."""
    return [_line(number, way) for number, way in enumerate(answer.found.candidates)]


def _line(number: int, way: Candidate) -> Line:
    tone = "good" if number == 0 and way.holds else "" if way.holds else "muted"
    counts = (way.tensor, way.replicas, way.accelerators) if way.holds else (way.tensor, 0, 0)
    times = (way.ttft, way.tpot, way.latency)
    return Line(
        (
            *(Cell(f"{n:,}" if n else "–", n, tone=tone) for n in counts),
            *(Cell(format_quantity(t, "duration") if way.holds else "–", t if way.holds else -1.0) for t in times),
            Cell(sentence_case(way.why), way.why, tip=way.why, tone="muted"),
        ),
        number,
    )


def words(answer: Answer) -> str:
    """The answers in a sentence each."""
    best, limits = answer.found.best, answer.limits
    limited = any((limits.ttft, limits.tpot, limits.latency))
    load = f"{format_quantity(answer.rate, 'frequency')} of requests" if answer.rate else "the requests of the trace"
    kept = f", {limits.share:.0%} of them within the limits" if limited else ", without limits"
    if best is None:
        said = [f"No width serves {load}{kept}."]
    else:
        drawn = f"; {answer.found.drawn} are drawn" if best.accelerators > answer.found.drawn else ""
        said = [f"{load}{kept}: {best.needed}, {best.replicated} of {best.tensor}{drawn}."]
    if answer.largest is not None:
        most = format_quantity(answer.largest, "frequency")
        said.append(
            f"As it is placed now it serves up to {most}{' within them' if limited else ''}."
            if answer.largest > 0
            else "As it is placed now no load keeps the limits."
        )
    said += [f"{sentence_case(told.text)}." for told in answer.found.findings]
    return sentence_case(" ".join(said))


def applied(answer: Answer, number: int, design: Design) -> Edit | None:
    """The edit that places a way on the drawing, with the servers it takes; None for a way that does not hold.

    Raises
    ------
    DesignerError
        If more accelerators are needed and there is no server to add, or the workload would not use the new ones.
    """
    from designer.decisions.more_servers import more_servers
    from designer.design.edits.together import Together
    from designer.design.edits.workloads import ChangeWorkload

    ways, spec = answer.found.candidates, design.workloads.get(answer.workload)
    if spec is None or not 0 <= number < len(ways) or not ways[number].holds:
        return None
    way = ways[number]
    settings = {**spec.settings, "tensor": way.tensor, "replicas": way.replicas}
    change = ChangeWorkload(answer.workload, {"settings": settings})
    missing = way.accelerators - answer.found.drawn
    if missing <= 0:
        return change
    more = more_servers(design, missing)
    _check_used(more.apply(design), spec, way.accelerators)
    return Together((more, change), f"Add servers for {way.needed}")


def _check_used(design: Design, spec: WorkloadSpec, wanted: int) -> None:
    """Refuse servers that the workload would not run on."""
    from designer.analysis.network import build_network
    from designer.analysis.routes.selection import resolve
    from designer.errors import DocumentError

    group = str(spec.settings.get("group") or "gpus")
    if len(resolve(build_network(design), group, f"workloads.{spec.id}.group")) < wanted:
        raise DocumentError(
            f"{spec.title or spec.id} runs on {group} only, so accelerators of more servers would stay idle",
            remedy="choose gpus as its accelerators, then ask again",
        )

"""Decisions as JSON: what commands write with ``--json``, and what tools for assistants answer in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from designer.cli.documents import bottleneck_document
from designer.cli.output import finding_dict
from designer.errors import UnitError
from designer.units import parse

if TYPE_CHECKING:
    from designer.analysis.simulation import Simulation
    from designer.analysis.simulation.meetings import Binding
    from designer.contrib.proposals.results import Proposals
    from designer.decisions.failures_survey import Survey
    from designer.decisions.serving_size import Sized
    from designer.decisions.suggest import Suggestions
    from designer.report.running_cost import Hourly
    from designer.sources import Estimate


def suggestions_document(found: Suggestions) -> dict[str, Any]:
    """The JSON that scripts rely on."""
    return {
        "workload": found.workload,
        "metric": {"name": found.metric, "value": found.value, "unit": found.unit},
        "steps": [
            {
                "edits": [one.title for one in step.edits],
                "cost": {
                    "money": step.cost.money,
                    "currency": found.currency,
                    "not_in_price_list": step.cost.unpriced,
                    "ports": step.cost.ports,
                    "watts": step.cost.watts,
                },
                "lifted": [{"what": b.what, "id": b.id, "label": b.label} for b in step.lifted],
                "before": step.before,
                "after": step.after,
                "gain": step.gain,
                "binding": [{"what": b.what, "id": b.id, "label": b.label} for b in step.binding],
                "exact": step.exact,
                "considered": step.considered,
                "analysed": step.analysed,
            }
            for step in found.steps
        ],
        "stuck": found.stuck,
    }


def survey_document(found: Survey, hourly: Sequence[Hourly] = ()) -> dict[str, Any]:
    """The JSON that scripts rely on; costs in money where an hour has a price."""
    return {
        "workload": found.workload,
        "metric": {"name": found.metric, "value": found.value, "unit": found.unit},
        "failures": found.failures,
        "fatal": found.fatal,
        "harmless": found.harmless,
        "gpus": found.gpus,
        "between_failures": _estimate(found.between),
        "gpu_hours_per_year": _estimate(found.gpu_hours_per_year),
        "cost_per_year": {h.currency: found.gpu_hours_per_year.value * per_gpu(h, found) for h in hourly},
        "losses": [
            {
                "kind": x.kind,
                "example": x.path,
                "count": x.count,
                "left": x.share,
                "lost": x.lost,
                "value": x.value,
                "gpus_lost": x.gpus_lost,
                "gpus_stranded": x.gpus_stranded,
                "machines": list(x.machines),
                "limits": list(x.limits),
                "leaves_out": x.leaves_out or None,
                "gpu_hours": _estimate(x.gpu_hours),
                "cost": {h.currency: x.gpu_hours.value * per_gpu(h, found) for h in hourly},
                "why": x.binds,
            }
            for x in found.losses
        ],
        "pairs": [{"parts": list(p.paths), "left": p.share} for p in found.pairs],
        "seed": found.seed,
    }


def _estimate(found: Estimate) -> dict[str, Any]:
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "unit": found.unit,
        "sources": list(found.sources),
    }


def per_gpu(cost: Hourly, found: Survey) -> float:
    """What an hour of one accelerator costs."""
    return cost.value / found.gpus if found.gpus else 0.0


def simulation_document(found: Simulation, findings: list[Any], bands: bool = True) -> dict[str, Any]:
    """The JSON that scripts rely on; the ends of bands that were not computed are null."""
    from designer.engine.clock.interruptions import interruptions

    run = found.run
    return {
        "design": {"name": found.name, "file": found.file},
        "end": run.end,
        "done": run.done,
        "events": run.events,
        "workloads": [
            {
                "id": name,
                "title": found.titles.get(name, name),
                "metrics": {
                    key: {
                        "value": m.value,
                        "unit": m.unit,
                        "low": m.low if bands else None,
                        "high": m.high if bands else None,
                        "sources": list(m.sources),
                    }
                    for key, m in metrics.items()
                },
                "alone": dict(found.alone.get(name, {})),
                "slow_down": found.slow_down.get(name),
                **_binding_document(found.binding[name]),
            }
            for name, metrics in found.metrics.items()
        ],
        "busiest": [
            {"id": bound.id, "label": bound.label, "what": bound.what, "busy": share} for bound, share in busiest(found)
        ],
        "interruptions": [
            {
                "workload": one.program,
                "cause": str(one.cause),
                "what": one.what,
                "begin": one.begin,
                "seconds": one.end - one.begin,
                "ended": one.ended,
            }
            for one in interruptions(run)
        ],
        "marks": {name: list(times) for name, times in run.marks.items()},
        "meetings": [
            {
                "workload": m.workload,
                "by": m.by,
                "times": m.times,
                "begin": m.begin,
                "seconds": m.seconds,
                "metric": m.metric,
            }
            for m in found.meetings
        ],
        "felt": [
            {
                "workload": one.workload,
                "by": one.by,
                "begin": one.begin,
                "seconds": one.seconds,
                "requests": one.requests,
                "during": dict(one.during),
                "outside": dict(one.outside),
                "without": dict(one.without),
            }
            for one in found.felt
        ],
        "shifts": [
            {"workload": s.workload, "seconds": s.seconds, "before": s.before, "after": s.after} for s in found.shifts
        ],
        "findings": [finding_dict(f) for f in findings],
    }


def _binding_document(found: Binding) -> dict[str, Any]:
    """What binds a workload, as ``analyze`` writes it."""

    names = ("alone", "alone_next", "together", "together_next")
    phases = [
        {"begin": p.begin, "end": p.end, "binding": [bottleneck_document(b) for b in p.binding]} for p in found.phases
    ]
    return {"binding": {**{n: [bottleneck_document(b) for b in getattr(found, n)] for n in names}, "phases": phases}}


def busiest(found: Simulation, count: int = 8) -> list[tuple[Any, float]]:
    """The busiest resources on average, equivalent ones listed once, and the share of capacity each used [1]."""
    return found.run.busiest(count)


def size_document(found: Sized) -> dict[str, Any]:
    """The JSON that scripts rely on."""

    rows = [
        {
            "tensor": c.tensor,
            "with": c.choice,
            "replicas": c.replicas or None,
            "accelerators": c.accelerators or None,
            "holds": c.holds,
            "why": c.why,
            "ttft": c.ttft if c.holds else None,
            "tpot": c.tpot if c.holds else None,
            "latency": c.latency if c.holds else None,
        }
        for c in found.candidates
    ]
    binding = [{"what": b.label, "why": b.why} for b in found.binding]
    return {
        "drawn": found.drawn,
        "looked_at": found.looked,
        "best": rows[0] if found.best else None,
        "binding": binding,
        "candidates": rows,
        "findings": [finding_dict(finding) for finding in found.findings],
    }


def proposals_document(found: Proposals) -> dict[str, Any]:
    """The JSON that scripts rely on."""
    units = {m.name: m.unit for m in found.measures}
    return {
        "goal": {"kind": found.wanted.goal.kind, "settings": dict(found.wanted.goal.settings)},
        "measures": [{"name": m.name, "unit": m.unit, "more_is_better": m.more} for m in found.measures],
        "best": [
            {
                "title": one.title,
                "choices": dict(one.choices),
                "values": {
                    name: {"value": e.value, "unit": units[name], "low": e.low, "high": e.high}
                    for name, e in one.worth.values.items()
                },
                "binding": [{"what": b.what, "id": b.id, "label": b.label} for b in one.binding],
                "broken_rules": list(one.broken),
                "without_rated_power": list(one.unrated),
            }
            for one in found.best
        ],
        "designs": found.found.space,
        "worked_out": found.found.worked_out,
        "lost": [
            {
                "choices": list(one.settings),
                "designs": one.count,
                "why": one.why,
                "measure": one.measure or None,
                "by": one.by if one.why == "limit" else None,
                "better": list(one.winner) or None,
                "certain": one.certain,
                "worked_out": one.worked_out,
                "text": one.text or None,
            }
            for one in found.found.lost
        ],
        "impossible": found.impossible or None,
        "nearest": [
            {"limit": n.limit.measure, "asked": n.limit.amount, "best": n.value, "choices": list(n.point.settings)}
            for n in found.nearest
        ],
    }


def requests_per_second(settings: Mapping[str, object]) -> float:
    """Requests per second that are asked for; 0 where none are."""

    try:
        return parse(settings.get("rate", "0 1/s"), "frequency")
    except UnitError:
        return 0.0

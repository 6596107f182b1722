"""What commands answer as data: analyses and the ids of a design as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from designer.cli.output import finding_dict

if TYPE_CHECKING:
    from designer.design.document import Block
    from designer.engine.results import Analysis, Bottleneck, WorkloadResult


def analysis_document(found: Analysis, findings: list[Any], most: int | None = None) -> dict[str, Any]:
    """The JSON that scripts rely on; with at most so many channels, the busiest of a large design."""

    return {
        "design": {"name": found.name, "file": found.file},
        "workloads": [_workload(w) for w in found.workloads],
        "channels": [
            {
                "id": c.id,
                "from": c.source,
                "to": c.target,
                "kind": c.kind,
                "capacity": c.capacity,
                "load": c.load,
                "utilization": c.utilization,
                "status": c.status,
            }
            for c in (found.channels if most is None else found.channels[: max(0, most)])
        ],
        "findings": [finding_dict(f) for f in findings],
    }


def _workload(result: WorkloadResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "kind": result.kind,
        "title": result.title,
        "metrics": {
            name: {
                "value": m.value,
                "unit": m.unit,
                "low": m.low,
                "high": m.high,
                "sources": list(m.sources),
                "note": m.note,
            }
            for name, m in result.metrics.items()
        },
        "binding": [bottleneck_document(b) for b in result.binding],
        "next": [bottleneck_document(b) for b in result.next],
        "flows": [
            {
                "id": f.id,
                "from": f.source,
                "to": f.target,
                "via": list(f.via),
                "rate": f.rate,
                "low": f.low,
                "high": f.high,
                "unit": f.unit,
                "bound_by": list(f.bound_by),
            }
            for f in result.flows
        ],
        "n_flows": result.n_flows,
        "tables": {
            name: {
                "title": t.title,
                "columns": [{"name": c.name, "unit": c.unit} for c in t.columns],
                "rows": [list(row) for row in t.rows],
            }
            for name, t in result.tables.items()
        },
    }


def bottleneck_document(bottleneck: Bottleneck) -> dict[str, Any]:
    """A bottleneck as JSON."""
    return {
        "what": bottleneck.what,
        "id": bottleneck.id,
        "label": bottleneck.label,
        "why": bottleneck.why,
        "gain_if_doubled": bottleneck.gain_if_doubled,
        "gain_together": bottleneck.gain_together,
        "alike": bottleneck.equal,
    }


def ids_of(block: Block, way: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The parts, links and wirings of a block and of its groups, whose content is listed once."""
    for part in block.parts.values():
        yield way + part.id, {"what": "part", "kind": part.kind, "type": part.type}
    for link in block.links.values():
        yield way + link.id, {"what": "link", "kind": link.kind, "type": f"{link.a} – {link.b}"}
    for wiring in block.wirings.values():
        yield way + wiring.id, {"what": "wiring", "kind": wiring.kind, "type": f"{wiring.a} – {wiring.b}"}
    for group in block.groups.values():
        yield way + group.id, {"what": "group", "kind": "", "type": f"×{group.replicas}"}
        yield from ids_of(group.content, f"{way}{group.id}/")

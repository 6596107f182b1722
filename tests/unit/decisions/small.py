"""A design two links long, whose rates one works out in the head."""

from __future__ import annotations

from designer.decisions.answers import Task, make_task
from designer.design.document import Design, Link, Part, WorkloadSpec
from designer.fields import Quantity
from designer.interchange.overrides import overridden


def line(first: str = "10 GB/s", second: str = "40 GB/s", size: str = "0 B") -> Design:
    """Storage – switch – storage, and a transfer from end to end: the slower link states the rate."""
    fast = {name: Quantity(value="1 TB/s") for name in ("read_bandwidth", "write_bandwidth")}
    ends = [Part(id=name, kind="storage", overrides=fast) for name in ("a", "b")]
    parts = [*ends, Part(id="switch", kind="switch")]
    links = [
        Link(id="l1", a="a", b="switch", kind="fabric", bandwidth_per_direction=first),
        Link(id="l2", a="switch", b="b", kind="fabric", bandwidth_per_direction=second),
    ]
    job = WorkloadSpec(id="copy", kind="transfer", settings={"from": "a", "to": "b", "size": size})
    return Design.model_validate({"name": "line", "parts": parts, "links": links, "workloads": [job]})


def task(*paths: str, design: Design | None = None, metrics: tuple[str, ...] = ("rate",)) -> Task:
    """The transfer asked for its rate."""
    return make_task(design or line(), None, paths, metrics, overridden)


FIRST = "links.l1.bandwidth_per_direction"
SECOND = "links.l2.bandwidth_per_direction"

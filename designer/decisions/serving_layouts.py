"""The edit that draws a way to serve: the layout of the workload, with the servers it takes beyond those drawn."""

from __future__ import annotations

from designer.analysis.network import build_network
from designer.analysis.routes.selection import resolve
from designer.decisions.more_servers import more_servers
from designer.decisions.serving_size import Candidate
from designer.design.document import Design, WorkloadSpec
from designer.design.edit import Edit
from designer.design.edits.together import Together
from designer.design.edits.workloads import ChangeWorkload
from designer.errors import DocumentError


def place_layout(design: Design, workload: str, way: Candidate, drawn: int) -> Edit:
    """The edit that places a way to serve on the drawing.

    Parameters
    ----------
    drawn
        How many accelerators the search found drawn.

    Raises
    ------
    DocumentError
        If more accelerators are needed and there is no server to add, or the workload would not use the new ones.
    """
    spec = design.workloads[workload]
    settings = {**spec.settings, "tensor": way.tensor, "replicas": way.replicas}
    change = ChangeWorkload(workload, {"settings": settings})
    missing = way.accelerators - drawn
    if missing <= 0:
        return change
    more = more_servers(design, missing)
    _check_used(more.apply(design), spec, way.accelerators)
    return Together((more, change), f"Add servers for {way.needed}")


def _check_used(design: Design, spec: WorkloadSpec, wanted: int) -> None:
    """Refuse servers that the workload would not run on."""
    group = str(spec.settings.get("group") or "gpus")
    if len(resolve(build_network(design), group, f"workloads.{spec.id}.group")) < wanted:
        raise DocumentError(
            f"{spec.title or spec.id} runs on {group} only, so accelerators of more servers would stay idle",
            remedy="choose gpus as its accelerators, then ask again",
        )

"""The workload of a design that a name stands for."""

from __future__ import annotations

from designer.design.document import Design, WorkloadSpec
from designer.errors import AnalysisError
from designer.spelling import did_you_mean, known_name


def find_workload(design: Design, name: str, place: str = "") -> WorkloadSpec:
    """The workload of that id; letter case and ``-`` or ``_`` do not matter where only one can be meant.

    Parameters
    ----------
    place
        The option or setting that names it, for the message.

    Raises
    ------
    AnalysisError
        If there is none.
    """
    found = known_name(name, design.workloads)
    if found is None:
        known = f"its workloads: {', '.join(design.workloads)}" if design.workloads else "add one: --workload-file FILE"
        text = f"the design {design.name!r} has no workload {name!r}"
        raise AnalysisError(text, place=place or None, remedy=did_you_mean(name, design.workloads, known))
    return design.workloads[found]

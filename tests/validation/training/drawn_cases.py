"""All published training runs as a user draws them: ``python -m tests.validation.training.drawn_cases`` prints them.

Every run of `cases.json` on the server of a template, with its accelerators, as many of them as it had. What a run does
not state (PCIe slots, NICs, switches) is what the template has; the fabric between servers is the one ``servers``
makes. Hosts that no template describes take the nearest one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from designer.engine.network import Network, build_network
from designer.families.training.preparation import TrainingPlan, prepare
from designer.formulas.scoring import Scored, band_score, group_medians, macro_mean
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.workload.job_settings import job
from tests.validation.training.runs import CASES, Case, release_of, scored_step

#: name of an accelerator and how many a server has: template of the server, type of the accelerator
MACHINES: Final[Mapping[tuple[str, int], tuple[str, str]]] = {
    ("H100", 8): ("hgx-h100-8", "gpu/nvidia/h100-sxm5"),
    ("H100-PCIE", 8): ("hpe-xl675d-gen10plus", "gpu/nvidia/h100-pcie"),
    ("A100-80", 8): ("dgx-a100", "gpu/nvidia/a100-80-sxm4"),
    ("A100-80", 16): ("hgx-a100-16", "gpu/nvidia/a100-80-sxm4"),
    ("A100-40", 8): ("dgx-a100", "gpu/nvidia/a100-40-sxm4"),
    ("A100-PCIE", 8): ("hpe-xl675d-gen10plus", "gpu/nvidia/a100-80-pcie"),
    ("A30", 2): ("hpe-xl675d-gen10plus", "gpu/nvidia/a30"),
    ("RTX6000ADA", 8): ("hpe-xl675d-gen10plus", "gpu/nvidia/rtx6000ada"),
    ("V100-16", 8): ("dgx1-v100", "gpu/nvidia/v100-sxm2"),
    ("V100-32", 8): ("dgx1-v100", "gpu/nvidia/v100-sxm2-32"),
    ("V100-16", 16): ("dgx1-v100", "gpu/nvidia/v100-sxm2"),
    ("V100-SXM3", 16): ("dgx2", "gpu/nvidia/v100-sxm3-32"),
    ("P100", 8): ("dgx1-v100", "gpu/nvidia/p100-sxm2"),
    ("K80", 8): ("sm-4029gp-trt", "gpu/nvidia/k80"),
}


@cache
def network_of(machine: tuple[str, str], servers: int) -> Network:
    """The servers of a run."""
    template, part = machine
    changes: dict[str, Any] = {"parts": {"*gpu*": {"type": part}}}
    changes |= {"servers": servers} if servers > 1 else {}
    return build_network(apply_changes(open_design(template), changes, "published-runs"))


def settings_of(case: Case) -> Mapping[str, Any]:
    """The settings of the training, as a design states them."""
    return {
        "model": case["model"],
        "precision": case["format"],
        "software": case["software"],
        "release": release_of(case),
        "global_batch": case["global_batch"],
        "sequence": case.get("sequence", 1),
        "adapters": case.get("adapters", False),
        **case["layout"],
        **({"group": "gpu0"} if case["accelerators"] == 1 else {}),
    }


def plan_of(case: Case) -> TrainingPlan:
    """The run as a user draws and asks it."""
    machine = MACHINES[case["part"], case["per_server"]]
    network = network_of(machine, math.ceil(case["accelerators"] / case["per_server"]))
    return prepare(network, job(settings_of(case)), case["id"])


def scored(case: Case) -> Scored:
    """The metric of a run, predicted from the drawing against published."""
    plan = plan_of(case)
    return scored_step(case, plan.estimate(plan.ranks.costs(plan.layout)))


@cache
def points() -> Sequence[tuple[Case, Scored]]:
    """All runs."""
    return tuple((case, scored(case)) for case in CASES)


if __name__ == "__main__":
    found = [point for _, point in points()]
    for name, error in group_medians(found).items():
        sys.stdout.write(f"{name}: {error:.1%}\n")
    sys.stdout.write(f"{len(found)} points, {macro_mean(found):.1%}, bands {band_score(found).coverage:.0%}\n")

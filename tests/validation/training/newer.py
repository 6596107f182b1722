"""MLPerf Training v4.1 to v5.1, drawn as servers and racks: ``python -m tests.validation.training.newer`` prints them.

The measurements are kept outside the checkout (`tests.real.newer_measurements`). Predicted are steady rates of
runs of language models whose layout is known, in 8 or 4 bit, and of BERT, Stable Diffusion, RetinaNet,
DLRM-dcnv2 and R-GAT, which run data-parallel.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from designer.engine.network import Network, build_network
from designer.families.training.preparation import TrainingPlan, prepare
from designer.formulas.scoring import Scored, band_score, group_medians, macro_mean
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.workload.job_settings import job
from tests.real import newer_measurements

Row = Mapping[str, Any]
#: words in the name of an accelerator, the template of its server or rack, and its type
MACHINES: Final = (
    ("MI300X", "mi300x-platform", "gpu/amd/mi300x"),
    ("MI325X", "mi300x-platform", "gpu/amd/mi325x"),
    ("MI350X", "mi300x-platform", "gpu/amd/mi350x"),
    ("MI355X", "mi300x-platform", "gpu/amd/mi355x"),
    ("H200-NVL", "hgx-h100-8", "gpu/nvidia/h200-nvl"),
    ("H200", "hgx-h100-8", "gpu/nvidia/h200-sxm"),
    ("H100", "hgx-h100-8", "gpu/nvidia/h100-sxm5"),
    ("GB200", "gb200-nvl72", "gpu/nvidia/gb200"),
    ("GB300", "gb200-nvl72", "gpu/nvidia/gb300"),
    ("B300", "hgx-b200-8", "gpu/nvidia/b300"),
    ("B200", "hgx-b200-8", "gpu/nvidia/b200"),
)
MODELS: Final = {"llama2_70b_lora": "llama-2-70b", "llama31_405b": "llama-3-405b", "llama31_8b": "llama-3-8b"}
#: networks of layers that are counted, in 16 bit
NETWORKS: Final = {
    "stable_diffusion": "stable-diffusion-2",
    "retinanet": "retinanet",
    "ssd": "retinanet",
    "dlrm_dcnv2": "dlrm-dcnv2",
    "gnn": "rgat",
    "rgat": "rgat",
}
RACK_TRAYS: Final = 18


#: the month a round was handed in
ROUNDS: Final[Mapping[str, str]] = {"v4.1": "2024-10", "v5.0": "2025-05", "v5.1": "2025-10"}


class Run(NamedTuple):
    """A published run: its machine, how many servers, and the settings of the training."""

    row: Row
    machine: tuple[str, str, str]
    servers: int
    settings: Mapping[str, Any]

    @property
    def rate(self) -> float:
        """Samples per second of all accelerators.

        The programs for RetinaNet before 2025 log the rate of one accelerator: four epochs of 1,170,301 images in
        2010 s are 2329 a second where the log of eight H200 says 309.
        """
        setup, value = self.row["setup"], float(self.row["value"])
        alone = self.settings["model"] == "retinanet" and "Blackwell" not in setup["gpu_model"]
        return value * (setup["gpus"] if alone and "25." not in setup["framework"] else 1)


def _machine(setup: Row) -> tuple[str, str, str]:
    name = setup["gpu_model"]
    if "Ultra" in name:
        name = "GB300" if setup["gpus_per_node"] == 4 else "B300"
    return next(one for one in MACHINES if one[0] in name)


def _drawn(setup: Row) -> bool:
    """Whether a template has such servers: cards on their own and sixteen in a chassis have none."""
    name = setup["gpu_model"]
    return setup["gpus_per_node"] <= 8 and any(text in name for text, *_ in (*MACHINES, ("Blackwell",)))


def _settings(setup: Row) -> Mapping[str, Any] | None:
    layout, benchmark = setup["layout"], setup["benchmark"].split()[-1]
    release = next(month for name, month in ROUNDS.items() if name in setup["benchmark"])
    batch = {"global_batch": setup["global_batch"], "recompute": "none", "release": release}
    if benchmark == "bert":
        shape = {"model": "bert-large", "software": "fused", "precision": "fp8", "sequence": 256}
        each = setup["global_batch"] // setup["gpus"]
        return {**batch, **shape, "data": setup["gpus"], "micro_batch": each, "sharding": "optimizer"}
    if benchmark in NETWORKS:
        shape = {"model": NETWORKS[benchmark], "software": "fused", "precision": "fp16"}
        return {**batch, **shape, "data": setup["gpus"]}
    if layout is None or layout["precision"] not in ("fp8", "nvfp4"):
        return None
    attention = "-fp8-attention" if layout["attention_fp8"] else ""
    names = ("tensor", "pipeline", "context", "data", "interleave", "micro_batch")
    return {
        **batch,
        **{name: layout[name] for name in names},
        "model": MODELS[benchmark],
        "software": f"transformer-engine{attention}",
        "precision": layout["precision"],
        "sequence": setup["sequence"],
        "sequence_parallel": layout["tensor"] > 1,
        "sharding": "optimizer" if layout["data"] * layout["context"] > 1 else "none",
        "adapters": benchmark.endswith("lora"),
    }


def runs() -> Iterator[Run]:
    """The runs there are to predict; none where the measurements are not there."""
    folder = newer_measurements()
    rows: list[Row] = json.loads((folder / "training-mlperf.json").read_text("utf-8")) if folder else []
    for row in rows:
        settings = _settings(row["setup"]) if row["metric"] == "samples_per_s" else None
        if settings is not None and _drawn(row["setup"]):
            yield Run(row, _machine(row["setup"]), row["setup"]["nodes"], settings)


@cache
def network_of(machine: tuple[str, str, str], servers: int) -> Network:
    """The servers of a run, or racks of trays."""
    _, template, part = machine
    changes: dict[str, Any] = {"parts": {"*gpu*": {"type": part}}}
    if template != "gb200-nvl72":
        changes |= {"servers": servers} if servers > 1 else {}
        return build_network(apply_changes(open_design(template), changes, "mlperf-training"))
    if servers > RACK_TRAYS:
        return build_network(open_design("cluster-gb200-6912"))
    return build_network(apply_changes(open_design(template), changes, "mlperf-training"))


def group_of(run: Run) -> str:
    """A benchmark of a submitter in a round on a kind of accelerator."""
    return f"{run.row['group']}/{run.settings['model']}/{run.machine[0]}"


def plan_of(run: Run) -> TrainingPlan:
    """The run as a user draws and asks it."""
    return prepare(network_of(run.machine, run.servers), job(run.settings), "run")


def scored(run: Run) -> Scored:
    """Samples per second, predicted against published."""
    plan = plan_of(run)
    step = plan.estimate(plan.ranks.costs(plan.layout))
    batch = plan.global_batch
    return Scored(group_of(run), batch / step.step_time, run.rate, batch / step.high, batch / step.low)


if __name__ == "__main__":
    points = [scored(run) for run in runs()]
    for name, error in group_medians(points).items():
        sys.stdout.write(f"{name}: {error:.1%}\n")
    sys.stdout.write(f"{len(points)} points, {macro_mean(points):.1%}, bands {band_score(points).coverage:.0%}\n")

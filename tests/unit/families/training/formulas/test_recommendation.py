"""Training steps of recommendation models by hand: exact numbers of a small model, and published runs."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from designer.analysis.study import run_workload
from designer.design.document import WorkloadSpec
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.families.training.formulas.recommendation_training import ROW_PASSES
from designer.families.training.formulas.training_step import estimate_step
from designer.formulas.accelerator import Accelerator
from designer.formulas.communication import Kind, RankGroup
from designer.formulas.compute.roofline import MEMORY_SHARE
from designer.formulas.layout import Layout
from designer.formulas.precision import precision
from designer.formulas.software import software
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.units import Bytes, BytesPerSecond, Flop, FlopPerSecond, Seconds
from designer.workload.models import model
from designer.workload.shape import RecommendationShape

SMALL = RecommendationShape(
    "small",
    1,
    1024 * 1024,
    Flop(2.0 * 1024 * 1024),
    1024,
    "",
    products=((1024, 1024),),
    tables=4,
    rows=10**6,
    width=64,
    lookups=10,
)
PART = Accelerator(
    "round", {"fp16": FlopPerSecond(1e15), "fp32": FlopPerSecond(1e14)}, BytesPerSecond(1e12), Bytes(8e10)
)


class _Links:
    """Collectives of an even link of 1e10 B/s, and what was asked of it."""

    def __init__(self) -> None:
        self.asked: list[tuple[Kind, float]] = []

    def time(self, kind: Kind, group: RankGroup, size: Bytes) -> Seconds:
        assert group is RankGroup.DATA
        self.asked.append((kind, float(size)))
        return Seconds(size / 1e10)

    def servers(self, group: RankGroup) -> int:
        return 1


def test_rows_and_exchanges_by_hand() -> None:
    """Ranks of 100 samples send 100 x 4 tables x 64 values x 2 B; twenty rows in place of ten take their bytes more."""
    fused, links = software("fused"), _Links()
    step = estimate_step(SMALL, precision("fp16"), Layout(data=8), 800, PART, links, fused)
    assert (Kind.ALL_TO_ALL, 51_200.0) in links.asked
    assert (Kind.ALL_REDUCE, 1024 * 1024 * fused.reduce_bytes.value) in links.asked
    assert step.data_communication >= 2 * 51_200 / 1e10
    more = dataclasses.replace(SMALL, lookups=20)
    longer = estimate_step(more, precision("fp16"), Layout(data=8), 800, PART, _Links(), fused)
    rows = 100 * 10 * 64 * 4 * ROW_PASSES.value / (1e12 * MEMORY_SHARE.value)
    assert longer.compute - step.compute == pytest.approx(rows)
    assert step.low < step.step_time < step.high
    # tables in two copies of 4 B over eight ranks
    eight, four = (estimate_step(SMALL, precision("fp16"), Layout(data=n), 800, PART, _Links(), fused) for n in (8, 4))
    both = 10**6 * 64 * 4 * 2
    held = [one.memory.weights + one.memory.optimizer for one in (four, eight)]
    assert held[0] - held[1] == pytest.approx(both / 4 - both / 8)


def test_what_does_not_fit_or_is_split_is_refused() -> None:
    half, fused = precision("fp16"), software("fused")
    with pytest.raises(AnalysisError, match="data-parallel only"):
        estimate_step(SMALL, half, Layout(tensor=2, data=4), 800, PART, _Links(), fused)
    large = model("dlrm-dcnv2")
    assert isinstance(large, RecommendationShape)
    with pytest.raises(AnalysisError, match="GB on an accelerator") as caught:
        estimate_step(large, half, Layout(data=2), 800, PART, _Links(), fused)
    assert "spread" in caught.value.remedy


def test_the_shipped_model_adds_up() -> None:
    """Products of 16 M multiply-adds, 26 tables of 204 M rows: 105 GB in 32 bit."""
    shape = model("dlrm-dcnv2")
    assert isinstance(shape, RecommendationShape)
    assert shape.flop_forward == pytest.approx(2 * sum(inner * columns for inner, columns in shape.products), rel=1e-5)
    assert shape.layers == len(shape.products)
    assert shape.rows * shape.width * 4 == pytest.approx(104.5e9, rel=0.01)


def _run(template: str, gpu: str, **settings: Any) -> WorkloadResult:
    changes: dict[str, Any] = {"parts": {"*gpu*": {"type": gpu}}, **settings.pop("changes", {})}
    design = apply_changes(open_design(template), changes, "mlperf-training")
    asked = {"model": "dlrm-dcnv2", "software": "fused", "precision": "fp16", **settings}
    return run_workload(build_network(design), WorkloadSpec(id="w", kind="training", settings=asked), False)[0]


@pytest.mark.parametrize(
    ("template", "gpu", "servers", "batch", "published"),
    [
        ("hgx-h100-8", "gpu/nvidia/h200-sxm", 1, 55296, 14.71e6),
        ("hgx-b200-8", "gpu/nvidia/b200", 1, 55296, 20.96e6),
        ("hgx-h100-8", "gpu/nvidia/h200-sxm", 4, 131200, 30.87e6),
    ],
)
def test_published_rates(template: str, gpu: str, servers: int, batch: int, published: float) -> None:
    """MLPerf v5.0 and v5.1: ASUSTeK, Dell, HPE; counted, nothing fitted."""
    changes = {"changes": {"servers": servers}} if servers > 1 else {}
    found = _run(template, gpu, global_batch=batch, **changes).metrics["samples_per_second"]
    assert found.value == pytest.approx(published, rel=0.16)
    assert found.low < published < found.high


def test_measured_computing_takes_the_place_of_the_estimate() -> None:
    found = _run("hgx-h100-8", "gpu/nvidia/h200-sxm", global_batch=55296, measured_compute="10 ms").metrics
    assert found["compute_time"].value == pytest.approx(0.01, rel=0.01)


def test_a_forward_pass_alone_is_refused() -> None:
    with pytest.raises(AnalysisError, match="forward pass alone"):
        _run("hgx-h100-8", "gpu/nvidia/h200-sxm", global_batch=55296, forward_only=True)

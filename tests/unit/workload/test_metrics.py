"""Every answer has a name, a unit and a meaning."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from designer.analysis.study import analyze
from designer.design.document import WorkloadSpec, with_changes
from designer.interchange.templates import open_design
from designer.units import DIMENSION_OF_UNIT
from designer.workload.kind import workload_kinds
from designer.workload.metrics import METRICS, Better, better, tone_of
from tests.directions import check_directions

#: kinds no template has as its own, with a template they run on
OTHERS = {
    "checkpointing": "hpe-apollo-6500-parallel-storage",
    "data_loading": "hpe-apollo-6500-parallel-storage",
    "hyperparameter_sweep": "hgx-h100-8",
    "layout_search": "hgx-h100-8",
    "storage_sizing": "hpe-apollo-6500-parallel-storage",
    "pooling": "vsphere-cluster-4",
    "kvm_migration": "vsphere-cluster-4",
}


def check(kind: str, metrics: dict[str, str]) -> None:
    """Metrics and units are those the kind says; every workload of the templates is held to it where it is run."""
    known = workload_kinds()[kind].metrics
    for name, unit in metrics.items():
        assert name in known, (kind, name)
        assert METRICS[name].unit == unit, (kind, name)


@pytest.mark.parametrize(("kind", "template"), OTHERS.items())
def test_the_other_kinds_do_too(kind: str, template: str) -> None:
    settings: dict[str, JsonValue] = {"vms": "infer0"} if kind == "kvm_migration" else {}
    spec = WorkloadSpec(id="asked", kind=kind, settings=settings)
    design = with_changes(open_design(template), workloads=[spec], default_workload="", assertions=[])
    found = analyze(design, curves=False)
    result = found.workloads[0]
    assert result.metrics
    check(kind, {name: m.unit for name, m in result.metrics.items()})
    check_directions(design, found, result)


def test_every_metric_is_of_a_kind_and_reported() -> None:
    reported = {name for kind in workload_kinds().values() for name in kind.metrics}
    assert reported == set(METRICS)
    own = [kind for kind in workload_kinds().values() if not set(kind.own) <= set(kind.metrics)]
    assert not own, "what a kind defines it reports"
    assert all(metric.unit in DIMENSION_OF_UNIT and metric.help for metric in METRICS.values())


def test_times_are_better_when_they_fall_and_rates_when_they_rise() -> None:
    directions = {name: metric.better for name, metric in METRICS.items()}
    optima = {"best_interval", "exact_interval"}  # as often as pays, which is neither good nor bad by itself
    rare = {"mean_time_between_failures"}  # the longer, the better
    for name, metric in METRICS.items():
        if metric.unit in ("s", "W", "J") and name not in optima | rare:
            assert directions[name] is Better.LESS, name
        if metric.unit in ("B/s", "1/s") and name != "training_rate_per_gpu":
            assert directions[name] is Better.MORE, name


def test_a_change_is_judged_by_the_direction_of_its_metric() -> None:
    assert tone_of("time_to_train", 10.0, 7.4) == "good"
    assert tone_of("time_to_train", 10.0, 19.5) == "bad"
    assert tone_of("kv_use", 0.5, 0.9) == "bad"
    assert tone_of("bus_bandwidth", 1e9, 2e9) == "good"
    assert tone_of("mean_batch", 4.0, 8.0) == ""
    assert tone_of("bus_bandwidth", 1e9, 1.0001e9) == ""
    assert tone_of("of a later version", 1.0, 2.0) == ""
    # storage that feeds more accelerators is better, a model that takes more of them is not
    assert better("accelerators", "storage_sizing") is Better.MORE
    assert better("accelerators", "serving") is Better.LESS

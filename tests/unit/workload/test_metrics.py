"""Every answer has a name, a unit and a meaning."""

from __future__ import annotations

import pytest

from designer.analysis.study import analyze
from designer.design.document import WorkloadSpec, with_changes
from designer.interchange.templates import open_design
from designer.units import DIMENSION_OF_UNIT
from designer.workload.kind import workload_kinds
from designer.workload.metrics import METRICS

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
    settings: dict[str, object] = {"vms": "infer0"} if kind == "kvm_migration" else {}
    spec = WorkloadSpec(id="asked", kind=kind, settings=settings)
    design = with_changes(open_design(template), workloads=[spec], default_workload="", assertions=[])
    result = analyze(design, curves=False).workloads[0]
    assert result.metrics
    check(kind, {name: m.unit for name, m in result.metrics.items()})


def test_every_metric_is_of_a_kind_and_reported() -> None:
    reported = {name for kind in workload_kinds().values() for name in kind.metrics}
    assert reported == set(METRICS)
    assert all(metric.unit in DIMENSION_OF_UNIT and metric.help for metric in METRICS.values())

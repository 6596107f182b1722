"""Parts of a GPU: MIG instances, virtual GPUs that take turns, and where the two cross."""

from __future__ import annotations

import pytest

import designer
from designer.design.document import WorkloadSpec
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.families.serving.formulas.time_slicing import time_slicing

BASE = {"model": "mpt-1b", "release": "0.12.0", "prompt": 500, "output": 100, "count": 400}


def served(**changes: object) -> WorkloadResult:
    design = designer.open_design("dell-r760xa")
    spec = WorkloadSpec(id="s", kind="serving", settings={**BASE, **changes})
    return designer.analyze(design.model_copy(update={"workloads": {"s": spec}}), ["s"]).workloads[0]


def test_turns_by_hand() -> None:
    # eight virtual GPUs, all others idle: nothing is waited for
    assert time_slicing(8, 0.0, 2e-3) == 1
    # seven others always busy: an eighth of the device, and .1 ms of change at every turn of 2 ms
    assert time_slicing(8, 1.0, 2e-3) == pytest.approx(8 + 0.05)
    # one other busy half the time
    assert time_slicing(2, 0.5, 1e-3) == pytest.approx(1.5 + 0.5 * 0.1)


def test_instances_stand_beside_each_other() -> None:
    found = served(part="1g.10gb", rate="8 1/s")
    # seven instances on each of four GPUs
    assert found.metrics["replicas"].value == 28
    assert found.metrics["accelerators"].value == 4


def test_turns_are_quicker_while_others_are_idle_and_instances_while_all_are_busy() -> None:
    tpot = {
        (part, rate): served(part=part, rate=f"{rate} 1/s").metrics["tpot"].value
        for part in ("1g.10gb", "10C")
        for rate in (2, 160)
    }
    assert tpot["10C", 2] < 0.6 * tpot["1g.10gb", 2]
    assert tpot["1g.10gb", 160] < 0.6 * tpot["10C", 160]


def test_power_of_a_divided_gpu_stays_within_its_limit() -> None:
    for part in ("1g.10gb", "10C"):
        power = served(part=part, rate="100 1/s").metrics["power"]
        assert 0 < power.value <= power.high <= 4 * 350.1


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"part": "9g.90gb"}, "no part"), ({"part": "1g.10gb", "tensor": 2}, "no other device")],
)
def test_parts_that_do_not_exist_are_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(AnalysisError, match=words):
        served(rate="1 1/s", **changes)


def test_slices_without_a_replica_take_no_power() -> None:
    """Seven instances fit on a GPU, one replica runs: what it takes is a seventh of what seven alike take, not all."""
    one = served(part="1g.10gb", rate="1 1/s", replicas=1).metrics
    all_of = served(part="1g.10gb", rate="28 1/s", replicas=28).metrics
    assert one["accelerators"].value == 1
    assert one["power"].value == pytest.approx(all_of["power"].value / 28, rel=0.25), (
        "a little less busy, never seven times"
    )

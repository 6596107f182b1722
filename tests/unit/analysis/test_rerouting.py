"""A failure has one answer: what `survive` says is lost is lost on the clock, after the wait that is stated."""

from __future__ import annotations

import pytest

from designer.analysis.simulation import Simulation, simulate
from designer.analysis.simulation.rerouting import Failure
from designer.decisions.failures_survey import survive
from designer.formulas.reliability.outage import RECONNECT, REROUTE, TRANSPORT_TIMEOUT
from designer.interchange.templates import open_design
from designer.workload.program.restarting import FAILURE, RESTORE


def ended(found: Simulation, workload: str, step: str) -> list[float]:
    """When a step of a workload ended."""
    return [t.ended for t in found.run.tasks if t.program == workload and t.step == step and t.done and t.parent < 0]


@pytest.mark.parametrize("path", ["leaves[0]/switch", "servers[0]/nic0", "servers[0]/server", "servers[0]/gpu0"])
def test_survive_and_simulate_give_one_answer(path: str) -> None:
    """An all-reduce of 256 GPUs takes 7.21 ms; without a leaf every server has seven rails of 50 GB/s instead of eight.

    All ranks wait 30.06 s for the transport and 10 s to connect again. Then each all-reduce takes as much longer as
    `survive` says that is lost; what leaves a whole server out takes no longer, and is done by 248 ranks.
    """
    design = open_design("su-h100-32")
    rows = {x.path: x for x in survive(design, "all-reduce").losses}
    lost = rows[path]
    whole = simulate(design, ["all-reduce"], until=1.0, bands=False)
    found = simulate(design, ["all-reduce"], until=45.0, bands=False, failures=[Failure(path, 0.5)])
    before, after = (x.metrics["all-reduce"]["communication_time"].value for x in (whole, found))
    assert ended(found, "all-reduce", FAILURE) == pytest.approx([0.5])
    assert ended(found, "all-reduce", RESTORE) == pytest.approx([0.5 + TRANSPORT_TIMEOUT.value + RECONNECT.value])
    left_out = 248 / 256 if lost.leaves_out.endswith("server") or path.endswith("server") else 1.0
    # the metric of the run is that of its steady end
    assert min(1.0, before / after) * left_out == pytest.approx(lost.share, rel=2e-3)
    assert not [f for f in found.findings if f.code == "CLOCK-STUCK"]


def test_a_part_that_is_back_in_time_only_delays() -> None:
    """The transport repeats for 30 s: a leaf that is back after 2 s costs 2 s, and the collective is not aborted."""
    design = open_design("su-h100-32")
    failures = [Failure("leaves[0]/switch", 0.5), Failure("leaves[0]/switch", 2.5, 1.0)]
    found = simulate(design, ["all-reduce"], until=4.0, bands=False, failures=failures)
    assert not ended(found, "all-reduce", FAILURE)
    times = [t.time for t in found.run.tasks if t.program == "all-reduce" and t.done and t.parent < 0]
    assert max(times) == pytest.approx(2.0 + min(times), rel=2e-2)


def test_flows_take_another_way_after_a_second() -> None:
    """Reads from storage have two leaves; without one they go on at 125 GB/s, as the store gives no more."""
    design = open_design("su-h100-32")
    found = simulate(
        design, ["storage-to-gpus"], until=6.0, bands=False, failures=[Failure("storage_leaves[0]/switch", 1.0)]
    )
    assert ended(found, "storage-to-gpus", RESTORE) == pytest.approx([1.0 + REROUTE.value])
    assert found.metrics["storage-to-gpus"]["rate"].value == pytest.approx(125e9, rel=0.02)


def test_a_training_restarts_cold_on_what_is_left() -> None:
    """30.06 s and ten minutes later it trains on seven GPUs; until then the run says that it is down."""
    design = open_design("hgx-h100-8")
    failures = [Failure("gpu0", 10.0)]
    early = simulate(design, ["llama-2-7b-fsdp"], until=60.0, bands=False, failures=failures)
    assert [f.where for f in early.findings if f.code == "CLOCK-STUCK"] == [("gpu0",)]
    late = simulate(design, ["llama-2-7b-fsdp"], until=660.0, bands=False, failures=failures)
    assert ended(late, "llama-2-7b-fsdp", RESTORE) == pytest.approx([10.0 + TRANSPORT_TIMEOUT.value + 600.0])
    assert not [f for f in late.findings if f.code == "CLOCK-STUCK"]
    # ranks that are equivalent are one work
    assert {w.equal for w in late.run.works if w.ready > 640 and w.engine >= 0} == {7}


def test_what_a_failure_does_not_touch_goes_on() -> None:
    """Copies inside the host need no network."""
    design = open_design("su-h100-32")
    found = simulate(design, ["h2d"], until=2.0, bands=False, failures=[Failure("leaves[0]/switch", 1.0)])
    assert not ended(found, "h2d", FAILURE)


def test_what_has_no_other_way_is_cut_off() -> None:
    design = open_design("su-h100-32")
    found = simulate(design, ["storage-to-gpus"], until=4.0, bands=False, failures=[Failure("storage", 1.0)])
    assert not ended(found, "storage-to-gpus", RESTORE)

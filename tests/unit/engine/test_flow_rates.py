"""Rates of flows in scenarios: what is twice as fast, what its estimate is off, against sums by hand."""

from __future__ import annotations

import pytest

from designer.design.document import Policy
from designer.engine.account import account
from designer.engine.account.bottlenecks import ResourceClass
from designer.engine.network import build_network
from designer.engine.transfers import TransferAnswer, evaluate_transfer
from designer.interchange.templates import open_design
from designer.workload.program.tasks import Move
from tests.designs import one_unit
from tests.properties.mutated import one_by_one
from tests.unit.engine.small_designs import draw


def answered(design: object, source: str, target: str) -> TransferAnswer:
    return evaluate_transfer(build_network(design), Move(source, target), "w")  # type: ignore[arg-type]


LINES = (
    "cpu0 mem0: memory_bus 900 GB/s",
    "cpu0 nic0: pcie 5x16",
    "cpu1 nic1: pcie 5x16",
    "cpu1 mem1: memory_bus 900 GB/s",
    "nic0 sw0: infiniband 400 Gb/s",
    "nic1 sw0: infiniband 400 Gb/s",
)


def test_the_time_of_an_amount_is_latency_and_amount_by_rate():
    """Twice the amount takes the same latency and twice as long on the links; a slower link takes as much longer."""
    rates = answered(draw(*LINES), "mem0", "mem1").rates
    rate, wait = float(rates.rate[0]), float(rates.latency[0, 0])
    assert wait > 0
    assert rates.time(1e9).seconds == pytest.approx(wait + 1e9 / rate, rel=1e-12)
    assert rates.time(2e9).seconds == pytest.approx(wait + 2e9 / rate, rel=1e-12)
    assert rates.time(1e9, latency=False).seconds == pytest.approx(1e9 / rate, rel=1e-12)
    bound = rates.why.binding[0].tie
    slower = dict.fromkeys(bound, 3.0)
    assert rates.time(1e9).solve(slower) == pytest.approx(wait + 3e9 / rate, rel=1e-12)


def test_gains_end_where_the_next_link_is():
    """Both ports twice as fast are held by PCIe: the gain is the rate of PCIe over that of a port."""
    found = answered(draw(*LINES), "mem0", "mem1")
    why = found.rates.why
    assert [held.alone for held in why.binding] == [(1.0, 1.0)]
    ports, (pcie,) = why.binding[0], why.next
    every = dict.fromkeys((*ports.tie, *pcie.tie), 0.5)
    assert found.rates.rates(dict.fromkeys(ports.tie, 0.5))[0] < found.rates.rates(every)[0]
    gain = found.rates.rates(dict.fromkeys(ports.tie, 0.5))[0] / found.rates.rate[0]
    assert ports.gain == pytest.approx(gain, rel=1e-12)
    assert 1 < gain < 2


def test_an_estimate_at_its_end_moves_the_rate_as_far_and_no_further_than_the_next():
    """A flow that one estimate holds back: its band is that of the estimate, or less where something else binds."""
    rates = answered(open_design("hgx-h100-8"), "memory", "gpus").rates
    for one in rates.estimates:
        for end in (one.low, one.high):
            moved = rates.rates({one.name: 1 / end}) / rates.rate
            assert (moved >= min(end, 1.0) - 1e-12).all()
            assert (moved <= max(end, 1.0) + 1e-12).all()
    low, high = rates.ends
    assert (low < rates.rate).all()
    assert (high >= rates.rate).all()


def test_what_binds_nobody_changes_nothing():
    rates = answered(open_design("hgx-h100-8"), "memory", "gpus").rates
    bound = {
        int(resource) for held in rates.why.binding for resource in held.tie if isinstance(resource, ResourceClass)
    }
    idle = {ResourceClass(int(key)): 0.5 for key in rates.key.tolist() if int(key) not in bound}
    assert rates.rates(idle) == pytest.approx(rates.rate, rel=1e-12)
    assert account(rates.time(1e9), rates.bands).value == rates.time(1e9).seconds


def test_only_members_that_bind_the_same_flows_are_doubled_together():
    """Three equal servers whose memory buses carry 8, 8, 8, 7 and fewer flows: those of 8 are doubled, not all six.

    Flows of the bus of 7 are next, at 8/7 of the rate of the slowest; drawn part by part the gain is the same.
    """
    policy = Policy(gpudirect=False, rail_affinity=False, numa_local=False, relay_through_gpu=False)
    grouped = one_unit(3, policy=policy)
    for design in (grouped, one_by_one(grouped)):
        why = evaluate_transfer(build_network(design), Move("gpus", "gpus", pairing="permutation"), "w").rates.why
        (buses,) = why.binding
        assert sum(bus.count for bus in buses.tie if isinstance(bus, ResourceClass)) == 3
        assert buses.gain == pytest.approx(8 / 7, rel=1e-9)

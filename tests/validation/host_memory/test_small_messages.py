"""Small messages cost the latency of their way: links, switches, media and the start of a copy, added up by hand."""

from __future__ import annotations

import pytest

from designer.analysis.study import analyze
from designer.design.document import Design, WorkloadSpec, with_changes
from tests.unit.engine.small_designs import draw

#: start of a copy engine, one PCIe link, one InfiniBand link [s]
COPY, PCIE, INFINIBAND = 8e-6, 1e-6, 0.21e-6
LINES = (
    "cpu0 mem0: memory_bus 204.8 GB/s",
    "cpu0 psw0: pcie 4x16",
    "psw0 gpu0: pcie 4x16",
    "psw0 nic0: pcie 4x16",
    "nic0 leaf0: infiniband 200 Gb/s",
    "leaf0 spine0: infiniband 200 Gb/s",
    "spine0 leaf1: infiniband 200 Gb/s",
    "leaf1 nic1: infiniband 200 Gb/s",
    "cpu1 nic1: pcie 4x16",
    "cpu1 gpu1: pcie 4x16",
)


def drawn(**values: dict[str, object]) -> Design:
    return draw(*LINES, values=values)


def asked(design: Design, kind: str, **settings: object):
    spec = WorkloadSpec.model_validate({"id": "w", "kind": kind, "settings": settings})
    return analyze(with_changes(design, workloads={"w": spec}), curves=False).workloads[0]


def seconds(design: Design, source: str, target: str, size: str = "1 B") -> float:
    return asked(design, "transfer", **{"from": source, "to": target, "size": size}).metrics["transfer_time"].value


def test_a_copy_to_the_device() -> None:
    """8 µs to start it, 95 ns of DRAM, two PCIe links of 1 µs and a PCIe switch of 120 ns: 10.2 µs."""
    design = drawn(mem0={"access_latency": "95 ns"}, psw0={"hop_latency": "120 ns"})
    assert seconds(design, "mem0", "gpu0") == pytest.approx(COPY + 95e-9 + 2 * PCIE + 120e-9, rel=1e-4)


def test_memory_behind_cxl_answers_later() -> None:
    near, far = (drawn(mem0={"access_latency": wait}) for wait in ("95 ns", "250 ns"))
    assert seconds(far, "mem0", "gpu0") - seconds(near, "mem0", "gpu0") == pytest.approx(155e-9, rel=1e-3)


def test_rdma_through_three_switches() -> None:
    """Two PCIe links at either end, four InfiniBand links, three switches of 130 ns; adapters start by themselves."""
    stated = {name: {"hop_latency": "130 ns"} for name in ("leaf0", "spine0", "leaf1")}
    expected = 4 * PCIE + 4 * INFINIBAND + 3 * 130e-9
    assert seconds(drawn(**stated), "gpu0", "gpu1") == pytest.approx(expected, rel=1e-4)


def test_what_limits_a_small_message_is_its_latency() -> None:
    small, large = (
        asked(drawn(), "transfer", **{"from": "mem0", "to": "gpu0", "size": size}) for size in ("4 KiB", "1 GiB")
    )
    assert [b.id for b in small.binding] == ["latency"]
    assert [b.id for b in small.next] == [b.id for b in large.binding] != ["latency"]


def test_the_band_of_a_small_message_is_that_of_its_latency() -> None:
    """The start of a copy is 5 to 15 µs, each PCIe link 0.5 to 1.5 µs: 6.1 to 18.1 µs with the memory."""
    found = asked(drawn(), "transfer", **{"from": "mem0", "to": "gpu0", "size": "1 B"}).metrics["transfer_time"]
    assert found.low == pytest.approx(5e-6 + 2 * 0.5e-6 + 80e-9, rel=1e-3)
    assert found.high == pytest.approx(15e-6 + 2 * 1.5e-6 + 150e-9, rel=1e-3)


def test_slow_switches_hold_up_a_small_all_reduce() -> None:
    """Two servers, three switches: a step through slow ones takes 3 × (1,000 − 130) ns = 2.6 µs more.

    The cheapest algorithm for 1 kB between two ranks waits for the network two to four times.
    """
    times = [
        asked(
            drawn(**{name: {"hop_latency": wait} for name in ("leaf0", "spine0", "leaf1")}), "collective", size="1 KiB"
        )
        .metrics["communication_time"]
        .value
        for wait in ("130 ns", "1 us")
    ]
    assert 2 * 2.6e-6 * 0.99 < times[1] - times[0] < 4 * 2.7e-6


def test_a_switch_that_tells_nothing_is_a_usual_one() -> None:
    """InfiniBand switches usually take 130 ns, so stating that changes no collective."""
    usual = {name: {"hop_latency": "130 ns"} for name in ("leaf0", "spine0", "leaf1")}
    times = [
        asked(design, "collective", size="1 KiB").metrics["communication_time"].value
        for design in (drawn(), drawn(**usual))
    ]
    assert times[0] == pytest.approx(times[1])

"""Published migration measurements against the formulas.

`cases.json` holds what was published of each set-up and the outcome in SI units. What a publication leaves out is
assumed here, for all cases alike: an idle guest dirties 1 MB/s, and a guest that writes all the time is paused for as
long as the threshold allows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from designer.families.machines.formulas import Outcome, Release, read_release
from designer.families.machines.formulas._qemu import ZERO_SCAN_HANDED
from designer.families.machines.formulas.kvm_bandwidth import (
    Compression,
    KvmBandwidth,
    Monitor,
    Sender,
    Transport,
    kvm_bandwidth,
    pinning_time,
)
from designer.families.machines.formulas.kvm_precopy import kvm_precopy
from designer.families.machines.formulas.vgpu_stun import GpuGeneration, VgpuLoad, vgpu_stun
from designer.families.machines.formulas.vmotion_streams import vmotion_streams
from designer.formulas.scoring import Scored, Sided, band_score, group_medians, log_error, macro_mean, point_error
from designer.sources import Estimate
from designer.units import parse_rate, parse_size

CASES = json.loads(Path(__file__).with_name("cases.json").read_text("utf-8"))
IDLE_DIRTY_RATE = 1e6
_HANDED = Estimate(ZERO_SCAN_HANDED.value, ZERO_SCAN_HANDED.low, ZERO_SCAN_HANDED.high, "B/s")


def _estimate(case: dict[str, Any]) -> Estimate:
    return {"streams": _streams, "stun": _stun, "kvm": _kvm}[case["model"]](case)


def _streams(case: dict[str, Any]) -> Estimate:
    nics = [parse_rate(nic) for nic in case["nics"]]
    release = read_release(case["release"])
    return vmotion_streams(nics, release=release, vmknics_per_nic=case.get("vmknics", 1)).bandwidth


def _stun(case: dict[str, Any]) -> Estimate:
    release = read_release(case["release"])
    host = vmotion_streams([parse_rate(nic) for nic in case["nics"]], release=release).checkpoint_bandwidth.value
    worst = case.get("worst_case_memory")
    return vgpu_stun(
        [VgpuLoad(parse_size(case["framebuffer"]))],
        host,
        host,
        release=release,
        generation=GpuGeneration(case["generation"]),
        worst_case_memory=parse_size(worst) if worst else None,
    ).stun


def _kvm(case: dict[str, Any]) -> Estimate:
    bandwidth = kvm_bandwidth(
        parse_rate(case["line"]),
        Sender(
            channels=case["channels"],
            monitor=Monitor(case.get("monitor", "qemu")),
            transport=Transport(case.get("transport", "tcp")),
            compression=Compression(case.get("compression", "none")),
        ),
    )
    if case["answer"] == "bw":
        return bandwidth.link_rate
    outcome = _precopy(case, bandwidth)
    if case["answer"] == "total":
        return outcome.total_time
    if case.get("busy"):
        longest = outcome.longest_downtime
        return Estimate(longest, longest * 0.8, longest * 1.25, "s")
    return outcome.downtime


def _precopy(case: dict[str, Any], bandwidth: KvmBandwidth) -> Outcome:
    memory = parse_size(case["memory"])
    filled = parse_size(case.get("filled", case["memory"]))
    squeeze = bandwidth.guest.value / bandwidth.link_rate.value
    if "wire" in case:
        filled = min(memory, parse_size(case["wire"]) * squeeze)
    pinning = {"setup_time": pinning_time(memory)} if case.get("pinned") else {}
    return kvm_precopy(
        memory,
        bandwidth.guest.value,
        0.0 if case.get("busy") else IDLE_DIRTY_RATE,
        filled=filled,
        link_bandwidth=bandwidth.link_rate.value,
        # The old compression threads take pages from one scanning thread.
        scan_bandwidth=_HANDED if case.get("scanners") else bandwidth.scan,
        bandwidth_band=bandwidth.guest,
        **pinning,
    )


def scored(case: dict[str, Any]) -> Scored:
    found = _estimate(case)
    sided = Sided.LOWER if case.get("lower") else Sided.BOTH
    return Scored(case["group"], found.value, case["value"], found.low, found.high, sided)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_each_point(case: dict[str, Any]) -> None:
    limit = 0.75 if case.get("answer") == "downtime" else 0.4
    assert point_error(scored(case)) < limit


def test_macro_error_and_bands() -> None:
    points = [scored(case) for case in CASES]
    assert len(points) == 43
    assert macro_mean(points) < 0.06
    assert max(group_medians(points).values()) < 0.12
    score = band_score(points)
    assert score.coverage >= 0.75
    # what one publication knows is off by a factor of 1.6 elsewhere: the bands are for others' machines
    assert score.width < 0.45


def test_total_times_lie_within_twelve_percent_in_the_median() -> None:
    totals = [scored(case) for case in CASES if case.get("answer") == "total"]
    assert macro_mean(totals) < 0.12


def test_pauses_are_uncertain_and_their_bands_say_so() -> None:
    """Seven pauses: the hypervisor may stop anywhere within its limit, so the centre misses by a fifth."""
    pauses = [scored(case) for case in CASES if case.get("answer") == "downtime"]
    assert len(pauses) == 7
    assert macro_mean(pauses) < 0.25
    assert band_score(pauses).coverage >= 0.8


def test_the_naive_frame_buffer_over_nic_is_beaten() -> None:
    stuns = [case for case in CASES if case["model"] == "stun"]
    naive = [
        Scored("naive", parse_size(case["framebuffer"]) / parse_rate(case["nics"][0]), case["value"]) for case in stuns
    ]
    ours = [Scored("ours", _estimate(case).value, case["value"]) for case in stuns]
    assert macro_mean(ours) < 0.2 * macro_mean(naive)


class TestPointsOutsideTheFit:
    """Published after or apart from what the constants were fitted on."""

    def test_peak_of_vgpu_vmotion_on_100_gbe(self) -> None:
        """VCF 9.0 showed 69 Gb/s."""
        plan = vmotion_streams([parse_rate("100 Gb/s")], release=Release.V9_0)
        assert log_error(plan.bandwidth.value, parse_rate("69 Gb/s")) < 0.06

    def test_a_java_warehouse_that_never_converged(self) -> None:
        """256 GB guest: 264 MB/s sent, 277 MB/s dirtied, 2.75 GB left after 25 minutes at a limit of 4 s."""
        settings = {"working_set": 2_753_372 * 1024, "downtime_limit": 4.0, "scan_bandwidth": 2.35e9}
        stuck = kvm_precopy(268_444_224 * 1024, 264e6, 67_551 * 4096, filled=19e9, **settings)
        assert not stuck.converged
        freed = kvm_precopy(268_444_224 * 1024, 264e6, 67_551 * 4096, filled=19e9, auto_converge=True, **settings)
        assert freed.converged
        assert freed.slowdown.value > 0


#: published later than the constants: set-up, what was measured [SI]
_LATER: list[tuple[dict[str, Any], float]] = [
    # Kunpeng boards, 80 % of 16 GB random data, no compression
    *(
        (
            {"line": "1 Gb/s", "channels": n, "memory": "16 GiB", "filled": "13.75 GB", "answer": answer},
            {"total": total, "downtime": pause}[answer],
        )
        for n, total, pause in ((2, 114.536, 0.079), (4, 114.327, 0.078), (8, 114.231, 0.107))
        for answer in ("total", "downtime")
    ),
    # Cloud Hypervisor sends all memory, untouched or not
    (
        {
            "line": "100 Gb/s",
            "channels": 1,
            "monitor": "cloud-hypervisor",
            "memory": "32 GiB",
            "answer": "total",
        },
        18.666,
    ),
    (
        {
            "line": "100 Gb/s",
            "channels": 8,
            "monitor": "cloud-hypervisor",
            "memory": "1 TiB",
            "answer": "total",
        },
        90.25,
    ),
]


def test_points_published_later_lie_in_their_bands() -> None:
    """Eight points of two publications; the high end of a pause rests on three of them."""
    found = [(_kvm(case), measured) for case, measured in _LATER]
    totals = [log_error(each.value, m) for (case, m), (each, _) in zip(_LATER, found, strict=True) if m > 1]
    assert max(totals) < 0.05
    assert sum(each.low <= measured <= each.high for each, measured in found) == 8

"""Keys and values beyond the GPU: more is found, over links that take their time."""

from __future__ import annotations

import pytest

import designer
from designer.design.document import WorkloadSpec
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.families.serving.formulas.reuse import reused
from designer.families.serving.traces import reuse_curve
from designer.interchange.overrides import overridden

BASE = {
    "model": "llama-3-70b",
    "weights": "fp8",
    "release": "0.12.0",
    "tensor": 4,
    "rate": "3 1/s",
    "prompt": 4000,
    "output": 200,
    "count": 400,
    "reuse": "1M:10 %, 10M:40 %, 100M:60 %",
}


def served(sets: tuple[str, ...] = (), **changes: object) -> WorkloadResult:
    design = overridden(designer.open_design("serving-h100-8"), sets)
    spec = WorkloadSpec.model_validate({"id": "s", "kind": "serving", "settings": {**BASE, **changes}})
    return designer.analyze(design.model_copy(update={"workloads": {"s": spec}}), ["s"]).workloads[0]


def test_a_curve_by_hand() -> None:
    curve = ((1e6, 0.1), (1e7, 0.4))
    assert reused(curve, 5e5) == pytest.approx(0.05)
    assert reused(curve, 1e7 / 10**0.5) == pytest.approx(0.25)
    assert reused(curve, 1e9) == 0.4
    assert reused((), 1e9) == 0


def test_the_shipped_curve_is_that_of_the_trace() -> None:
    curve = reuse_curve("mooncake-conversation")
    # 10,000 blocks of 512 tokens find 21.6 % of the tokens
    assert reused(curve, 5_120_000) == pytest.approx(0.2157)
    assert [share for _, share in curve] == sorted(share for _, share in curve)


def test_host_memory_finds_more_and_its_way_takes_time() -> None:
    near, far = served(), served(tiers="memory")
    hits = [f.metrics["prefix_hits"].value for f in (near, far)]
    assert hits[1] > hits[0] + 0.1
    fetch = far.metrics["fetch_time"]
    assert fetch.low <= fetch.value <= fetch.high
    # what is found is not computed: more requests can be answered
    assert far.metrics["most_requests_per_second"].value > near.metrics["most_requests_per_second"].value
    # by hand: 4,000 tokens x 327,680 B / 4 devices x what the tier adds, at some 50 GB/s of PCIe 5
    moved = (hits[1] - hits[0]) * 4000 * 327_680 / 4
    assert fetch.value == pytest.approx(moved / 50e9, rel=0.5)


def test_a_slow_tier_is_named_and_what_it_cannot_bring_is_computed_again() -> None:
    slow = served(("storage.client_read_bandwidth=0.5 GB/s", "storage.capacity=100 TB"), tiers="storage")
    assert "SERVE-TIER" in {f.code for f in slow.findings}
    quick = served(tiers="memory")
    assert slow.metrics["prefix_hits"].value < quick.metrics["prefix_hits"].value
    assert any("storage" in b.id or "store" in b.label.lower() for b in (*slow.binding, *slow.next))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"reuse": "much"}, "no reuse"),
        ({"reuse": "5M:40 %, 50M:10 %"}, "does not rise"),
        ({"reuse": "5M:x"}, "no room and share"),
        ({"tiers": "nic0"}, "holds nothing"),
        ({"tiers": "memory", "tier_share": "200 %"}, "of a tier"),
    ],
)
def test_bad_input_is_refused_in_words(changes: dict[str, object], words: str) -> None:
    with pytest.raises(AnalysisError, match=words) as stated:
        served(**changes)
    assert stated.value.remedy


def test_a_tier_without_reuse_is_told_to_change_nothing() -> None:
    assert "SERVE-TIER" in {f.code for f in served(reuse="", tiers="memory").findings}


def test_engines_that_only_read_prompts_find_what_their_own_caches_hold() -> None:
    """Two racks apart: what is found need not be read, so more prompts can be; the clock says the same."""
    design = designer.open_design("serving-split-2-racks")
    common = {**design.workloads["split-70b"].settings, "count": 300, "storage": "", "prompt": 4000, "rate": "6 1/s"}
    specs = {
        name: WorkloadSpec.model_validate({"id": name, "kind": "serving", "settings": {**common, "reuse": curve}})
        for name, curve in (("none", ""), ("some", "1M:30 %, 100M:60 %"))
    }
    design = design.model_copy(update={"workloads": specs})
    none, some = designer.analyze(design, ["none", "some"]).workloads
    assert "prefix_hits" not in none.metrics
    hits = some.metrics["prefix_hits"].value
    assert 0.3 < hits < 0.6
    # 4,000 tokens x 2 x 70.6 GFLOP on 4 x 1.98 PFLOP/s at two thirds of it .11 s, joining as long again
    gained = none.metrics["ttft"].value - some.metrics["ttft"].value
    assert gained == pytest.approx(0.22 * hits, rel=0.35)
    clocked = designer.simulate(design, ["some"], until=60.0, bands=False).metrics["some"]["ttft_p50"].value
    assert clocked == pytest.approx(some.metrics["ttft_p50"].value, rel=0.1)

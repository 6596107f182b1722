"""What serving puts on the links in the mean, by hand: hand-overs, fetches, and joining devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import designer
from designer.design.document import WorkloadSpec
from designer.engine.results import Analysis

#: bytes of keys and values of a token: 80 layers, keys and values, 8 heads of 128 in 16 bit
TOKEN = 80 * 2 * 8 * 128 * 2
SPLIT: Mapping[str, Any] = {
    "model": "llama-3-70b",
    "weights": "fp8",
    "release": "0.12.0",
    "group": "answers[*]/gpu*",
    "prompt_group": "prompts[*]/gpu*",
    "tensor": 8,
    "prompt_tensor": 4,
    "rate": "12 1/s",
    "variation": 0,
    "prompt": 2000,
    "output": 256,
    "spread": "0 %",
    "count": 400,
}


def analyzed(template: str, settings: Mapping[str, Any]) -> Analysis:
    spec = WorkloadSpec.model_validate({"id": "s", "kind": "serving", "settings": dict(settings)})
    design = designer.open_design(template)
    return designer.analyze(design.model_copy(update={"workloads": {"s": spec}}), ["s"])


def carried(found: Analysis, kind: str, source: str = "", target: str = "") -> float:
    """Bytes a second on all links of a kind from and to parts whose paths have these in them."""
    rows = (row for row in found.channels if row.kind == kind and source in row.source and target in row.target)
    return sum(row.load for row in rows)


def test_hand_overs_load_both_ends_with_every_byte_of_keys_and_values() -> None:
    """12 requests a second of 2,000 tokens: 7.86 GB/s leave the servers for prompts and get to those for answers."""
    found = analyzed("serving-split-2-racks", SPLIT)
    asked = found.workloads[0].metrics["requests_per_second"].value * 2000 * TOKEN
    assert asked == pytest.approx(7.86e9, rel=0.02)
    out = carried(found, "infiniband", source="prompts[") - carried(found, "infiniband", target="prompts[")
    into = carried(found, "infiniband", target="answers[") - carried(found, "infiniband", source="answers[")
    assert out == pytest.approx(asked, rel=1e-6)
    assert into == pytest.approx(asked, rel=1e-6)


def test_twice_the_prompt_hands_over_twice_as_much() -> None:
    once, twice = (
        carried(analyzed("serving-split-2-racks", {**SPLIT, "prompt": p}), "infiniband", source="prompts[")
        for p in (1000, 2000)
    )
    assert twice == pytest.approx(2 * once, rel=0.01)


TIERED: Mapping[str, Any] = {
    "model": "llama-3-70b",
    "weights": "fp8",
    "release": "0.12.0",
    "tensor": 4,
    "tiers": "memory",
    "reuse": "1M:10 %, 10M:40 %, 100M:60 %",
    "rate": "3 1/s",
    "variation": 0,
    "prompt": 4000,
    "output": 200,
    "spread": "0 %",
    "count": 400,
}


def test_fetches_load_the_way_from_memory_and_nothing_the_other_way() -> None:
    """What more is found with the tier comes over PCIe: hits beyond those on the GPU x 4,000 tokens x 3 a second."""
    near, far = (analyzed("serving-h100-8", {**TIERED, "tiers": tier}) for tier in ("", "memory"))
    hits = [one.workloads[0].metrics["prefix_hits"].value for one in (near, far)]
    rate = far.workloads[0].metrics["requests_per_second"].value
    down, up = (carried(far, "pcie", source=a, target=b) for a, b in (("cpu", ""), ("", "cpu")))
    assert down == pytest.approx(rate * (hits[1] - hits[0]) * 4000 * TOKEN, rel=0.01)
    assert up == 0
    assert carried(near, "pcie", source="cpu") == 0


def test_joining_loads_the_switches_with_every_token_and_layer() -> None:
    """Two all-reduces a layer of 8,192 values in 16 bit for every token of prompts and answers.

    NVLink switches reduce: a device sends each of its bytes once and a quarter of the sums once: 1.25 times.
    """
    plain = {**TIERED, "tiers": "", "reuse": "", "rate": "6 1/s", "prompt": 2000, "output": 256}
    found = analyzed("serving-h100-8", plain)
    rate = found.workloads[0].metrics["requests_per_second"].value
    tokens = rate / 2 * (2000 + 256)
    sent = carried(found, "nvlink", source="gpu0")
    ratio = sent / (tokens * 2 * 80 * 8192 * 2)
    # a ring would send 2 x 3/4 of them; which way is taken depends on the size of the message
    assert 1.2 < ratio < 1.55

"""What is set and changes nothing is stated, and what nobody set is not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from designer.families.serving.deployment import Serving
from designer.families.serving.inference import Inference
from designer.families.serving.unused import unused, unused_in_batches
from tests.asked import in_batches, serving_asked


def stated(**settings: object) -> list[str]:
    asked = serving_asked(settings, "s")
    assert isinstance(asked, Serving)
    return [finding.text for finding in unused(asked)]


def test_what_nobody_set_is_not_told() -> None:
    assert stated() == []
    assert stated(load="clients", clients=64, waves=5) == []
    assert stated(load="offline") == []
    assert stated(load="clients", variation=4) == [], "the knee is looked for with requests that arrive so"
    assert stated(load="clients", count=100) == [], "points of the frontier have that many requests"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"prompt_tensor": 2}, "prompt_tensor changes nothing: all accelerators read prompts"),
        ({"draft": "kimi-k2.5-eagle3"}, "draft changes nothing: no token is drafted"),
        ({"acceptance": "70 %"}, "acceptance changes nothing: no token is drafted"),
        ({"load": "agents", "variation": 3}, "variation changes nothing: the load is agents"),
        ({"load": "agents", "lengths": "azure-2023-code"}, "lengths changes nothing: the load is agents"),
        ({"load": "agents", "count": 100}, "count changes nothing: the load is agents"),
        ({"waves": 5, "clients": 3}, "clients and waves change nothing: the load is a rate"),
        ({"load": "clients", "profile": "1,2"}, "profile changes nothing: the load is clients"),
        ({"load": "clients", "rate": "3 1/s"}, "rate changes nothing: the load is clients"),
        ({"load": "clients", "count": 5000}, "count changes nothing: the load is clients"),
        ({"load": "trace", "trace": "a", "prompt": 9, "seed": 3}, "prompt and seed change nothing: the trace has its"),
        ({"lengths": "azure-2023-code", "spread": "0"}, "spread changes nothing: lengths are those of azure"),
        ({"prompt_group": "gpu0", "tiers": "memory"}, "tiers changes nothing: engines that read prompts"),
        ({"load": "offline", "profile": "1,2"}, "profile changes nothing: the load is everything at once"),
        ({"trace": "a.jsonl"}, "trace changes nothing: the load is a rate"),
        ({"load": "trace", "trace": "a.jsonl", "reuse": "5M:22 %"}, "reuse changes nothing: the trace says"),
        ({"reuse": "5M:22 %", "prefix": "30 %"}, "prefix changes nothing: reuse says"),
        ({"tier_share": "10 %"}, "tier_share changes nothing: keys and values stay"),
        ({"peers": True, "readers": 4}, "peers and readers change nothing: nothing says where weights come from"),
    ],
)
def test_what_waits_for_another_setting_is_told_with_it(settings: Mapping[str, object], words: str) -> None:
    found = stated(**settings)
    assert len(found) == 1
    assert found[0].startswith(words)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"scenario": "offline", "rate": "3 1/s"}, "rate changes nothing: the scenario is offline"),
        ({"streams": 4, "frames": "25 1/s"}, "streams and frames change nothing: the scenario is server"),
        ({"query": 4}, "query changes nothing: the scenario is server"),
        ({"scenario": "multi-stream", "batch": 4}, "batch changes nothing: the scenario is multi-stream"),
        ({"scenario": "offline", "seed": 4}, "seed changes nothing: all samples are there"),
        ({"sequence": 99}, "sequence changes nothing: a sample of this model has no tokens"),
        ({"limit_at": "p50"}, "limit_at changes nothing: there is no limit"),
    ],
)
def test_in_batches_too(settings: Mapping[str, object], words: str) -> None:
    def found(**changes: object) -> list[str]:
        asked = in_batches(changes, "s")
        assert isinstance(asked, Inference)
        return [finding.text for finding in unused_in_batches(asked, tokens=False)]

    assert found() == []
    assert len(found(**settings)) == 1
    assert found(**settings)[0].startswith(words)

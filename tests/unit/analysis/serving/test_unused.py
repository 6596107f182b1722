"""What is set and changes nothing is told, and what nobody set is not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from designer.analysis.serving.unused import unused
from designer.workload.kind import lower
from designer.workload.serving import Serving


def told(**settings: object) -> list[str]:
    asked = lower("serving", settings, "s")
    assert isinstance(asked, Serving)
    return [finding.text for finding in unused(asked)]


def test_what_nobody_set_is_not_told() -> None:
    assert told() == []
    assert told(load="clients", clients=64, waves=5) == []
    assert told(load="offline") == []


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"prompt_tensor": 2}, "prompt_tensor changes nothing: all accelerators read prompts"),
        ({"draft": "kimi-k2.5-eagle3"}, "draft changes nothing: no token is drafted"),
        ({"waves": 5, "clients": 3}, "clients and waves change nothing: the load is a rate"),
        ({"load": "clients", "variation": 4}, "variation changes nothing: the load is clients"),
        ({"load": "offline", "profile": "1,2"}, "profile changes nothing: the load is everything at once"),
        ({"trace": "a.jsonl"}, "trace changes nothing: the load is a rate"),
        ({"load": "trace", "trace": "a.jsonl", "reuse": "5M:22 %"}, "reuse changes nothing: the trace tells"),
        ({"tier_share": "10 %"}, "tier_share changes nothing: keys and values stay"),
        ({"peers": True, "readers": 4}, "peers and readers change nothing: nothing says where weights come from"),
    ],
)
def test_what_waits_for_another_setting_is_told_with_it(settings: Mapping[str, object], words: str) -> None:
    found = told(**settings)
    assert len(found) == 1
    assert found[0].startswith(words)

"""Errors on open measurements of engines, where these are beside the checkout; and what no measurement may change."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from statistics import mean

import pytest

from tests.validation.serving.runs import by_group, errors, folder, rows

pytestmark = pytest.mark.skipif(folder() is None, reason="no measurements beside the checkout")

SAMPLE = 20


@cache
def groups() -> Mapping[tuple[str, ...], tuple[int, float, float, float, float]]:
    """Errors of up to so many rows of each group, spread over its loads."""
    picked = []
    for name in dict.fromkeys(row.group for row in rows()):
        mine = [row for row in rows() if row.group == name and row.version]
        mine.sort(key=lambda r: (r.clients, r.prompt, r.output, r.tensor))
        picked += mine[:: max(1, len(mine) // SAMPLE)]
    return by_group(errors(picked))


def test_h100_in_sample() -> None:
    mine = [v for k, v in groups().items() if k[0] == "h100_sxm"]
    assert len(mine) >= 6
    assert mean(v[1] for v in mine) <= 0.055
    assert mean(v[3] for v in mine) <= 0.14


def test_one_engine_build_carried_to_h200() -> None:
    mine = [v for k, v in groups().items() if k[0] == "h200_sxm" and k[2] == "vllm" and k[1] != "llama-3-8b"]
    assert len(mine) >= 2
    assert mean(v[1] for v in mine) <= 0.05
    assert mean(v[3] for v in mine) <= 0.1

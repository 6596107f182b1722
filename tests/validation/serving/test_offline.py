"""Published throughput at most load: what was fitted, and an accelerator that was not."""

from __future__ import annotations

from functools import cache
from statistics import mean

from designer.families.serving.engines import release
from tests.validation.serving.offline import Point, by_group, errors, points


@cache
def found() -> tuple[tuple[Point, float], ...]:
    return tuple(errors(points()))


def test_throughput_at_most_load() -> None:
    groups = by_group(found())
    assert len(groups) == 6
    assert mean(v[0] for k, v in groups.items() if k[1] == "H100") <= 0.07
    assert mean(v[0] for k, v in groups.items() if k[1] == "H200") <= 0.07, "not fitted"


def test_the_band_holds_about_four_of_five_and_is_no_wider_than_models_left_out_need() -> None:
    spread = release("tensorrt-llm", "1.0.0").release.step_spread
    inside = [abs(error) <= spread for _, error in found()]
    assert 0.75 <= mean(inside) <= 0.98
    assert spread <= 0.16

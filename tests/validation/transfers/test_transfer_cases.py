"""Published transfer measurements against the efficiencies that analyses use; sources and tolerances: README.md."""

import json
from pathlib import Path
from typing import Any

import pytest

from designer.formulas.scoring import Scored, band_score, log_error, macro_mean
from designer.formulas.transfer import LinkClass, Placement, TransferProtocol
from designer.formulas.transfer.achievable_fraction import achievable_fraction

CASES = json.loads(Path(__file__).with_name("cases.json").read_text("utf-8"))
ENUMS = {"link": LinkClass, "protocol": TransferProtocol, "placement": Placement}


def scored(case: dict[str, Any]) -> Scored:
    values = {key: ENUMS[key](v) if key in ENUMS else v for key, v in case["situation"].items()}
    raw = values["raw_bandwidth"]
    share = achievable_fraction(values.pop("link"), values.pop("protocol"), **values)
    return Scored(case["group"], raw * share.value, case["value"], raw * share.low, raw * share.high)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_each_point(case: dict[str, Any]) -> None:
    point = scored(case)
    assert log_error(point.predicted, point.measured) < 0.06


def test_macro_error_and_bands() -> None:
    points = [scored(case) for case in CASES]
    assert len(points) == 22
    assert macro_mean(points) < 0.02
    score = band_score(points)
    assert score.coverage >= 0.8
    assert score.width < 0.08, "no wider than publications left out need"

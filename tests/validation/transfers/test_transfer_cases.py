"""Published transfer measurements against the formulas. See README.md for sources and tolerances."""

import json
from pathlib import Path
from typing import Any

import pytest

from designer.formulas.scoring import Scored, band_score, log_error, macro_mean
from designer.formulas.transfer import LinkClass, Placement, TransferProtocol, TransferSituation
from designer.formulas.transfer.transfer_time import transfer_time

CASES = json.loads(Path(__file__).with_name("cases.json").read_text("utf-8"))
ENUMS = {"link": LinkClass, "protocol": TransferProtocol, "placement": Placement}


def scored(case: dict[str, Any]) -> Scored:
    values = {key: ENUMS[key](v) if key in ENUMS else v for key, v in case["situation"].items()}
    found = transfer_time(TransferSituation(**values))
    return Scored(case["group"], found.bandwidth, case["value"], found.bandwidth_low, found.bandwidth_high)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_each_point(case: dict[str, Any]) -> None:
    point = scored(case)
    assert log_error(point.predicted, point.measured) < 0.06


def test_macro_error_and_bands() -> None:
    points = [scored(case) for case in CASES]
    assert len(points) == 29
    assert macro_mean(points) < 0.015
    score = band_score(points)
    assert score.coverage >= 0.8
    assert score.width < 0.07

"""PCI001 counts what can meet on an uplink: GPUs, or what serves them, through all switches below."""

from __future__ import annotations

import pytest

from designer.interchange.templates import open_design
from designer.rules.runner import check


@pytest.mark.parametrize(
    ("template", "stated"),
    [
        # two x16 GPUs, two x16 NICs and an x4 drive below one x16: the GPUs 2 to 1, the rest 2.25 to 1
        ("dgx-a100", []),
        ("dgx-b200", []),
        # two switches of two GPUs each below one x16: (2 + 2) x 16 / 16
        ("dgx2", ["the GPUs below psw0 and psw1 … can take 4.0 times what the uplink carries"]),
        # eight GPUs below two switches of four, and both below one x16: 4 to 1, and 8 to 1 above
        (
            "sm-4029gp-trt3",
            [
                "the GPUs below psw0 and psw1 can take 4.0 times what the uplink carries",
                "the GPUs below psw_top can take 8.0 times what the uplink carries",
            ],
        ),
    ],
)
def test_what_meets_on_an_uplink(template: str, stated: list[str]) -> None:
    assert [finding.text for finding in check(open_design(template), chosen=["PCI001"]).findings] == stated

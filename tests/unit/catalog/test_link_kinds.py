"""What a link achieves of its raw rate, against published copies that are named in the sources."""

from __future__ import annotations

import pytest

from designer.catalog.parttype import fitting_links, link_kind, link_kinds
from designer.errors import CatalogError
from designer.units import parse_rate

#: measured over raw rate, both per direction [GB/s]; the two copies each of one Gen5 and one H200 server as their mean
POINTS = {
    "pcie": [(12.0, 15.754), (25.0, 31.508), (26.0, 31.508), (26.34, 31.508), (26.4, 31.508), (55.3, 63.015)],
    "nvlink": [(18.31, 20), (36.39, 40), (47.88, 50), (274.5, 300), (276.3, 300), (376, 450), (392, 450)],
    "c2c": [(359.05, 450), (377.15, 450)],
    "xgmi": [(36, 50), (48, 64), (47.7, 64)],
    "ethernet": [(347, 400), (171.2, 200), (12, 12.5), (36, 40), (0.89373, 1), (0.93699, 1)],
    "infiniband": [(47, 50), (24, 25), (12, 12.5)],
    "memory_bus": [(148, 204.8)],
}


@pytest.mark.parametrize("name", sorted(POINTS))
def test_band_holds_most_published_points_and_the_value_lies_amid_them(name: str) -> None:
    achievable = link_kind(name).achievable
    shares = sorted(measured / raw for measured, raw in POINTS[name])
    inside = [s for s in shares if achievable.low <= s <= achievable.high]
    assert len(inside) / len(shares) >= 0.7
    if len(shares) > 1:
        assert shares[0] <= achievable.value <= shares[-1]


@pytest.mark.parametrize("name", sorted(link_kinds()))
def test_link_kind_is_physical(name: str) -> None:
    kind = link_kind(name)
    assert 0 < kind.achievable.low < kind.achievable.high < 1
    assert 10e-9 < kind.latency.value < 10e-6
    assert 1e9 < parse_rate(kind.default_rate) < 1e12


def test_gen4_x16_is_the_default_of_pcie() -> None:
    assert parse_rate(link_kind("pcie").default_rate) == pytest.approx(16e9 * 16 / 8 * 128 / 130)


def test_unknown_link_kind_is_refused() -> None:
    with pytest.raises(CatalogError, match="warp"):
        link_kind("warp")


def test_usual_links_come_first() -> None:
    assert fitting_links("gpu", "nvswitch")[0] == "nvlink"
    assert fitting_links("cpu", "gpu")[0] == "pcie"
    assert fitting_links("nic", "switch")[0] == "ethernet"
    assert fitting_links("drive", "rack") == ()

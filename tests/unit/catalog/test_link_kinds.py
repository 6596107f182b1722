"""Link kinds: physical, ordered by use, refused when unknown."""

from __future__ import annotations

import pytest

from designer.catalog.parttype import fitting_links, link_kind, link_kinds
from designer.errors import CatalogError
from designer.units import parse_rate


@pytest.mark.parametrize("name", sorted(link_kinds()))
def test_link_kind_is_physical(name: str) -> None:
    kind = link_kind(name)
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

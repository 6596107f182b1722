"""Data versions by hand: capacity, traffic, and the links that a version crosses."""

from __future__ import annotations

import pytest

import designer
from designer.design.document import Design
from designer.errors import DesignerError

TB = 1e12


def kept(**settings: object) -> Design:
    design = designer.edit(designer.open_design("su-h100-32"), {"parts": {"storage": {"capacity": "20 TB"}}})
    return designer.with_workload(design, "v", "data_versions", source="servers[*]/memory*", **settings)


def values(design: Design) -> dict[str, float]:
    return {name: m.value for name, m in designer.analyze(design, "v").workloads[0].metrics.items()}


def codes(design: Design) -> set[str]:
    return {f.code for f in designer.analyze(design, "v").workloads[0].findings}


def test_changes_are_kept_of_all_versions_but_the_first() -> None:
    """1 TB and 29 times a tenth of it: 3.9 TB of 20; a tenth is written a day."""
    found = values(kept(size="1 TB", versions=30, changed="0.1"))
    assert found["data_stored"] == pytest.approx(3.9 * TB)
    assert found["store_used"] == pytest.approx(3.9 / 20)
    assert found["data_per_day"] == pytest.approx(0.1 * TB)
    assert "data_copied" not in found


def test_whole_versions_fill_the_store() -> None:
    """30 TB in 20; written twice a day."""
    design = kept(size="1 TB", versions=30, keeps="whole", every="12 h")
    found = values(design)
    assert found["data_stored"] == pytest.approx(30 * TB)
    assert found["data_per_day"] == pytest.approx(2 * TB)
    assert "STORE-FULL" in codes(design)
    assert "STORE-FULL" not in codes(kept(size="1 TB", versions=20, keeps="whole"))


def test_a_version_takes_as_long_as_its_bytes_on_the_links() -> None:
    design = kept(size="10 TB", changed="0.2")
    move = {"from": "servers[*]/memory*", "to": "storage", "pairing": "striped"}
    rate = designer.analyze(designer.with_workload(design, "w", "transfer", **move), "w").workloads[0].metrics["rate"]
    found = values(design)
    assert found["write_time"] == pytest.approx(0.2 * 10 * TB / rate.value, rel=1e-3)
    assert found["version_time"] == pytest.approx(found["write_time"])
    assert values(kept(size="10 TB", changed="0.4"))["write_time"] == pytest.approx(2 * found["write_time"], rel=1e-3)


def test_copies_cross_the_links_and_fill_other_stores() -> None:
    """To a drive of a server: half a version of 1 TB, and 1 + 9 x 0.5 TB in the end."""
    found = values(kept(size="1 TB", changed="0.5", copies_to="servers[0]/nvme0"))
    assert found["data_copied"] == pytest.approx(5.5 * TB)
    assert found["data_per_day"] == pytest.approx(2 * 0.5 * TB)
    assert found["version_time"] == pytest.approx(found["write_time"] + found["copy_time"])
    assert found["copy_time"] > 0.5 * TB / 8e9, "no faster than the drive's own link"


def test_versions_that_come_faster_than_they_are_written_are_an_error() -> None:
    assert "STORE-LATE" in codes(kept(size="1000 TB", keeps="whole", every="1 min"))


def test_a_version_runs_beside_others() -> None:
    design = kept(size="10 TB")
    alone = values(design)
    run = designer.simulate(design, ["v"])
    assert run.metrics["v"]["version_time"].value == pytest.approx(alone["version_time"])
    both = designer.simulate(design, ["v", "storage-to-gpus"], until=600.0, bands=False)
    assert both.run.end <= 600.0


@pytest.mark.parametrize(
    ("settings", "text"),
    [({"changed": "0"}, "without changes"), ({"versions": 0}, "no data"), ({"every": "0 s"}, "without pause")],
)
def test_wrong_settings_are_refused(settings: dict[str, object], text: str) -> None:
    with pytest.raises(DesignerError, match=text):
        values(kept(**settings))

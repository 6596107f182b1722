"""Sources are one file per area, keys are unique, records are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from designer.catalog.sources import load_sources
from designer.errors import CatalogError
from designer.sources import Status


def test_hardware_and_link_sources_are_there() -> None:
    sources = load_sources()
    assert sources["S01"].status is Status.PRIMARY
    assert "NCCL" in sources["S01"].title
    assert sources["path-latencies"].title
    assert sources["assumed"].status is Status.ASSUMED
    assert all(key == source.key for key, source in sources.items())


def _folder(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_key_may_stand_in_one_file_only(tmp_path: Path) -> None:
    record = '[x]\ntitle = "X"\nstatus = "primary"\n'
    with pytest.raises(CatalogError, match="also in") as caught:
        load_sources(_folder(tmp_path, a=record, b=record))
    assert caught.value.place == "x"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[x]\nstatus = "primary"\n', "x.title"),
        ('[x]\ntitle = "X"\nstatus = "sure"\n', "x.status"),
        ('[x]\ntitle = "X"\nweight = 1\n', "x.weight"),
        ('x = "y"\n', "x"),
        ("[x\n", None),
    ],
)
def test_bad_records_say_where(tmp_path: Path, text: str, place: str | None) -> None:
    with pytest.raises(CatalogError) as caught:
        load_sources(_folder(tmp_path, a=text))
    assert caught.value.place == place
    assert caught.value.file

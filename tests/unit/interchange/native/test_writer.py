"""Writing: the same bytes always, and never half a file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from designer import atomic
from designer.design.document import Design, WorkloadSpec
from designer.errors import FormatError
from designer.interchange.native.reader import load
from designer.interchange.native.writer import dumps, save
from tests.designs import one_server, one_unit


def test_the_order_things_were_made_in_does_not_matter() -> None:
    server = one_server()
    turned = server.model_copy(
        update={"parts": dict(reversed(server.parts.items())), "links": dict(reversed(server.links.items()))}
    )
    assert dumps(turned) == dumps(server)


def test_another_process_writes_the_same_bytes(checkout: Path) -> None:
    program = (
        "from tests.designs import one_unit; from designer.interchange.native.writer import dumps; "
        "import sys; sys.stdout.buffer.write(dumps(one_unit(2)).encode())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "123", "LC_ALL": "C"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=checkout, capture_output=True, env=environment, check=True)
    assert done.stdout.decode() == dumps(one_unit(2))


def test_a_failure_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.design.json"
    save(one_server(), path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(atomic.os, step, full)
            with pytest.raises(FormatError, match="No space left on device") as caught:
                save(one_unit(2), path)
        assert caught.value.file == str(path)
        assert load(path).design == one_server()
        assert os.listdir(tmp_path) == ["x.design.json"]


@pytest.mark.parametrize("name", [".", "missing/x.json", "x" * 300])
def test_places_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(FormatError) as caught:
        save(one_server(), tmp_path / name)
    assert caught.value.remedy


def test_text_that_is_no_unicode_is_refused_and_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.design.json"
    save(one_server(), path)
    spec = WorkloadSpec(id="w", kind="training", settings={"note": "\ud800"})
    with pytest.raises(FormatError, match="half a character"):
        save(Design.model_validate({"name": "x", "workloads": [spec]}), path)
    assert load(path).design == one_server()


def test_permissions_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.design.json"
    save(one_server(), path)
    path.chmod(0o600)
    save(one_unit(2), path)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("number", "remedy"), [(13, "may write to"), (30, "may write to"), (28, "free some space"), (36, "shorter name")]
)
def test_the_remedy_fits_the_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, remedy: str) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(atomic, "_new_file", refuse)
    with pytest.raises(FormatError) as caught:
        save(one_server(), tmp_path / "x.design.json")
    assert remedy in str(caught.value.remedy)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"no folder .*missing.* make the folder first"):
        save(one_server(), tmp_path / "missing" / "x.design.json")
    assert not os.listdir(tmp_path)

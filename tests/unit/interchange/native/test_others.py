"""Nobody's work is written over unasked: files that others changed, or have open."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from designer.cli.main import run
from designer.design.document import Design
from designer.design.edits.properties import SetProperties
from designer.errors import FormatError
from designer.interchange.native.held import file_lock
from designer.interchange.native.reader import load
from designer.interchange.native.writer import Conflict, save
from tests.designs import one_unit


def titled(title: str) -> Design:
    return SetProperties({"title": title}).apply(one_unit(2))


def elsewhere(checkout: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    """What another program does."""
    program = "\n".join(
        (
            "from designer.design.edits.properties import SetProperties",
            "from designer.interchange.native.reader import load",
            "from designer.interchange.native.writer import save",
            *lines,
        )
    )
    return subprocess.run([sys.executable, "-c", program], cwd=checkout, check=True, capture_output=True, text=True)


def test_a_script_that_read_a_file_does_not_write_over_what_came_in_between(tmp_path: Path, checkout: Path) -> None:
    file = tmp_path / "a.design.json"
    save(titled("first"), file)
    design = load(file).design
    elsewhere(checkout, f"save(SetProperties({{'title': 'other'}}).apply(load({str(file)!r}).design), {str(file)!r})")
    with pytest.raises(Conflict, match="changed by somebody else"):
        save(SetProperties({"title": "mine"}).apply(design), file)
    assert load(file).design.title == "other"
    # having read it again one knows what one writes over
    save(SetProperties({"title": "mine"}).apply(load(file).design), file)
    elsewhere(checkout, f"save(SetProperties({{'title': 'other'}}).apply(load({str(file)!r}).design), {str(file)!r})")
    save(titled("forced"), file, overwrite=True)
    assert load(file).design.title == "forced"


def test_writing_the_same_again_is_no_conflict(tmp_path: Path) -> None:
    file = tmp_path / "a.design.json"
    save(titled("first"), file)
    text = file.read_bytes()
    file.write_bytes(text.replace(b"first", b"other"))
    save(titled("other"), file)
    assert load(file).design.title == "other"


def test_a_file_that_is_open_elsewhere_is_not_written_and_its_owner_is_named(tmp_path: Path, checkout: Path) -> None:
    file = tmp_path / "a.design.json"
    save(titled("first"), file)
    program = (
        "import sys; from designer.interchange.native.held import file_lock; "
        f"lock = file_lock({str(file)!r}); print(lock.take(), flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=checkout, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        owner = file_lock(file).owner()
        assert owner is not None
        with pytest.raises(Conflict, match="open elsewhere") as caught:
            save(titled("mine"), file)
        assert caught.value.owner == owner
        assert load(file).design.title == "first"
        assert run(["new", "--template", "hgx-h100-8", "-o", str(file)]) == 2
        save(titled("forced"), file, overwrite=True)
        other.kill()
    save(titled("mine"), file)
    assert load(file).design.title == "mine"


def test_nothing_is_left_beside_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a.design.json"
    save(titled("first"), file)
    assert [p.name for p in tmp_path.iterdir()] == ["a.design.json"]
    assert json.loads(file.read_text(encoding="utf-8"))["format"] == "designer-design"


def test_a_file_somebody_is_writing_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from designer.interchange.native import writer
    from designer.interchange.native.held import writing_lock

    monkeypatch.setattr(writer, "_PATIENCE", 0.05)
    file = tmp_path / "a.design.json"
    other = writing_lock(file)
    assert other.take()
    with pytest.raises(FormatError, match="just now"):
        save(titled("mine"), file)
    other.release()
    save(titled("mine"), file)

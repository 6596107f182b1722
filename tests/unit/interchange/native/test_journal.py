"""The journal: what is left after a crash, and how large it gets."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from designer.design.document import Design, Part
from designer.design.edits.groups import SetReplicas
from designer.design.edits.parts import AddParts, ChangeParts, RemoveParts
from designer.design.edits.properties import SetPolicy, SetProperties
from designer.design.edits.structure import MakeException, ResetException
from designer.design.history import History
from designer.errors import FormatError
from designer.interchange.native import journal as journals
from designer.interchange.native.journal import Journal, is_running, left_behind, recover
from tests.designs import one_unit

EDITS = (
    AddParts((Part(id="leaf", kind="switch"),)),
    MakeException("servers", 1),
    ChangeParts(("gpu0",), {"name": "A"}, within=(("servers", 1),)),
    RemoveParts(("gpu1",), within=("servers",)),
    SetReplicas("servers", 3),
    SetProperties({"title": "T"}),
    SetPolicy({"ecmp": "hash"}),
    ResetException("servers"),
    RemoveParts(("leaf",)),
)


def test_every_design_on_the_way_is_recovered_undo_included(tmp_path: Path) -> None:
    history = History(one_unit(2))
    keeper = Journal(tmp_path / "a.journal", file="unit.design.json")
    assert not keeper.path.exists()
    for edit in EDITS:
        keeper.record(history.do(edit))
        assert recover(keeper.path).design == history.design
    while history.can_undo:
        keeper.record(history.undo())
        assert recover(keeper.path).design == history.design
    found = recover(keeper.path)
    assert (found.file, found.findings) == ("unit.design.json", [])
    assert found.edits == 2 * len(EDITS) - 1
    keeper.discard()
    assert not keeper.path.exists()


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_an_unfinished_last_line_costs_the_last_edit_only(tmp_path: Path, cut: int) -> None:
    keeper = Journal(tmp_path / "a.journal")
    design = one_unit(2)
    designs = []
    for n in range(3):
        design = SetProperties({"title": f"{n}" * 50}).apply(design)
        designs.append(design)
        keeper.record(design)
    keeper.close()
    data = keeper.path.read_bytes()
    keeper.path.write_bytes(data[:-cut])
    found = recover(keeper.path)
    assert found.design == (designs[-1] if cut == 1 else designs[-2])
    keeper.path.write_bytes(data[:-cut] + b"\0" * 100)
    assert recover(keeper.path).design == designs[-2]
    assert [f.code for f in recover(keeper.path).findings] == ["JRN-TAIL"]


def test_a_killed_program_loses_nothing_it_noted(tmp_path: Path, checkout: Path) -> None:
    path = tmp_path / "killed.journal"
    program = f"""
import os, signal
from designer.design.edits.properties import SetProperties
from designer.interchange.native.journal import Journal
from tests.designs import one_unit
journal, design = Journal({str(path)!r}), one_unit(2)
for n in range(10):
    design = SetProperties({{"title": str(n)}}).apply(design)
    journal.record(design)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=checkout, check=False)
    assert done.returncode == -signal.SIGKILL
    assert recover(path).design == SetProperties({"title": "9"}).apply(one_unit(2))
    assert left_behind(tmp_path) == [path]


def test_journals_of_running_programs_are_left_alone(tmp_path: Path) -> None:
    keeper = Journal(tmp_path / "mine.journal")
    keeper.record(one_unit(2))
    (tmp_path / "torn.journal").write_bytes(b'{"process": ')
    (tmp_path / "list.journal").write_bytes(b"[]")
    assert left_behind(tmp_path) == []
    keeper.discard()
    assert is_running(os.getpid())
    assert not is_running(-1)
    assert not is_running(2**40)


def test_the_file_stays_in_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "_COMPACT_FROM", 10_000)
    keeper = Journal(tmp_path / "a.journal", sync=False)
    design = one_unit(2)
    keeper.record(design)
    start = keeper.path.stat().st_size
    largest = 0
    for n in range(2000):
        design = ChangeParts(("gpu0",), {"name": f"name {n}"}, within=("servers",)).apply(design)
        keeper.record(design)
        largest = max(largest, keeper.path.stat().st_size)
    assert largest < 4 * start + 20_000
    assert recover(keeper.path).design == design
    keeper.close()


def test_a_full_disk_is_told_and_the_next_record_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = Journal(tmp_path / "a.journal")
    design = one_unit(2)
    keeper.record(design)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(journals.os, "fsync", full)
        with pytest.raises(FormatError, match="No space left"):
            keeper.record(SetProperties({"title": "lost"}).apply(design))
    later = SetProperties({"title": "kept"}).apply(design)
    keeper.record(later)
    assert recover(keeper.path).design == later
    keeper.discard()


@pytest.mark.parametrize("data", [b"", b"{}", b"[]\n", b'{"format": "designer-journal"}\n', b"\0\0", b"[" * 99999])
def test_other_files_are_no_journals(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.journal"
    path.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        recover(path)
    assert caught.value.file == str(path)


def test_nothing_in_a_journal_is_executed(tmp_path: Path) -> None:
    text = Path(journals.__file__).read_text(encoding="utf-8")
    assert "pickle" not in text
    assert "eval(" not in text
    keeper = Journal(tmp_path / "a.journal")
    keeper.record(Design(name="x"))
    keeper.close()
    assert keeper.path.read_text(encoding="utf-8").startswith('{"design":{"name":"x"}')

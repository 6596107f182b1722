"""The journal: what is left after a crash, and how large it gets."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from designer.design.document import Design, Part
from designer.design.edits.groups import SetReplicas
from designer.design.edits.parts import AddParts, ChangeParts, RemoveParts
from designer.design.edits.properties import SetPolicy, SetProperties
from designer.design.edits.structure import ResetException
from designer.design.history import History
from designer.errors import FormatError, WriteError
from designer.interchange.native import journal as journals
from designer.interchange.native.held import Lock
from designer.interchange.native.journal import (
    Claim,
    Journal,
    State,
    is_running,
    left_behind,
    new_path,
    recover,
    survey,
)
from designer.interchange.native.raw import digest_of
from designer.interchange.native.writer import dumps, save
from tests.designs import one_unit
from tests.made_edits import MakeException

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
    assert {p.name for p in left_behind(tmp_path)} == {"torn.journal", "list.journal"}
    assert {x.state for x in survey(tmp_path)} == {State.DAMAGED}
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


def test_a_full_disk_is_reported_and_the_next_record_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = Journal(tmp_path / "a.journal")
    design = one_unit(2)
    keeper.record(design)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(journals, "_write", full)
        with pytest.raises(FormatError, match="No space left"):
            keeper.record(SetProperties({"title": "lost"}).apply(design))
    later = SetProperties({"title": "kept"}).apply(design)
    keeper.record(later)
    found = recover(keeper.path)
    assert found.design == later
    # two edits are in no file, though the journal was begun again with both in it
    assert (found.edits, found.begun) == (2, None)
    keeper.discard()


def test_a_disk_that_fails_to_keep_is_reported_at_once_and_at_the_next_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated: list[OSError | None] = []
    heard = threading.Event()

    def synced(trouble: OSError | None) -> None:
        stated.append(trouble)
        heard.set()

    keeper = Journal(tmp_path / "a.journal", synced=synced)
    design = one_unit(2)
    keeper.record(design)
    assert heard.wait(5)
    assert stated == [None]
    heard.clear()

    def broken(_handle: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(journals.os, "fsync", broken)
        keeper.record(design := SetProperties({"title": "1"}).apply(design))
        assert heard.wait(5)
        assert isinstance(stated[-1], OSError)
    with pytest.raises(FormatError, match="Input/output"):
        keeper.record(design := SetProperties({"title": "2"}).apply(design))
    keeper.record(design := SetProperties({"title": "3"}).apply(design))
    assert recover(keeper.path).design == design
    keeper.discard()


def test_edits_are_with_the_system_at_once_and_many_share_one_call_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(journals.os, "fsync", calls.append)
    keeper = Journal(tmp_path / "a.journal")
    design = one_unit(2)
    keeper.record(design)
    calls.clear()
    for n in range(50):
        keeper.record(design := SetProperties({"title": f"{n}"}).apply(design))
        assert f'"{n}"' in keeper.path.read_text(encoding="utf-8").splitlines()[-1]
    keeper.close()
    assert len(calls) < 50


def test_journals_are_for_their_owner_alone(tmp_path: Path) -> None:
    keeper = Journal(tmp_path / "a.journal")
    keeper.record(one_unit(2))
    assert keeper.path.stat().st_mode & 0o777 == 0o600
    keeper.discard()
    assert list(tmp_path.iterdir()) == []


def test_names_do_not_meet_and_a_name_in_use_is_not_written_over(tmp_path: Path) -> None:
    assert len({new_path(tmp_path) for _ in range(100)}) == 100
    first, second = Journal(tmp_path / "a.journal"), Journal(tmp_path / "a.journal")
    first.record(one_unit(2))
    with pytest.raises(FormatError, match="another program"):
        second.record(one_unit(3))
    assert recover(first.path).design == one_unit(2)
    first.discard()


def left(folder: Path, *titles: str, file: Path | None = None, unsaved: bool = False) -> Path:
    """A journal of a program that is gone, with an edit for each title."""
    digest = digest_of(file.read_bytes()) if file is not None else None
    keeper = Journal(new_path(folder), str(file) if file is not None else None, digest=digest, unsaved=unsaved)
    design = one_unit(2)
    keeper.record(design)
    for title in titles:
        keeper.record(design := SetProperties({"title": title}).apply(design))
    keeper.close()
    return keeper.path


def test_only_what_no_file_holds_is_offered(tmp_path: Path) -> None:
    kept = left(tmp_path, "new", unsaved=False)
    imported = left(tmp_path, unsaved=True)
    untouched = left(tmp_path)
    undone = left(tmp_path, "a", one_unit(2).title)
    found = {x.journal: x for x in survey(tmp_path)}
    assert found.keys() == {kept, imported}
    assert (found[kept].edits, found[kept].title) == (1, "new")
    assert found[imported].edits == 0
    assert not untouched.exists()
    assert not undone.exists()


def test_a_journal_older_than_its_saved_file_is_not_offered(tmp_path: Path) -> None:
    file = tmp_path / "a.design.json"
    save(one_unit(2), file)
    same = left(tmp_path, "new", file=file)
    save(SetProperties({"title": "new"}).apply(one_unit(2)), file)
    # the file holds just what the journal holds: killed between saving and tidying up
    assert survey(tmp_path) == []
    assert not same.exists()
    older = left(tmp_path, "older", file=file)
    os.utime(older, (1e9, 1e9))
    save(SetProperties({"title": "later"}).apply(one_unit(2)), file)
    (found,) = survey(tmp_path)
    assert found.state is State.OLDER
    assert older.exists(), "it may still hold work: nobody asked to delete it"


@pytest.mark.parametrize("written", [True, False])
def test_a_kill_while_saving_under_a_name(tmp_path: Path, written: bool) -> None:
    file = tmp_path / "a.design.json"
    keeper = Journal(new_path(tmp_path))
    keeper.record(one_unit(2))
    design = SetProperties({"title": "new"}).apply(one_unit(2))
    keeper.record(design)
    data = dumps(design).encode()
    keeper.saving(str(file), digest_of(data))
    if written:
        file.write_bytes(data)
    keeper.close()
    found = survey(tmp_path)
    assert [x.edits for x in found] == ([] if written else [1])


def test_edits_after_a_save_belong_to_the_saved_file(tmp_path: Path) -> None:
    file = tmp_path / "a.design.json"
    keeper = Journal(new_path(tmp_path))
    keeper.record(one_unit(2))
    design = SetProperties({"title": "saved"}).apply(one_unit(2))
    keeper.record(design)
    digest = digest_of(dumps(design).encode())
    keeper.saving(str(file), digest)
    save(design, file)
    keeper.saved(design, str(file), digest)
    for n in range(3):
        keeper.record(design := SetProperties({"title": f"{n}"}).apply(design))
    keeper.close()
    (found,) = survey(tmp_path)
    assert (found.file, found.edits, found.state) == (file, 3, State.UNSAVED)
    back = recover(found.journal)
    assert (back.digest, back.design) == (digest, design)


def test_what_is_undone_past_a_save_is_offered(tmp_path: Path) -> None:
    """Opened, changed, saved and undone: the file holds the change, and only the journal holds what was opened."""
    file = tmp_path / "a.design.json"
    opened = one_unit(2)
    save(opened, file)
    keeper = Journal(new_path(tmp_path), str(file), digest=digest_of(file.read_bytes()))
    keeper.record(opened)
    changed = SetProperties({"title": "changed"}).apply(opened)
    keeper.record(changed)
    digest = digest_of(dumps(changed).encode())
    keeper.saving(str(file), digest)
    save(changed, file)
    keeper.saved(changed, str(file), digest)
    keeper.record(SetProperties({"title": opened.title}).apply(changed))
    keeper.close()
    (found,) = survey(tmp_path)
    assert (found.state, found.edits) == (State.UNSAVED, 1)
    assert found.design == opened


def test_a_journal_is_brought_back_once(tmp_path: Path) -> None:
    path = left(tmp_path, "new")
    with Claim(path) as found:
        assert found.design.title == "new"
        assert left_behind(tmp_path) == []
        with pytest.raises(FormatError, match="already"), Claim(path):
            pass
    assert not path.exists()
    again = left(tmp_path, "new")
    with pytest.raises(RuntimeError), Claim(again):
        raise RuntimeError
    assert left_behind(tmp_path) == [again], "it stays until its design is elsewhere"


def test_locks_end_with_their_program_and_say_whose_they_are(tmp_path: Path, checkout: Path) -> None:
    path = tmp_path / "x.lock"
    program = f"""
import sys
from designer.interchange.native.held import Lock
lock = Lock({str(path)!r})
print(lock.take(), flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=checkout, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        mine = Lock(path)
        owner = mine.owner()
        assert owner is not None
        assert owner.process == other.pid
        assert not mine.take()
        other.kill()
        other.wait()
    assert mine.owner() is None
    assert mine.take()
    mine.release()
    assert not path.exists()


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


@pytest.mark.skipif(os.name != "posix", reason="elsewhere those who look take turns")
def test_those_who_look_at_a_free_lock_do_not_disturb_each_other(tmp_path: Path) -> None:
    from designer.interchange.native import held

    path = tmp_path / "x.lock"
    path.touch()
    handle = os.open(path, os.O_RDWR)
    assert held._lock(handle, only_look=True)
    assert Lock(path).owner() is None
    os.close(handle)
    mine = Lock(path)
    assert mine.take()
    mine.release()


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links as POSIX systems have them")
@pytest.mark.parametrize("suffix", [".journal", ".lock"])
def test_a_journal_or_its_lock_that_is_a_link_leaves_its_target_alone(tmp_path: Path, suffix: str) -> None:
    victim = tmp_path / "precious"
    victim.write_text("precious", encoding="utf-8")
    (tmp_path / f"a{suffix}").symlink_to(victim)
    keeper = Journal(tmp_path / "a.journal")
    with pytest.raises(WriteError, match="journal cannot be written"):
        keeper.record(Design(name="x"))
    keeper.close()
    assert victim.read_text(encoding="utf-8") == "precious"
    assert (tmp_path / f"a{suffix}").is_symlink()


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links as POSIX systems have them")
def test_a_journal_whose_lock_is_a_link_is_refused_in_words(tmp_path: Path) -> None:
    path = left(tmp_path, "new")
    path.with_suffix(".lock").symlink_to(tmp_path / "precious")
    with pytest.raises(FormatError, match="cannot be locked"), Claim(path):
        pass
    assert not (tmp_path / "precious").exists()
    assert path.exists()

"""Writing design files, alone and while others write them."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from designer import atomic
from designer.cli.main import run
from designer.design.document import Design, WorkloadSpec
from designer.design.edits.properties import SetProperties
from designer.errors import FormatError
from designer.interchange.native.held import file_lock
from designer.interchange.native.reader import load
from designer.interchange.native.writer import Conflict, dumps, save
from designer.shared_files import exclusive
from tests.designs import one_server, one_unit

# Writing: the same bytes always, and never half a file.


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


# Nobody's work is written over unasked: files that others changed, or have open.


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

    monkeypatch.setattr(writer, "_PATIENCE", 0.05)
    file = tmp_path / "a.design.json"
    save(titled("first"), file)
    with exclusive(file, 1) as alone:
        assert alone
        with pytest.raises(FormatError, match="just now"):
            save(titled("mine"), file)
    save(titled("mine"), file)
    assert load(file).design.title == "mine"


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links as POSIX systems have them")
@pytest.mark.parametrize("kind", ["link", "dangling link", "hard link", "pipe", "folder", "file"])
def test_a_hostile_file_by_the_name_of_a_lock_changes_nothing(tmp_path: Path, kind: str) -> None:
    """An archive may hold `.a.design.json.lock -> ../../.bashrc`; opening or saving the design must not empty that."""
    victim = tmp_path / "precious"
    folder = tmp_path / "archive"
    folder.mkdir()
    file = folder / "a.design.json"
    save(titled("first"), file)
    if kind != "dangling link":
        victim.write_text("precious\n", encoding="utf-8")
    for end in ("lock", "saving"):
        name = folder / f".a.design.json.{end}"
        match kind:
            case "hard link":
                os.link(victim, name)
            case "pipe":
                os.mkfifo(name)
            case "folder":
                name.mkdir()
            case "file":
                name.write_text("precious\n", encoding="utf-8")
            case _:
                name.symlink_to(victim)
    before = {p.name: p.lstat().st_mode for p in folder.iterdir()}
    lock = file_lock(file)
    with pytest.raises(OSError, match=r"link|regular|lock|directory|exists"):
        lock.take()
    assert not lock.held
    assert lock.owner() is None
    lock.release()
    save(titled("second"), file)
    assert load(file).design.title == "second"
    assert {p.name: p.lstat().st_mode for p in folder.iterdir()} == before, "nobody's file is taken away"
    assert victim.exists() == (kind != "dangling link")
    for path in (victim, folder / ".a.design.json.lock"):
        if path.is_file():
            assert path.read_text(encoding="utf-8") == "precious\n"


def test_a_full_disk_leaves_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "no space left on device")

    lock = file_lock(tmp_path / "a.design.json")
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="no space"):
            lock.take()
    assert list(tmp_path.iterdir()) == []
    assert lock.take()
    lock.release()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_kill_while_a_file_is_written_leaves_nothing_beside_it(tmp_path: Path, checkout: Path) -> None:
    file = tmp_path / "a.design.json"
    save(titled("first"), file)
    program = (
        "import os, signal; from designer import atomic; from designer.interchange.native import writer\n"
        "writer.write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from designer.interchange.native.reader import load\n"
        f"writer.save(load({str(file)!r}).design, {str(file)!r})"
    )
    killed = subprocess.run([sys.executable, "-c", program], cwd=checkout, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [p.name for p in tmp_path.iterdir()] == ["a.design.json"]
    save(titled("second"), file)


def test_writers_of_one_file_take_turns(tmp_path: Path) -> None:
    """Each replaces the file; those who waited see the new one, so no two ever hold the turn together."""
    file = tmp_path / "x"
    file.write_bytes(b"0")
    inside: list[int] = []

    def count() -> None:
        for _ in range(50):
            with exclusive(file, 30) as alone:
                assert alone
                inside.append(1)
                assert len(inside) == 1
                number = int(file.read_bytes()) + 1
                inside.pop()
                # the turn ends with the file it was taken on
                atomic.write(file, str(number).encode())

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.read_bytes() == b"200"

"""Files are written whole or not at all, and nothing but plain files is ever replaced."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from designer import atomic
from designer.errors import ExchangeError, FormatError, WriteError

_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="devices and attributes as Linux has them")


@pytest.fixture(params=["nameless", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways a new file comes about: without a name until it is whole, and with one."""
    if request.param == "named":
        monkeypatch.setattr(atomic, "_flag", lambda name: 0 if name == "O_TMPFILE" else getattr(os, name, 0))
    return request.param


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    """Sets the umask of the test, which afterwards is as it was."""
    old = os.umask(0o022)
    yield os.umask
    os.umask(old)


@pytest.mark.usefixtures("way")
def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "x"
    assert atomic.write(file, b"one") == ()
    assert atomic.write(file, b"another") == ()
    assert file.read_bytes() == b"another"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_permissions_of_the_umask(
    tmp_path: Path, umask: Callable[[int], int], mask: int, mode: int
) -> None:
    umask(mask)
    atomic.write(tmp_path / "x", b"one")
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == mode
    atomic.write(tmp_path / "private", b"one", private=True)
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600


@pytest.mark.usefixtures("way")
def test_mode_and_attributes_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"old")
    file.chmod(0o640)
    if sys.platform == "linux":
        try:
            os.setxattr(file, "user.origin", b"lab")
        except OSError:
            pytest.skip("this file system has no attributes")
    atomic.write(file, b"new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    if sys.platform == "linux":
        assert os.getxattr(file, "user.origin") == b"lab"
    atomic.write(file, b"new", private=True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@_LINUX
@pytest.mark.usefixtures("way")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    file = tmp_path / "x"
    file.write_bytes(b"old")
    os.chown(file, 12345, 54321)
    file.chmod(0o660)
    assert atomic.write(file, b"new") == ()
    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 54321)
    assert stat.S_IMODE(file.stat().st_mode) == 0o660


def test_an_owner_that_cannot_be_kept_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a file of another owner")
    file = tmp_path / "x"
    file.write_bytes(b"old")
    os.chown(file, 12345, 54321)
    file.chmod(0o664)

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "not permitted")

    monkeypatch.setattr(atomic.os, "fchown", refuse)
    (note,) = atomic.write(file, b"new")
    assert "belongs to you now" in note
    # the group that is now the file's is given no more than everybody
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


@_LINUX
def test_a_device_stays_a_device(tmp_path: Path) -> None:
    """The mistake of old: root exporting to /dev/null replaced the device by a file."""
    if os.geteuid() != 0:
        pytest.skip("only root can make devices")
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.write_bytes(b"")
    except PermissionError:
        pytest.skip("no devices may be made here")
    link = tmp_path / "link"
    link.symlink_to(device)
    for name in (device, link):
        assert atomic.write(name, b"data") == ()
        assert stat.S_ISCHR(device.stat().st_mode)
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link", "null"]


@_LINUX
def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    atomic.write(pipe, b"x" * 300_000)  # more than a pipe holds
    reader.join(10)
    assert got == [b"x" * 300_000]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


@_LINUX
def test_a_pipe_nobody_reads_does_not_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "_READER_WAIT", 0.1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WriteError, match="nobody reads from this pipe"):
        atomic.write(tmp_path / "pipe", b"x")


@_LINUX
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_name(name: str, checkout: Path) -> None:
    program = f"from designer import atomic; atomic.write({name!r}, b'data')"
    done = subprocess.run([sys.executable, "-c", program], cwd=checkout, capture_output=True, check=True)
    assert done.stdout == b"data"


def test_a_symbolic_link_stays_and_what_it_points_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    real, link = tmp_path / "folder" / "real", tmp_path / "link"
    link.symlink_to("folder/real")
    for data in (b"made through the link", b"replaced through the link"):
        atomic.write(link, data)
        assert link.is_symlink()
        assert not real.is_symlink()
        assert real.read_bytes() == data


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(WriteError) as refused:
        atomic.write(tmp_path / "a", b"x")
    assert "link" in str(refused.value.remedy)
    assert (tmp_path / "a").is_symlink()


def test_other_names_of_the_file_are_reported(tmp_path: Path) -> None:
    file, other = tmp_path / "x", tmp_path / "other"
    file.write_bytes(b"old")
    os.link(file, other)
    (note,) = atomic.write(file, b"new")
    assert "another name, which keeps the old content" in note
    assert (file.read_bytes(), other.read_bytes()) == (b"new", b"old")


def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"old")
    file.chmod(0o444)
    with pytest.raises(WriteError, match="read-only") as refused:
        atomic.write(file, b"new")
    assert refused.value.remedy
    assert file.read_bytes() == b"old"


@pytest.mark.parametrize("name", ["", "sub", "missing/x", "x" * 300, "a\0b", "file/x"])
def test_names_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(WriteError) as refused:
        atomic.write(f"{tmp_path}/{name}", b"x")
    assert refused.value.file
    assert refused.value.remedy
    assert sorted(os.listdir(tmp_path)) == ["file", "sub"]


def test_long_names_and_names_that_are_no_text(tmp_path: Path) -> None:
    for name in ("ä" * 120, "x" * 255, os.fsdecode(b"\xff\xfe.json")):
        atomic.write(tmp_path / name, b"x")
        assert (tmp_path / name).read_bytes() == b"x"


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_what_fails_on_the_way_leaves_the_old_file_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(atomic.os, step, fail)
    with pytest.raises((WriteError, KeyboardInterrupt)):
        atomic.write(file, b"new")
    assert file.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]


@_LINUX
def test_a_kill_in_the_middle_leaves_no_rest(tmp_path: Path, checkout: Path) -> None:
    program = textwrap.dedent(f"""
        import os, time
        from designer import atomic
        atomic._sync = lambda handle: (print("now", flush=True), time.sleep(60))
        atomic.write({str(tmp_path / "x")!r}, b"new")
    """)
    (tmp_path / "x").write_bytes(b"old")
    process = subprocess.Popen([sys.executable, "-c", program], cwd=checkout, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"now\n"
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    process.stdout.close()
    assert (tmp_path / "x").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]


def test_readers_never_see_half_a_file(tmp_path: Path) -> None:
    file, seen = tmp_path / "x", set[bytes]()
    contents = {bytes([65 + k]) * 50_000 for k in range(3)}
    atomic.write(file, min(contents))
    end = time.monotonic() + 0.5

    def read() -> None:
        while time.monotonic() < end:
            seen.add(file.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    while time.monotonic() < end:
        for content in contents:
            atomic.write(file, content)
    reader.join()
    assert seen <= contents


def test_the_error_is_one_of_every_door() -> None:
    assert issubclass(WriteError, FormatError)
    assert issubclass(WriteError, ExchangeError)

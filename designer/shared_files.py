"""Files that several programs write at the same time: one turn each, and files that grow line by line.

The lock is on the file itself, so nothing is left next to it after a kill or on a full disk. A program that replaces
the file takes the lock with it; those that waited see that the name belongs to another file now, and lock that one.
Where the system cannot replace an open file (Windows), a hidden file next to it is locked, which the system removes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from designer import atomic
from designer.errors import FormatError, WriteError

#: how long other programs may take for their turn [s]
_PATIENCE: Final = 60.0
#: between two tries [s]
_PAUSE: Final = 0.005
_HELD: Final = {errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK}
_READ_WRITE: Final = os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)


@contextmanager
def exclusive(path: str | os.PathLike[str], seconds: float) -> Generator[bool]:
    """Hold the turn to replace a file; the value is False if another program still has it after so many seconds.

    The turn ends when the file is replaced: that is the last thing to do with it.
    A file that does not exist, is no regular file, cannot be opened for writing or lies on a disk without locks gives
    the turn to everybody: writing it then reports what is wrong.
    """
    try:
        handle = _wait(Path(path), lambda: os.open(path, _READ_WRITE), seconds)
    except TimeoutError:
        yield False
        return
    except (OSError, ValueError):
        handle = None
    with _closed_after(handle):
        yield True


@contextmanager
def _closed_after(handle: int | None) -> Generator[None]:
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _wait(path: Path, opened: Callable[[], int], seconds: float) -> int | None:
    """The file, open and locked; None where nothing can be locked.

    Raises
    ------
    TimeoutError
        If another program has it locked for so long.
    OSError
        If it cannot be opened.
    """
    until = time.monotonic() + seconds
    if sys.platform == "win32":
        real = Path(os.path.realpath(path))
        path = real.with_name(f".{real.name[:200]}.saving")

        def opened() -> int:
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TEMPORARY)

    while True:
        handle = opened()
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                os.close(handle)
                return None
            atomic.lock(handle)
            if atomic.is_named(handle, path):
                return handle
        except OSError as error:
            if error.errno not in _HELD:
                os.close(handle)
                return None
        # another program has it, or has just replaced it
        os.close(handle)
        if time.monotonic() > until:
            raise TimeoutError
        time.sleep(_PAUSE)


class LineFile:
    """A text file that several programs append lines to; a line is in it whole or not at all.

    Parameters
    ----------
    head
        The first line. A file that begins with something else is never changed.
    companion
        True if the program chose the name: then a symbolic link by that name is refused.
    """

    def __init__(self, path: Path, head: str, companion: bool = False) -> None:
        self.path, self.head = path, head
        self._companion = companion

    def read(self, largest: int) -> str:
        """The whole lines it holds; empty if there is no file.

        Raises
        ------
        FormatError
            If it cannot be read, or is larger than `largest` bytes.
        """
        try:
            handle = self._open(os.O_RDONLY)
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise self._unusable(error) from None
        with os.fdopen(handle, "rb") as file:
            try:
                data = file.read(largest + 1)
                if len(data) > largest:
                    raise FormatError("the file is too large", file=str(self.path), remedy="choose another file")
                # a line that a kill cut in half is no line
                return data[: data.rfind(b"\n") + 1].decode()
            except (OSError, ValueError) as error:
                raise self._unusable(error) from None

    def append(self, line: str) -> None:
        """Add a line; from then on no stop of the program loses it.

        Raises
        ------
        WriteError
            If the system refuses, or other programs do not let go of the file.
        FormatError
            If it begins with another line than `head` now.
        """
        try:
            with self.turn():
                self._append(line)
        except OSError as error:
            raise WriteError(
                f"cannot write: {error.strerror or error}", file=str(self.path), remedy="free some space; then go on"
            ) from None

    def _append(self, line: str) -> None:
        head = f"{self.head}\n".encode()
        handle = self._open(_READ_WRITE | os.O_CREAT)
        try:
            size = os.fstat(handle).st_size
            if size:
                os.lseek(handle, 0, os.SEEK_SET)
                if os.read(handle, len(head)) != head[:size]:
                    raise FormatError(
                        "the file holds something else", file=str(self.path), remedy="choose another file"
                    )
            keep = _complete_length(handle, size) if size >= len(head) else 0
            if keep < size:
                os.ftruncate(handle, keep)
            os.lseek(handle, 0, os.SEEK_END)
            data = memoryview((b"" if keep else head) + f"{line}\n".encode())
            while data:
                data = data[os.write(handle, data) :]
        finally:
            os.close(handle)

    def rewrite(self, make: Callable[[], str | None]) -> None:
        """Replace the file, or remove it where `make` gives None, while no other program appends.

        Raises
        ------
        WriteError
            If it cannot be written.
        """
        with self.turn():
            text = make()
            if text is None:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self.path)
            else:
                atomic.write(self.path, text.encode())

    @contextmanager
    def turn(self) -> Generator[None]:
        """Hold the turn to write; the file is made if there is none.

        Raises
        ------
        WriteError
            If other programs do not let go of it.
        """
        try:
            handle = _wait(self.path, lambda: self._open(_READ_WRITE | os.O_CREAT), _PATIENCE)
        except TimeoutError:
            raise WriteError("another program keeps writing it", file=str(self.path), remedy="try again") from None
        except (OSError, ValueError) as error:
            raise self._unusable(error) from None
        with _closed_after(handle):
            yield

    def _open(self, flags: int) -> int:
        if self._companion:
            return atomic.open_companion(self.path, flags)
        return os.open(self.path, flags | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0), 0o666)

    def _unusable(self, error: Exception) -> WriteError:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return WriteError(f"the file cannot be used: {why}", file=str(self.path), remedy="choose another file")


def _complete_length(handle: int, size: int) -> int:
    """How many bytes of a file are whole lines."""
    at = size
    while at > 0:
        begin = max(0, at - 65_536)
        os.lseek(handle, begin, os.SEEK_SET)
        found = os.read(handle, at - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        at = begin
    return 0

"""Locks that are held as long as a program lives, and gone with it however it ends: who has a file open.

A lock is a small file that the system keeps locked for us; what it says is for people. It needs no clean-up after a
crash, and works between windows, scripts and containers that see the same disk.
"""

from __future__ import annotations

import contextlib
import errno
import getpass
import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any, Final, NamedTuple

from designer.atomic import is_named, lock, open_companion

_UNSUPPORTED: Final = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL}
#: what a lock file may hold [B]
_LARGEST: Final = 10_000
#: it is tried so often, with a pause as long as looking at a lock may take [s]
_TURNS: Final = 4
_LOOK: Final = 0.003


class Owner(NamedTuple):
    """Who holds a lock."""

    user: str
    host: str
    process: int
    since: float

    @property
    def text(self) -> str:
        """For people: "anna on node7, since 14:03"."""
        day = "%H:%M" if time.time() - self.since < 43_200 else "%d %B, %H:%M"
        return f"{self.user} on {self.host}, since {time.strftime(day, time.localtime(self.since))}"


class Lock:
    """A lock by the name of a file, which is there as long as the lock is held."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._handle: int | None = None

    @property
    def held(self) -> bool:
        """True if it is ours."""
        return self._handle is not None

    def take(self) -> bool:
        """Take it; False if somebody else has it.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        if self._handle is not None:
            return True
        for turn in range(_TURNS):
            handle = open_companion(self.path, os.O_RDWR | os.O_CREAT)
            try:
                if not _lock(handle):
                    os.close(handle)
                    if turn + 1 < _TURNS:
                        # it may be somebody who only looks whether it is held
                        time.sleep(_LOOK)
                        continue
                    return False
                if is_named(handle, self.path):
                    if os.fstat(handle).st_size and _read(handle) is None:
                        raise OSError(errno.EEXIST, "a file of this name is there that is no lock", str(self.path))
                    self._sign(handle)
                    self._handle = handle
                    return True
            except OSError:
                os.close(handle)
                raise
            # the one before us took its file away between our opening and locking it
            os.close(handle)
        return False

    def _sign(self, handle: int) -> None:
        """Write whose it is; on a full disk the file goes again."""
        mine = Owner(_user(), socket.gethostname(), os.getpid(), time.time())
        try:
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, json.dumps(mine._asdict()).encode("ascii"))
        except OSError:
            with contextlib.suppress(OSError):
                self.path.unlink()
            raise

    def release(self) -> None:
        """Give it back."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        # while it is still ours: nobody's file but our own is taken away
        named = is_named(handle, self.path)
        if sys.platform == "win32":
            os.close(handle)
        try:
            if named:
                self.path.unlink(missing_ok=True)
        except OSError:
            # elsewhere it is open, or the folder is read-only now
            return
        finally:
            if sys.platform != "win32":
                os.close(handle)

    def owner(self) -> Owner | None:
        """Who else holds it now; None if nobody does, or it is ours."""
        if self._handle is not None:
            return None
        try:
            handle = open_companion(self.path)
        except OSError:
            return None
        try:
            if os.fstat(handle).st_size and _read(handle) is None:
                return None
            if _lock(handle, only_look=True):
                return None
            return _read(handle) or Owner("somebody", "an unknown host", 0, 0)
        finally:
            os.close(handle)


def file_lock(file: str | Path) -> Lock:
    """The lock of those who have a design file open: next to it, hidden."""
    path = Path(os.path.realpath(file))
    return Lock(path.with_name(f".{path.name[:200]}.lock"))


def is_running(process: int) -> bool:
    """True if a process of that number is alive."""
    if process <= 0:
        return False
    if sys.platform == "win32":
        import ctypes

        # asking by os.kill would end it there
        handle = ctypes.windll.kernel32.OpenProcess(0x1000, False, process)
        if handle:
            ctypes.windll.kernel32.CloseHandle(handle)
        return bool(handle)
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _lock(handle: int, only_look: bool = False) -> bool:
    """Lock a file that is open; False if somebody else has it locked. Those who only look do not disturb each other."""
    try:
        lock(handle, shared=only_look)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            # a disk without locks: what the file says decides, as far as we can look
            before = _read(handle)
            ours = before is not None and before.process == os.getpid()
            return before is None or ours or (before.host == socket.gethostname() and not is_running(before.process))
        return False
    return True


def _read(handle: int) -> Owner | None:
    """What an open lock says; None if it is empty or no lock."""
    try:
        os.lseek(handle, 0, os.SEEK_SET)
        content: Any = json.loads(os.read(handle, _LARGEST))
        user, host = str(content["user"])[:80], str(content["host"])[:80]
        return Owner(user, host, int(content["process"]), float(content["since"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"

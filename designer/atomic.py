"""The one way files are written: whole or not at all, and nothing but plain files is ever replaced.

A plain file is written next to its old self, synced, and takes its name in one step, so that a full disk, a kill or
a power failure leaves the old one as it was. It keeps its owner, mode and extended attributes; a new file has the
permissions of the umask. Symbolic links stay, what they point to is replaced. Character devices and pipes are
written to, and read without waiting for somebody to write. Where the system knows files without a name, the new one
has none until it is whole: a kill leaves no rest.
What only some systems have (locks, owners, flags) is called here and nowhere else.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple

from designer.errors import WriteError

#: permissions of files nobody but their owner may read
_PRIVATE: Final = 0o600
#: how long a pipe is given to find a reader [s]
_READER_WAIT: Final = 10.0
_TRIES: Final = 100
#: a byte far behind the content, so that others can read what a locked file says where locks keep readers out
_LOCKED_AT: Final = 1 << 40
_FOLDER: Final = "choose a folder you may write to"
_SPACE: Final = "free some space, or choose another disk"
_REMEDIES: Final = {
    errno.EACCES: _FOLDER,
    errno.EPERM: _FOLDER,
    errno.EROFS: _FOLDER,
    errno.ENOSPC: _SPACE,
    errno.EDQUOT: _SPACE,
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ELOOP: "remove the link, or choose another name",
}
#: what the system answers where it cannot do something at all, in contrast to refusing it now
_UNABLE: Final = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EISDIR, errno.ENOENT)


class _Reason(NamedTuple):
    text: str
    remedy: str


def write(path: str | os.PathLike[str], data: bytes, *, private: bool = False) -> tuple[str, ...]:
    """Make `data` the content of the file at `path`.

    Parameters
    ----------
    private
        True if nobody but the owner may read the file, whatever the umask says.

    Returns
    -------
    tuple[str, ...]
        What one should know: that the file had further names, or could not keep its owner.

    Raises
    ------
    WriteError
        If it cannot be written; the old file is as it was.
    """
    path = Path(path)
    try:
        return _write(path, data, private)
    except (OSError, ValueError) as error:
        why = _reason(path, error)
        raise WriteError(why.text, file=_printable_name(path), remedy=why.remedy) from error


def read(path: str | os.PathLike[str], limit: int) -> bytes:
    """At most `limit` bytes of a file or of what is poured into a pipe; a pipe without a writer is empty.

    Raises
    ------
    OSError, ValueError
        If it cannot be read.
    """

    def at_once(name: str, flags: int) -> int:
        return os.open(name, flags | _flag("O_NONBLOCK"))

    with open(path, "rb", opener=at_once) as file:
        if _flag("O_NONBLOCK"):
            os.set_blocking(file.fileno(), True)
        return file.read(limit)


def open_device(path: str | os.PathLike[str]) -> int:
    """A pipe or character device, open for writing; a pipe gets ten seconds to find a reader.

    Raises
    ------
    WriteError
        If it is something else, or nobody reads from the pipe.
    OSError
        If the system refuses.
    """
    path = Path(path)
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise WriteError("this is a folder", file=_printable_name(path), remedy="name a file in it")
    if not stat.S_ISCHR(mode) and not stat.S_ISFIFO(mode):
        what = "a disk" if stat.S_ISBLK(mode) else "no plain file"
        raise WriteError(f"this is {what}", file=_printable_name(path), remedy="choose another name")
    return _open_pipe(path) if stat.S_ISFIFO(mode) else os.open(path, os.O_WRONLY | _flag("O_NOCTTY"))


def open_companion(path: str | os.PathLike[str], flags: int = os.O_RDWR) -> int:
    """A file that the program keeps next to another one, such as a lock: a regular file with one name, and no link.

    Nobody chose its name, so a link by that name, which an unpacked archive may hold, is never followed.

    Raises
    ------
    OSError
        ``ELOOP`` for a symbolic link, ``EEXIST`` for anything else that is not such a file; as ``os.open`` otherwise.
    """
    if not _flag("O_NOFOLLOW") and os.path.islink(path):
        raise OSError(errno.ELOOP, "this is a symbolic link", os.fspath(path))
    flags |= _flag("O_NOFOLLOW") | _flag("O_NONBLOCK") | _flag("O_CLOEXEC") | _flag("O_BINARY") | _flag("O_NOCTTY")
    handle = os.open(path, flags, 0o644)
    info = os.fstat(handle)
    if not stat.S_ISREG(info.st_mode) or info.st_nlink > 1:
        os.close(handle)
        raise OSError(errno.EEXIST, "this is not a regular file with one name", os.fspath(path))
    return handle


def _write(path: Path, data: bytes, private: bool) -> tuple[str, ...]:
    try:
        old = path.stat()
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        _pour(path, data)
        return ()
    real = Path(os.path.realpath(path))
    if old is not None:
        _check_writable(path, real, old)
    notes = _replace(real, data, old, private)
    _sync_folder(real.parent)
    return notes


def _pour(path: Path, data: bytes) -> None:
    """Write to a device or pipe, which are never replaced."""
    with os.fdopen(open_device(path), "wb") as device:
        device.write(data)


def _open_pipe(path: Path) -> int:
    """A pipe, once it has a reader: one without would hold the program for ever."""
    end = time.monotonic() + _READER_WAIT
    while True:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > end:
                raise WriteError(
                    "nobody reads from this pipe", file=_printable_name(path), remedy="start what reads it first"
                ) from None
            time.sleep(0.02)
        else:
            os.set_blocking(handle, True)
            return handle


def _check_writable(path: Path, real: Path, old: os.stat_result) -> None:
    """A file that must not be written is not replaced either, though its folder would allow it."""
    if not old.st_mode & 0o222 or not os.access(real, os.W_OK):
        raise WriteError(
            "the file is read-only", file=_printable_name(path), remedy="allow writing to it, or choose another name"
        )


def _replace(real: Path, data: bytes, old: os.stat_result | None, private: bool) -> tuple[str, ...]:
    notes: list[str] = []
    if old is not None and old.st_nlink > 1:
        further = old.st_nlink - 1
        names = "another name, which keeps" if further == 1 else f"{further} other names, which keep"
        notes.append(f"{_printable_name(real)} had {names} the old content")
    mode = 0o666 if old is None and not private else _PRIVATE
    handle, name = _new_file(real, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            if old is not None:
                notes += _take_over(file.fileno(), real, old, private)
            file.write(data)
            file.flush()
            _sync(file.fileno())
            if name is None:
                name = _give_name(file.fileno(), real)
        os.replace(name, real)
        name = None
    finally:
        # also on Ctrl-C, which is no error of the system
        if name is not None:
            with contextlib.suppress(OSError):
                os.unlink(name)
    return tuple(notes)


def _new_file(real: Path, mode: int) -> tuple[int, Path | None]:
    """A new file in the folder of `real`: nameless where the system can do that, else of a name not yet taken."""
    nameless = _flag("O_TMPFILE")
    if nameless and os.path.isdir("/proc/self/fd"):
        try:
            return os.open(real.parent, nameless | os.O_WRONLY | _flag("O_CLOEXEC"), mode), None
        except OSError as error:
            if error.errno not in _UNABLE:
                raise
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _flag("O_CLOEXEC") | _flag("O_NOFOLLOW") | _flag("O_BINARY")
    for _ in range(_TRIES):
        name = _temporary_name(real)
        with contextlib.suppress(FileExistsError):
            return os.open(name, flags, mode), name
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), _printable_name(real))


def _give_name(handle: int, real: Path) -> Path:
    for _ in range(_TRIES):
        name = _temporary_name(real)
        folder = os.open(real.parent, os.O_RDONLY)
        try:
            # with a folder given, the link in /proc is followed to the file itself
            os.link(f"/proc/self/fd/{handle}", name, src_dir_fd=folder, follow_symlinks=True)
        except FileExistsError:
            continue
        finally:
            os.close(folder)
        return name
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), _printable_name(real))


def _temporary_name(real: Path) -> Path:
    # the limit of names is in bytes: a cut in the middle of a character must not matter
    start = os.fsdecode(os.fsencode(real.name)[:80])
    return real.parent / f".{start}.{secrets.token_hex(6)}.part"


def _take_over(handle: int, real: Path, old: os.stat_result, private: bool) -> list[str]:
    """Give the new file what the old one has: owner, group, extended attributes, mode."""
    if not hasattr(os, "fchown"):
        return []
    notes: list[str] = []
    mode = _PRIVATE if private else stat.S_IMODE(old.st_mode) & 0o777
    new = os.fstat(handle)
    if new.st_uid != old.st_uid:
        try:
            os.fchown(handle, old.st_uid, -1)
        except OSError:
            notes.append(f"{_printable_name(real)} belongs to you now: its owner could not be kept")
    if new.st_gid != old.st_gid:
        try:
            os.fchown(handle, -1, old.st_gid)
        except OSError:
            # another group must not get what the old one was allowed
            mode = mode & ~0o070 | (mode & 0o007) << 3
    for key in _attributes(real):
        with contextlib.suppress(OSError):
            os.setxattr(handle, key, os.getxattr(real, key))
    os.fchmod(handle, mode)
    return notes


def _attributes(real: Path) -> list[str]:
    if not hasattr(os, "listxattr"):
        return []
    try:
        return os.listxattr(real)
    except OSError:
        return []


def _sync(handle: int) -> None:
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _UNABLE:
            raise


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power failure, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        return  # a folder one may write to but not list
    try:
        _sync(handle)
    finally:
        os.close(handle)


def _flag(name: str) -> int:
    """A flag of ``open`` that not every system has."""
    return getattr(os, name, 0)


def _reason(path: Path, error: OSError | ValueError) -> _Reason:
    """Why `path` could not be written, from what the system said."""
    if isinstance(error, ValueError):
        return _Reason("this cannot be the name of a file", "choose another name")
    if error.errno not in (errno.EACCES, errno.ELOOP) and not path.parent.is_dir():
        return _Reason(
            f"there is no folder {_printable_name(path.parent)!r}", "make the folder first, or choose another"
        )
    return _Reason(f"cannot write: {error.strerror or error}", _REMEDIES.get(error.errno or 0, "choose another folder"))


def _printable_name(path: Path) -> str:
    """A file name that can be printed whatever bytes it is made of."""
    return os.fspath(path).encode("utf-8", "replace").decode()


def lock(handle: int, shared: bool = False) -> None:
    """Lock an open file for this process, at once or not at all; the system lets go when it is closed.

    Parameters
    ----------
    shared
        Others may lock it so as well, as those who only look do.

    Raises
    ------
    OSError
        If somebody else has it locked, or the disk knows no locks.
    """
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, _LOCKED_AT, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def is_named(handle: int, path: str | os.PathLike[str]) -> bool:
    """True if an open file is the one that `path` names now: nobody has replaced or removed it."""
    try:
        here, named = os.fstat(handle), os.stat(path)
    except OSError:
        return False
    return (here.st_dev, here.st_ino) == (named.st_dev, named.st_ino)

"""A folder that a program may work in: names that lead out of it are refused, whatever way they take.

Names are followed to their end (``..``, symbolic links) before anything is opened, and a guard follows: once
set it refuses every file outside, also those a design or a test file names. What the program itself is made of may be
read. The guard lasts as long as the process, so only a process that does nothing else sets it.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from designer.errors import FormatError
from designer.resources import assets, templates

#: flags of ``os.open`` with which a file may be changed
_CHANGING: Final = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
#: events of the interpreter that change what a folder holds: which of their arguments are paths
_PATHS_OF: Final = {
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.mkdir": (0,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.truncate": (0,),
    "os.rename": (0, 1),
    "os.link": (0, 1),
    "os.symlink": (1,),
}
#: what else would lead out: other programs and connections
_NEVER: Final = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "socket.connect"})


class Folder:
    """The folder, and the files that names in it refer to."""

    def __init__(self, root: str | Path) -> None:
        path = Path(root)
        if not path.is_dir():
            raise FormatError("there is no such folder", file=str(root), remedy="name a folder that exists")
        self.root = Path(os.path.realpath(path))

    def holds(self, path: str | os.PathLike[str]) -> bool:
        """True if a path, followed to its end, is in the folder or the folder itself."""
        try:
            return Path(os.path.realpath(path)).is_relative_to(self.root)
        except (OSError, ValueError):
            return False

    def file(self, name: str) -> Path:
        """The file or folder inside that a name refers to, whether or not it exists.

        Raises
        ------
        FormatError
            If the name leads out of the folder.
        """
        path = self.root / name
        if "\0" in name or not self.holds(path):
            raise FormatError(
                "this is outside the folder one may work in", file=name, remedy="name a file of the folder, without .."
            )
        return Path(os.path.realpath(path))

    def name(self, path: str | os.PathLike[str]) -> str:
        """A file as it is called in the folder."""
        return Path(os.path.realpath(path)).relative_to(self.root).as_posix()

    def guard(self) -> None:
        """From now on let this process open nothing outside, start no programs and make no connections."""
        readable = [Path(os.path.realpath(p)) for p in _own_places()]

        def look(event: str, arguments: tuple[object, ...]) -> None:
            if event in _NEVER:
                raise PermissionError(f"{event} is not allowed here")
            if event == "open":
                path, _, flags = arguments
                if not isinstance(path, str | bytes | os.PathLike):
                    return
                changing = isinstance(flags, int) and bool(flags & _CHANGING)
                self._demand(path, () if changing else readable)
            for number in _PATHS_OF.get(event, ()):
                path = arguments[number]
                if isinstance(path, str | bytes | os.PathLike):
                    self._demand(path, ())

        sys.addaudithook(look)

    def _demand(self, path: str | bytes | os.PathLike[str] | os.PathLike[bytes], readable: Iterable[Path]) -> None:
        name = os.fsdecode(path)
        real = Path(os.path.realpath(name))
        if name == os.devnull or real.is_relative_to(self.root) or any(real.is_relative_to(p) for p in readable):
            return
        raise PermissionError(13, "outside the folder one may work in", name)


def _own_places() -> list[str | Path]:
    """Where the interpreter, the libraries and the program's own data are."""
    found: list[str | Path] = [assets(), templates(), Path(__file__).parents[1], sys.prefix, sys.base_prefix]
    installed = {p for p in sysconfig.get_paths().values() if os.path.isdir(p)}
    # an installer may keep packages in one place and link to them from each environment
    found += [*installed, *(one.path for p in installed for one in os.scandir(p) if one.is_symlink())]
    # what the system states to every program about itself, and the zones of the clock
    return [*found, "/usr/share/zoneinfo", "/etc/localtime", "/proc/self", "/proc/cpuinfo", "/sys/fs/cgroup"]

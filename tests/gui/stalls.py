"""How long the window does not answer: gaps between beats of a timer on its thread, and what it did in them."""

from __future__ import annotations

import faulthandler
import os
import re
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import BinaryIO

from PySide6.QtCore import QObject, Qt, QTimer

_BEAT_MS = 4
_LOOK_S = 0.004
#: so much is read of what threads describe themselves [B]
_MOST_TOLD = 200_000


@dataclass
class Stall:
    """A gap: how long by the clock and in work of the thread itself [s], during which action, and where it was seen."""

    wall: float
    work: float
    action: str
    seen: list[str] = field(default_factory=list[str])


class Stalls(QObject):
    """Beats on the thread of the window while it lives."""

    def __init__(self, longer: float = 0.02) -> None:
        super().__init__()
        self.longer, self.action = longer, ""
        self.found: list[Stall] = []
        self._main = threading.get_ident()
        self._last, self._worked = time.perf_counter(), time.thread_time()
        self._seen: list[str] = []
        self._closed = False
        self._timer = QTimer(self, interval=_BEAT_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.beat)
        self._timer.start()
        self._looker = threading.Thread(target=self._look, name="stalls", daemon=True)
        self._looker.start()

    def beat(self) -> None:
        """The window answers."""
        now, worked = time.perf_counter(), time.thread_time()
        if now - self._last > self.longer:
            self.found.append(Stall(now - self._last, worked - self._worked, self.action, list(self._seen)))
        self._last, self._worked = now, worked
        self._seen.clear()

    def close(self) -> None:
        """No more beats."""
        self._closed = True
        self._timer.stop()
        self._looker.join()

    def worst(self) -> Stall | None:
        """That with most work of its own."""
        return max(self.found, key=lambda s: s.work, default=None)

    def stated(self, most: int = 5) -> str:
        """The longest, with the places of the product they were seen at."""
        lines: list[str] = []
        for stall in sorted(self.found, key=lambda s: -s.work)[:most]:
            lines.append(f"{stall.wall * 1e3:.0f} ms, {stall.work * 1e3:.0f} of work: {stall.action}")
            counted: dict[str, int] = {}
            for place in stall.seen:
                counted[place] = counted.get(place, 0) + 1
            lines += [f"    {n:3d} x {place}" for place, n in sorted(counted.items(), key=lambda c: -c[1])[:4]]
        return "\n".join(lines)

    def _look(self) -> None:
        with tempfile.TemporaryFile() as file:
            while not self._closed:
                time.sleep(_LOOK_S)
                if time.perf_counter() - self._last > self.longer / 2:
                    self._seen.append(" < ".join(_places(_written(file), self._main)))


def _written(file: BinaryIO) -> str:
    """Where all threads are, in words: a frame that is held keeps all its names alive, painters and widgets among
    them, which then end on another thread or after what they paint on.
    """
    os.ftruncate(file.fileno(), 0)
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    faulthandler.dump_traceback(file, all_threads=True)
    return os.pread(file.fileno(), _MOST_TOLD, 0).decode(errors="replace")


def _places(stated: str, thread: int, most: int = 6) -> list[str]:
    """The innermost places of the product at which a thread is."""
    parts = re.split(r"^(?:Current t|T)hread 0x([0-9a-f]+).*$", stated, flags=re.MULTILINE)
    stacks = dict(zip((int(ident, 16) for ident in parts[1::2]), parts[2::2], strict=True))
    found = re.findall(r'^  File "(.*)", line (\d+) in (.*)$', stacks.get(thread, ""), re.MULTILINE)
    mine = [(file, line, name) for file, line, name in found if "/designer/" in file or "importlib" in file]
    return [f"{file.rsplit('/', 1)[-1]}:{line} {name}" for file, line, name in mine[:most]]

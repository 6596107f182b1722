"""How long the window does not answer: gaps between beats of a timer on its thread, and what it did in them."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from dataclasses import dataclass, field
from types import FrameType

from PySide6.QtCore import QObject, Qt, QTimer

_BEAT_MS = 4
_LOOK_S = 0.004


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

    def told(self, most: int = 5) -> str:
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
        while not self._closed:
            time.sleep(_LOOK_S)
            frame = sys._current_frames().get(self._main)
            if frame is not None and time.perf_counter() - self._last > self.longer / 2:
                self._seen.append(_place(frame))
            # a frame that is held keeps all its names alive, painters among them
            del frame


def _place(frame: FrameType) -> str:
    stack = [f for f in traceback.extract_stack(frame) if "/designer/" in f.filename or "importlib" in f.filename]
    return " < ".join(f"{f.filename.rsplit('/', 1)[-1]}:{f.lineno} {f.name}" for f in reversed(stack[-6:]))

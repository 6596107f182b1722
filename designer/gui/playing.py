"""Runs over time: worked out on a thread from the present design, then played; playing works nothing out."""

from __future__ import annotations

import importlib
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Signal

from designer.analysis.simulation import simulate
from designer.engine.clock.frames import Frames
from designer.errors import Cancelled, DesignerError
from designer.gui.session import Session
from designer.gui.viewmodels.scenario import Scenario, runnable
from designer.gui.workers import Cancelled_, Newest

if TYPE_CHECKING:
    from designer.analysis.simulation import Simulation
    from designer.design.diff import Diff
    from designer.design.document import Design

#: time between two frames [ms]: sixty a second
FRAME_MS: Final = 16
#: quiet time before a run is worked out again after an edit [ms]
_IDLE_MS: Final = 300
#: a run is played in about so long unless one says otherwise [s]
_PLAYED_IN: Final = 12.0
#: a frame that comes later than this is not made up for: the window was busy with something else [s]
_LATE: Final = 0.25
#: speeds to choose from: seconds of the run in a second
SPEEDS: Final = tuple(m * 10.0**e for e in range(-6, 6) for m in (1, 2, 5))


class Player(QObject):
    """The run of a document: worked out, marked as outdated by edits, and played.

    Signals
    -------
    changed
        Something about it other than the instant: busy, stale, playing, speed, loop, scenario.
    failed : ``str``
        Why there is no run.
    """

    changed = Signal()
    failed = Signal(str)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.scenario = Scenario()
        self.live = True
        self.loop = False
        self.speed = 1.0
        self.playing = False
        self.busy = False
        self.progress = 0.0
        self.wanted = False
        self._of: tuple[Design, Scenario] | None = None
        self._asked: tuple[Design, Scenario] | None = None
        self._ticket = 0
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._arrived)
        self._again = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._again.timeout.connect(self.run)
        self._timer = QTimer(self, interval=FRAME_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.tick)
        self._elapsed = QElapsedTimer()
        session.settled.connect(self._edited)

    # ---- working it out

    @property
    def stale(self) -> bool:
        """True if the run belongs to an earlier design or scenario."""
        return self._of is not None and (self._of[0] is not self.session.design or self._of[1] != self.scenario)

    @property
    def shown(self) -> bool:
        """True if the canvas shows an instant of the run."""
        frames = self.session.frames
        return frames is not None and self._of is not None and self._of[0] is self.session.design

    def set_scenario(self, scenario: Scenario) -> None:
        """Run something else over time."""
        if scenario != self.scenario:
            self.scenario = scenario
            self.run()

    def run(self) -> None:
        """Work the run out, next to the window."""
        session = self.session
        self._again.stop()
        self.scenario = self.scenario.kept_in(session.design)
        if not self.scenario.workloads:
            able = [w for w, _ in runnable(session.design)]
            if not able:
                self.failed.emit("No workload of this design runs over time: add a transfer, a training or another one")
                return
            first = session.workload if session.workload in able else able[0]
            self.scenario = self.scenario.toggled(first)
        self.wanted = True
        design, scenario = session.design, self.scenario
        self._asked = (design, scenario)

        def job(cancelled: Cancelled_) -> object:
            importlib.import_module("designer.analysis.simulation")
            return simulated(design, scenario, self._tell, cancelled)

        self._ticket = self._jobs.submit(job)
        self.busy, self.progress = True, 0.0
        self.changed.emit()

    def stop(self) -> None:
        """Do not work it out any more; what was there stays."""
        self._again.stop()
        self._jobs.cancel()
        self.busy = False
        self.changed.emit()

    def clear(self) -> None:
        """Look at the design without time again."""
        self.pause()
        self.wanted = False
        self._of = self._asked = None
        self.stop()
        self.session.set_simulation(None)
        self.changed.emit()

    def close(self) -> None:
        """Stop for good."""
        self._again.stop()
        self._timer.stop()
        self._jobs.close()

    def _tell(self, share: float, text: str) -> None:
        del text
        self._jobs.call(partial(self._progressed, share))

    def _progressed(self, share: float) -> None:
        self.progress = share
        self.changed.emit()

    def _edited(self, changes: Diff) -> None:
        if not self.wanted:
            return
        if changes.only_placement:
            # nothing that counts has changed: the run holds for the new design as well
            if self._of is not None and self._of[0] is changes.before:
                self._of = (changes.after, self._of[1])
            if self._asked is not None and self._asked[0] is changes.before:
                self._asked = (changes.after, self._asked[1])
            return
        self.pause()
        self._jobs.cancel()
        self.busy = False
        if self.live:
            self._again.start()
        self.changed.emit()

    def _arrived(self, ticket: int, result: object) -> None:
        if ticket != self._ticket or self._asked is None:
            return
        self.busy = False
        if isinstance(result, DesignerError) and not isinstance(result, Cancelled):
            self._of = None
            self.session.set_simulation(None)
            self.failed.emit(f"{result.text} — {result.remedy}" if result.remedy else result.text)
        elif isinstance(result, Exception):
            if not isinstance(result, Cancelled):
                self.session.set_simulation(None)
                self.failed.emit(f"the run failed: {result!r}")
        else:
            assert isinstance(result, tuple)
            first = self.session.frames is None
            simulation, frames = result
            self._of = self._asked
            self.session.set_simulation(simulation, frames)
            if first:
                self.speed = min(SPEEDS, key=lambda s: abs(s - frames.end / _PLAYED_IN))
        self.changed.emit()

    # ---- playing it

    def play(self) -> None:
        """Let time go on; from the start where it has ended."""
        session = self.session
        if session.frames is None or self.playing:
            return
        if session.moment >= session.frames.end:
            session.set_moment(0.0)
        self.playing = True
        self._elapsed.start()
        self._timer.start()
        self.changed.emit()

    def pause(self) -> None:
        """Hold the instant."""
        if self.playing:
            self.playing = False
            self._timer.stop()
            self.session.set_moment(self.session.moment)
            self.changed.emit()

    def toggle(self) -> None:
        """Play, or hold."""
        self.pause() if self.playing else self.play()

    def seek(self, moment: float) -> None:
        """Look at an instant."""
        self.session.set_moment(moment)

    def step(self, by: int) -> None:
        """To the next instant at which a load changes, or the one before."""
        import numpy as np

        frames = self.session.frames
        if frames is None:
            return
        self.pause()
        now = self.session.moment
        times = frames.times[frames.times <= frames.end]
        near = 1e-9 * max(frames.end, now)
        if by > 0:
            at = int(np.searchsorted(times, now + near, side="right"))
            self.seek(float(times[at]) if at < len(times) else frames.end)
        else:
            at = int(np.searchsorted(times, now - near, side="left")) - 1
            self.seek(float(times[at]) if at >= 0 else 0.0)

    def set_speed(self, speed: float) -> None:
        """Seconds of the run in a second."""
        self.speed = speed
        self.changed.emit()

    def faster(self, by: int) -> None:
        """The next speed of those to choose from."""
        at = min(range(len(SPEEDS)), key=lambda k: abs(SPEEDS[k] / self.speed - 1))
        self.set_speed(SPEEDS[min(max(at + by, 0), len(SPEEDS) - 1)])

    def set_loop(self, loop: bool) -> None:
        """Whether it begins again at the end."""
        self.loop = loop
        self.changed.emit()

    def tick(self) -> None:
        """The next frame."""
        frames = self.session.frames
        if frames is None:
            self.pause()
            return
        gone = min(self._elapsed.nsecsElapsed() / 1e9, _LATE) * self.speed
        self._elapsed.restart()
        moment = self.session.moment + gone
        if moment >= frames.end:
            if self.loop:
                self.session.set_moment(0.0)
                return
            self.session.set_moment(frames.end, gone)
            self.pause()
            return
        self.session.set_moment(moment, gone)


def simulated(design: Design, scenario: Scenario, progress: Any, cancelled: Cancelled_) -> tuple[Simulation, Frames]:
    """A scenario on a design, and its frames.

    Raises
    ------
    DesignerError
        If it cannot be run.
    """

    found = simulate(
        design,
        scenario.workloads,
        until=scenario.until,
        starts=scenario.starts,
        failures=scenario.failures(),
        shifts=scenario.shifts,
        bands=False,
        progress=progress,
        cancelled=cancelled,
    )
    frames = Frames(found.run)
    # what is looked at first is worked out here and not by the window
    frames.held(0.0)
    return found, frames

"""An hour at the window, compressed: random edits, clicks and keys, messages, documents, themes and tabs.

Runs as a program of its own, so that a crash is an exit code and memory is that of the window alone:
``python -m tests.soak --edits 3000``. It prints one JSON object when it has come through.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import gc
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar

#: documents open at once
_MOST_OPEN = 4
#: a design that has grown beyond this many parts is closed: it is the window that is tried, not the engine
_LARGEST = 220
_TEMPLATES = ("hgx-h100-8", "dgx-a100", "dell-r750xa", "vsphere-cluster-4")
_PANELS = (
    "inspector",
    "outline",
    "history",
    "parts",
    "answer",
    "links",
    "findings",
    "improve",
    "timeline",
    "scaling",
    "migration",
    "tables",
    "compare",
)
_THEMES = ("light", "dark", "contrast")
#: edits before memory is first read: by then all was loaded and shown once
_WARM = 150
#: fields of what glibc's ``mallinfo2`` answers, in its order
_MALLINFO = (
    *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
    *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
)
#: as long as the slowest single step may take [s]
_HUNG = 120.0


@dataclass
class Report:
    """What happened."""

    edits: int = 0
    refused: int = 0
    messages: int = 0
    inputs: int = 0
    opened: int = 0
    closed: int = 0
    analyses: int = 0
    themes: int = 0
    seconds: float = 0.0
    platform: str = ""
    #: memory in use after warming up and after all documents are closed again, and what is resident then [B]
    before: int = 0
    after: int = 0
    resident_before: int = 0
    resident_after: int = 0
    highest: int = 0
    errors: list[str] = field(default_factory=list)

    @property
    def growth(self) -> float:
        """How much more memory is in use at the end, as a share."""
        return self.after / self.before - 1


class _Allocated(ctypes.Structure):
    """What glibc's ``mallinfo2`` answers, see mallinfo(3)."""

    _fields_: ClassVar = [(name, ctypes.c_size_t) for name in _MALLINFO]


def resident() -> int:
    """Memory of this process that is not shared with files [B]."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def in_use() -> int:
    """Memory that is allocated and not freed [B].

    Pages that stay because something small on them is in use do not count: how many do differs by a tenth from one
    run to the next. Python's own objects are in it where ``PYTHONMALLOC=malloc``. Resident memory without glibc.
    """
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        return resident()
    ask.restype = _Allocated
    said = ask()
    return said.uordblks + said.hblkhd


class Soak:
    """Does one random thing after the other, each in a round of the event loop of its own."""

    def __init__(self, edits: int, seed: int, warm: int = _WARM) -> None:
        from PySide6.QtCore import QTimer

        from designer.gui.app import make_application, make_window
        from designer.gui.files import Files
        from tests.edit_maker import EditMaker

        self.wanted, self.warm = edits, warm
        self.random = random.Random(seed)
        self.report = Report()
        self.app = make_application()
        self.app.setQuitOnLastWindowClosed(False)
        self.report.platform = self.app.platformName()
        Files.ask_to_save = lambda *_: "discard"  # type: ignore[method-assign]
        sys.excepthook = self._failed
        self.window = make_window(self.app)
        self.window.settings.reduced_motion = True
        self.window.show()
        self.window.workspace.opened.connect(self._opened)
        self.window.workspace.closed.connect(self._closed)
        self.maker = EditMaker(lambda n: self.random.randrange(n))
        self.begun = time.monotonic()
        self.todo: list[Callable[[], None]] = []
        self.timer = QTimer(self.window)
        self.timer.timeout.connect(self._round)
        # now and then there is time for an answer of the engine
        self.timer.start(4)
        self._idle = 0
        # a library that rings of uneven meshes need loads once, whenever the first of them is edited
        from scipy.optimize import linprog

        linprog([1.0], bounds=[(0.0, 1.0)])

    def run(self) -> Report:
        """Run the event loop until all is done."""
        self.window.begin([])
        self.app.exec()
        self.report.seconds = round(time.monotonic() - self.begun, 1)
        return self.report

    def _failed(self, kind: type[BaseException], error: BaseException, trace: object) -> None:
        sys.__excepthook__(kind, error, trace)  # type: ignore[arg-type]
        self.report.errors.append(f"{kind.__name__}: {error}")

    # ---- one round after the other

    def _round(self) -> None:
        faulthandler.dump_traceback_later(_HUNG, exit=True)
        if self._idle > 0:
            self._idle -= 1
        elif self.todo:
            self.todo.pop(0)()
        elif self.warm and self.report.edits >= self.warm and not self.report.before:
            self.todo = [self._show_all, *self._closing(), lambda: self._read("before")]
        elif self.report.edits >= self.wanted:
            self.todo = [*self._closing(), lambda: self._read("after"), self._end]
        else:
            self._step()

    def _step(self) -> None:
        if self.window.document is None:
            self._open()
            return
        self._edit()
        chance = self.random.random()
        if chance < 0.35:
            self._say()
        elif chance < 0.60:
            self._press_and_click()
        elif chance < 0.66:
            self._idle = 12
        elif chance < 0.70:
            self.window.show_panel(self.random.choice(_PANELS))
        elif chance < 0.73:
            self.window.next_tab(self.random.choice((-1, 1)))
        elif chance < 0.75:
            self._open()
        elif chance < 0.77:
            self._close(self.random.choice(self.window.workspace.documents))
        elif chance < 0.79:
            self._theme()
        elif chance < 0.85:
            self._scale()

    # ---- what is done

    def _edit(self) -> None:
        from designer.design.query import count_kinds

        document = self.window.document
        assert document is not None
        session = document.session
        choice = self.random.random()
        if choice < 0.12:
            session.undo()
        elif choice < 0.16:
            session.redo()
        else:
            done = session.apply(self.maker.edit(session.design))
            self.report.refused += not done
        self.report.edits += 1
        if sum(count_kinds(session.design).values()) > _LARGEST:
            self._close(document)

    def _say(self) -> None:
        number = self.report.messages
        self.report.messages += 1
        if number % 3:
            self.window.say(f"message {number}")
        elif number % 2:
            self.window.warn(f"refused {number}: something is in the way of what was wanted")
        else:
            self.window.toasts.say(f"found {number}", False, "Show", lambda: None)

    def _press_and_click(self) -> None:
        from PySide6.QtCore import QPoint, Qt
        from PySide6.QtTest import QTest

        canvas = self.window.canvas
        if canvas is None:
            return
        self.report.inputs += 1
        key, keys, none = Qt.Key, Qt.KeyboardModifier, Qt.KeyboardModifier.NoModifier
        at = QPoint(self.random.randrange(max(1, canvas.width())), self.random.randrange(max(1, canvas.height())))
        to = QPoint(self.random.randrange(max(1, canvas.width())), self.random.randrange(max(1, canvas.height())))
        choice = self.random.randrange(8)
        if choice == 0:
            pressed = self.random.choice((key.Key_Tab, key.Key_Left, key.Key_Down, key.Key_C, key.Key_Return))
            QTest.keyClick(canvas, pressed)
        elif choice == 1:
            QTest.keyClick(canvas, key.Key_Escape)
        elif choice == 2:
            pressed = self.random.choice((key.Key_A, key.Key_D, key.Key_C, key.Key_V, key.Key_Z))
            QTest.keyClick(canvas, pressed, keys.ControlModifier)
        elif choice == 3:
            QTest.keyClick(canvas, key.Key_Delete)
        elif choice in (4, 5):
            QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, self.random.choice((none, keys.ShiftModifier)), at)
        elif choice == 6:
            QTest.mousePress(canvas, Qt.MouseButton.LeftButton, none, at)
            QTest.mouseMove(canvas, to)
            QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, none, to)
        else:
            QTest.mouseDClick(canvas, Qt.MouseButton.LeftButton, none, at)
            self.todo.append(self._dismiss)

    def _dismiss(self) -> None:
        from designer.gui.dialogs.command_palette import CommandPalette

        for shown in self.app.topLevelWidgets():
            if isinstance(shown, CommandPalette):
                shown.close()

    def _scale(self) -> None:
        document = self.window.document
        if document is None:
            return
        session = document.session
        session.select([((), _ref("parts", p)) for p in list(session.design.parts)[: self.random.randrange(1, 3)]])
        self.window.run(self.random.choice(("analyze.double", "analyze.halve")))

    def _open(self) -> None:
        if len(self.window.workspace.documents) >= _MOST_OPEN:
            self._close(self.window.workspace.documents[0])
        if self.random.random() < 0.3:
            self.window.new_document()
        else:
            self.window.open_template(self.random.choice(_TEMPLATES))
        document = self.window.document
        assert document is not None
        document.session.analysis_changed.connect(self._analysed)

    def _opened(self, _document: object) -> None:
        self.report.opened += 1

    def _closed(self, _document: object) -> None:
        self.report.closed += 1

    def _analysed(self, analysis: object) -> None:
        self.report.analyses += analysis is not None
        self.report.highest = max(self.report.highest, resident())

    def _close(self, document: object) -> None:
        self.window.workspace.close(document)  # type: ignore[arg-type]

    def _theme(self) -> None:
        self.report.themes += 1
        self.window.set_theme(self.random.choice(_THEMES))

    def _show_all(self) -> None:
        if self.window.document is None:
            self._open()
        for name in _PANELS:
            self.todo.insert(0, lambda name=name: self.window.show_panel(name))

    # ---- the end

    def _closing(self) -> list[Callable[[], None]]:
        def close_all() -> None:
            self.window.workspace.close_all()
            for toast in list(self.window.toasts.shown):
                toast.leave()
            # the light theme has its pixmaps; whichever comes first would count as growth
            for name in _THEMES:
                self.window.set_theme(name)
            self._idle = 60 if self.warm else 5

        return [close_all]

    def _read(self, when: str) -> None:
        assert self.report.opened == self.report.closed, f"{self.report.opened} opened, {self.report.closed} closed"
        gc.unfreeze()
        gc.collect()
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
        setattr(self.report, when, in_use())
        setattr(self.report, f"resident_{when}", resident())

    def _end(self) -> None:
        self.timer.stop()
        self.window.close()
        self.window.shut_down()
        self.app.quit()


def _ref(what: str, thing: str) -> object:
    from designer.design.address import Ref

    return Ref(what, thing)


def soaked(edits: int, seed: int, platform: str, patience: float, warm: int = _WARM) -> Report:
    """Run it in a process of its own; `warm` edits come before memory is first read, 0 for never.

    Raises
    ------
    AssertionError
        If it died, hung or failed inside.
    """
    done = subprocess.run(
        [
            sys.executable,
            "-X",
            "faulthandler",
            "-m",
            "tests.soak",
            "--edits",
            str(edits),
            "--seed",
            str(seed),
            "--warm",
            str(warm),
        ],
        cwd=Path(__file__).resolve().parent.parent,
        env={**os.environ, "QT_QPA_PLATFORM": platform, "PYTHONMALLOC": "malloc"},
        capture_output=True,
        text=True,
        timeout=patience,
        check=False,
    )
    assert done.returncode == 0, f"ended with {done.returncode}:\n{done.stderr[-4000:]}"
    report = Report(**json.loads(done.stdout.splitlines()[-1]))
    assert not report.errors, "\n".join(report.errors) + done.stderr[-4000:]
    return report


def main() -> int:
    """Run it here; the value is the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--warm", type=int, default=_WARM)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="designer-soak-") as home:
        for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            os.environ[name] = home
        report = Soak(chosen.edits, chosen.seed, chosen.warm).run()
    sys.stdout.write(json.dumps(asdict(report)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

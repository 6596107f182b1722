"""Speed of the whole window; run with ``--benchmark-only``.

An edit counts until the canvas has painted what the engine says about the changed design and the panels that wait
for it have had their turn, against the engine alone and the repaint of an empty design in the same run; the colours
alone are stated next to it. A stall is the longest time for which the event loop did not turn; what its thread
worked for the while is held against that repaint, as waiting for others is not the program's. The
start is held against the work of a process that shows an empty window of Qt. Milliseconds are stated next to each.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QApplication

from designer.analysis.study import analyze
from designer.design.address import Address, Ref, block_at
from designer.design.document import Design
from designer.design.edits.parts import SetValue
from designer.design.edits.structure import Delete
from designer.drawing.view_state import Frame
from designer.fields import Quantity
from designer.gui.app import SWITCH
from designer.gui.canvas.canvas import Canvas
from designer.gui.files import Files
from designer.gui.main_window import MainWindow
from designer.gui.session import Session
from designer.gui.settings import Settings
from designer.gui.viewmodels.places import picked_of
from designer.memo import forget
from tests.bench.ratios import Against, timed
from tests.bench.test_training_speed import edited
from tests.moving import MoveBy

pytestmark = pytest.mark.alone

#: the most an edit may cost, in what the engine and an empty repaint take (3.9 to 4.4 and 3.0 to 3.4 seen: 19 to 27 ms;
#: 33 and 60 ms are aimed at)
EDITS = {"hgx-h100-8": 4.8, "su-h100-32": 4.2}
#: the most the 95th percentile of a drag may take, in orders of 100,000 and of 1,200,000 numbers
DRAGS = {"hgx-h100-8": 70.0, "cluster-98304": 3.2}
#: the most the window may usually be busy with the slowest kind of work, in repaints of an empty design and stars of
#: 2,000 nodes (4.1 to 6.1 seen: 12 ms); no stall of more than 50 ms is aimed at
STALL = 9.0
#: the most a start may take, in starts of an empty window of Qt next to the libraries; 1 s is aimed at
START = 1.6
#: the most that opening 98,304 GPUs may take until their loads are painted, in stars of as many nodes and orders of as
#: many channels (4.4 to 5.2 seen)
SHOWN = 8.0
#: the most that the first edit of a member of them may take until it is painted, in orders of half as many
#: numbers (5.6 seen)
MEMBER = 7.5
#: how often each is started
STARTS = 5
#: an answer that takes longer is taken for none [s]
_PATIENCE = 30.0


@pytest.fixture
def window(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """The window with settings of its own."""
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(tmp_path / "settings"))
    settings = Settings()
    settings.reduced_motion = True
    monkeypatch.setattr(Files, "ask_to_save", lambda self, unsaved: "discard")
    # threads take turns as in the program
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    made = MainWindow(settings)
    made.resize(1600, 900)
    made.show()
    yield made
    made.close()
    made.shut_down()
    sys.setswitchinterval(before)


class Paints:
    """When a canvas has painted what is not being drawn again any more."""

    def __init__(self, canvas: Canvas, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times: list[float] = []
        paint = canvas.tile_cache.paint

        def watched(painter: QPainter, frame: Frame) -> None:
            paint(painter, frame)
            if not canvas.tile_cache.surface.busy:
                self.times.append(time.perf_counter())

        monkeypatch.setattr(canvas.tile_cache, "paint", watched)


def turn_until(done: Callable[[], bool]) -> float:
    """Let the event loop turn until something holds; its longest turn [ms]."""
    end, longest = time.perf_counter() + _PATIENCE, 0.0
    while not done():
        assert time.perf_counter() < end, "no answer"
        longest = max(longest, turn())
        time.sleep(0.0001)
    return longest


def turn() -> float:
    """One turn of the event loop [ms]."""
    start = time.perf_counter()
    QApplication.sendPostedEvents()
    QApplication.processEvents()
    return (time.perf_counter() - start) * 1e3


def opened(window: MainWindow, template: str) -> tuple[Session, Canvas]:
    """A template in the window, analysed and at rest."""
    window.open_template(template)
    document, canvas = window.document, window.canvas
    assert document is not None
    assert canvas is not None
    session = document.session
    turn_until(lambda: session.analysis is not None and not session.stale and not document.live._jobs.busy)
    end = time.perf_counter() + 1.5
    while time.perf_counter() < end:
        turn()
        time.sleep(0.002)
    return session, canvas


def empty_repaint(clock: Callable[[], float] = time.perf_counter) -> float:
    """A repaint of an empty design [ms]."""
    canvas = Canvas(Session(Design(name="empty")))
    canvas.resize(1600, 900)
    canvas.show()
    QApplication.processEvents()
    canvas.settle()
    times: list[float] = []
    for k in range(30):
        canvas.set_view(canvas.view.panned(17 if k % 2 else -17, 9))
        start = clock()
        canvas.repaint()
        times.append((clock() - start) * 1e3)
    canvas.hide()
    canvas.deleteLater()
    return float(np.median(times))


def star(clock: Callable[[], float]) -> float:
    """A star of 2,000 nodes in networkx, which is plain work of Python [ms]."""
    return 1e3 * float(np.median([timed(lambda: nx.star_graph(2_000), clock) for _ in range(30)]))


def note(benchmark, **values: float) -> None:
    """Keep numbers with the report."""
    benchmark.extra_info.update({k: round(float(v), 3) for k, v in values.items()})


def first_link(design: Design) -> tuple[Address, Ref]:
    """A link whose loss changes the loads: of the design itself, else of its first group."""
    if design.links:
        return (), Ref("links", next(iter(design.links)))
    within = next(((g, None),) for g in design.groups if block_at(design, ((g, None),)).links)
    return within, Ref("links", next(iter(block_at(design, within).links)))


@pytest.mark.parametrize(("template", "most"), EDITS.items())
def test_an_edit_until_its_loads_are_painted(benchmark, window, monkeypatch, template, most):
    session, canvas = opened(window, template)
    within, ref = first_link(session.design)
    answers: list[float] = []
    session.analysis_changed.connect(lambda _: answers.append(time.perf_counter()))
    paints, colours = Paints(canvas, monkeypatch), list[float]()
    panels = window.places.panels.values()

    def painted() -> bool:
        return bool(answers) and paints.times[-1:] > answers[:1] and not any(p.pending for p in panels)

    def change(step: Callable[[], object]) -> float:
        answers.clear()
        paints.times.clear()
        start = time.perf_counter()
        step()
        turn_until(painted)
        end = time.perf_counter()
        assert session.analysis is not None, session.failure
        colours.append((next(t for t in paints.times if t > answers[0]) - start) * 1e3)
        return end - start

    empty = empty_repaint()
    rates = itertools.count(300)

    def plain() -> None:
        design = edited(session.design, "pcie", f"{next(rates)} Gb/s")
        analyze(design, [session.workload], curves=False)
        time.sleep(empty / 1e3)

    times = Against(plain, clock=time.perf_counter)
    for _ in range(6):
        times.add(change(lambda: session.apply(Delete((ref,), within=within))))
        times.add(change(session.undo))
    times.note(benchmark)
    note(benchmark, colours=np.median(colours), worst=1e3 * max(times.seconds), empty=empty)
    benchmark.pedantic(lambda: canvas.repaint(), rounds=3)
    assert times.ratio <= most


@pytest.mark.parametrize("template", DRAGS)
def test_a_dragged_value_until_canvas_and_numbers_are_painted(benchmark, window, monkeypatch, template):
    """The slider of a value moves; until the canvas has painted the answer on trial and the panels have shown it.

    The 95th percentile of their processor time is held against the order of numbers in numpy: half as many as 98,304
    GPUs have channels, and 100,000 for one server; 33 and 120 ms are aimed at.
    """
    session, canvas = opened(window, template)
    large = template == "cluster-98304"
    if not large:
        session.set_workload("h2d")
        turn_until(lambda: session.result is not None and session.result.id == "h2d" and not session.stale)
    limits = next((picked_of(session.design, b.id) for b in session.result.binding if b.what == "channel"), None)
    assert limits is not None
    session.select({limits})
    inspector = window.places.inspector
    turn_until(lambda: not inspector.pending)
    what_if = inspector.what_if
    what_if.begin(inspector.rows["bandwidth_per_direction"].entry)
    paints, answers, walls = Paints(canvas, monkeypatch), list[float](), list[float]()
    session.trial_changed.connect(lambda: answers.append(time.perf_counter()) if session.trial is not None else None)
    shown = [panel for panel in window.places.panels.values() if panel.seen]

    def drag(value: int) -> float:
        answers.clear()
        paints.times.clear()
        start, worked = time.perf_counter(), time.process_time()
        what_if.slider.setValue(value)
        turn_until(lambda: answers and paints.times[-1:] > answers[:1] and not any(p.pending for p in shown))
        walls.append(time.perf_counter() - start)
        return time.process_time() - worked

    numbers = np.random.default_rng(1).integers(0, 2**62, 1_200_000 if large else 100_000)

    # a link that limits, made slower: each value has another answer
    steps = range(-40, 0, 2)
    for value in steps[:4]:
        drag(value)
    times = [drag(value) for value in steps]
    base = float(np.median([timed(lambda: np.argsort(numbers)) for _ in range(9)]))
    p95 = float(np.percentile(times, 95))
    wall = 1e3 * np.percentile(walls, 95)
    note(benchmark, p95=1e3 * p95, median=1e3 * np.median(times), wall=wall, base=1e3 * base, ratio=p95 / base)
    what_if.discard()
    benchmark.pedantic(lambda: canvas.repaint(), rounds=3)
    assert p95 <= DRAGS[template] * base


def test_the_longest_stall_of_a_minute_of_work(benchmark, window):
    session, canvas = opened(window, "su-h100-32")
    part = Ref("groups", next(iter(session.design.groups)))
    link_at, link = first_link(session.design)
    steps: dict[str, Callable[[int], object]] = {
        "pan": lambda k: canvas.set_view(canvas.view.panned(-13 if k % 2 else 13, 7)),
        "zoom": lambda k: canvas.set_view(canvas.view.zoomed(1.1 if k % 8 < 4 else 1 / 1.1, 700, 400)),
        "select": lambda k: session.select({((), part)} if k % 2 else ()),
        "select all": lambda k: session.select_all(),
        "drag": lambda k: session.apply(MoveBy((part,), 8 if k % 2 else -8, 0)),
        "edit": lambda k: session.apply(Delete((link,), within=link_at)),
        "undo": lambda k: session.undo(),
    }
    stalls: dict[str, list[float]] = {name: [] for name in steps}
    works: dict[str, list[float]] = {name: [] for name in steps}
    # a person does about two things each second: most of a minute's worth, without the pauses
    for k in range(12):
        for name, step in steps.items():
            start, worked = time.perf_counter(), time.thread_time()
            step(k)
            took = (time.perf_counter() - start) * 1e3 + turn()
            busy = (time.thread_time() - worked) * 1e3
            end = time.perf_counter() + 0.12
            while time.perf_counter() < end:
                worked = time.thread_time()
                took = max(took, turn())
                busy = max(busy, (time.thread_time() - worked) * 1e3)
                time.sleep(0.001)
            stalls[name].append(took)
            works[name].append(busy)
    base = empty_repaint(time.thread_time) + star(time.thread_time)
    usual = {name: float(np.median(each)) for name, each in works.items()}
    worst = {f"worst {name}": max(each) for name, each in stalls.items()}
    note(benchmark, base=base, ratio=max(usual.values()) / base, **usual, **worst)
    benchmark.pedantic(lambda: canvas.repaint(), rounds=3)
    assert max(usual.values()) <= STALL * base, usual


def test_98304_gpus_are_shown_and_answered(benchmark, window):
    """Opened after another design, until the loads are painted; against a star of as many nodes in networkx, and the
    order of as many numbers in numpy as there are channels: machines differ in how the two compare.

    Next to other work the drawing stands before its loads are known; three seconds are aimed at. Rules are asked after:
    both at once would make the network and its routes twice.
    """
    opened(window, "m40-server")

    numbers = np.random.default_rng(1).integers(0, 2**62, 2_400_000)

    def plain() -> None:
        nx.number_connected_components(nx.star_graph(98_304))
        np.argsort(numbers)

    waits: list[float] = []
    times = Against(plain)
    for _ in range(5):
        forget()
        start, worked = time.perf_counter(), time.process_time()
        window.open_template("cluster-98304")
        document, canvas = window.document, window.canvas
        session, panels = document.session, window.places.panels.values()
        turn_until(lambda s=session: s.analysis is not None and not s.stale)
        turn_until(lambda c=canvas, p=panels: not c.tile_cache.surface.busy and not any(one.pending for one in p))
        times.add(time.process_time() - worked)
        waits.append(time.perf_counter() - start)
        document.live.stop()
        window.workspace.close(document)
        while document.live._jobs.busy or window.places.findings._jobs.busy:
            turn()
    times.note(benchmark)
    note(benchmark, wall=1e3 * np.median(waits))
    benchmark.pedantic(lambda: None, rounds=1)
    assert times.ratio <= SHOWN


def test_the_first_edit_of_a_member_of_98304_gpus_until_it_is_painted(benchmark, window, monkeypatch):
    """Another server each time; against the order of as many numbers in numpy as there are channels.

    150 ms are aimed at (145 to 160 ms of processor time seen).
    """
    session, canvas = opened(window, "cluster-98304")
    panels = window.places.panels.values()
    paints = Paints(canvas, monkeypatch)
    answers: list[float] = []
    session.analysis_changed.connect(lambda _: answers.append(time.perf_counter()))
    numbers = np.random.default_rng(1).integers(0, 2**62, 1_200_000)
    times = Against(lambda: np.argsort(numbers))
    for k in range(9):
        rate = Quantity.model_validate({"value": f"{2000 + k} GB/s", "status": "assumed"})
        edit = SetValue(("gpu0",), "memory_bandwidth", rate, within=(("pods", k), ("servers", 17 + k)))
        answers.clear()
        paints.times.clear()
        worked = time.process_time()
        session.apply(edit)
        turn_until(lambda: answers and paints.times[-1:] > answers[:1] and not any(panel.pending for panel in panels))
        took = time.process_time() - worked
        assert session.analysis is not None, session.failure
        # all workloads are answered afterwards, as long as nobody does anything
        end = time.perf_counter() + 0.6
        while time.perf_counter() < end or window.document.live._jobs.busy:
            turn()
        if k:
            times.add(took)
    times.note(benchmark)
    benchmark.pedantic(lambda: canvas.repaint(), rounds=3)
    assert times.ratio <= MEMBER


_COLD = """
import sys, time
from PySide6.QtCore import QTimer
from designer.gui.app import make_application, make_window
app = make_application()
window = make_window(app)
window.show()
def begun():
    window.begin([])
    # behind all that waits: whoever clicks now is served
    QTimer.singleShot(0, window, app.quit)
QTimer.singleShot(0, window, begun)
app.exec()
sys.stdout.write(f"{time.time()} {time.process_time()}")
sys.stdout.flush()
import os
os._exit(0)
"""


_PLAIN = """
import sys, time
import numpy, pydantic, networkx, scipy.sparse
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication([])
window = QMainWindow()
window.show()
QTimer.singleShot(0, window, app.quit)
app.exec()
sys.stdout.write(f"{time.time()} {time.process_time()}")
sys.stdout.flush()
import os
os._exit(0)
"""


def test_starting_until_the_window_can_be_used(benchmark, tmp_path):
    surroundings = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_CONFIG_HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
        "HOME": str(tmp_path),
    }

    # an installed program has its bytecode; the first start writes it
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)

    def start(program: str) -> float:
        begin = time.time()
        found = subprocess.run(
            [sys.executable, "-c", program], env=surroundings, capture_output=True, text=True, timeout=60, check=True
        )
        end, worked = map(float, found.stdout.split())
        waits.append(end - begin)
        return worked

    waits: list[float] = []
    start(_COLD)
    ratios: list[float] = []
    for _ in range(STARTS):
        plain = start(_PLAIN)
        ratios.append(start(_COLD) / plain)
    note(
        benchmark,
        ratio=np.median(ratios),
        milliseconds=1e3 * np.median(waits[2::2]),
        plain=1e3 * np.median(waits[1::2]),
    )
    benchmark.pedantic(lambda: None, rounds=1)
    assert np.median(ratios) <= START

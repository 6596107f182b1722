"""Where a stall is seen: the thread is looked at, and nothing of it is kept."""

from __future__ import annotations

import time
import weakref

from pytestqt.qtbot import QtBot

from designer.units import parse
from tests.gui.stalls import Stalls


class _Thing:
    """Something a busy function names."""


def test_what_a_busy_function_names_ends_with_it(qtbot: QtBot) -> None:
    # a painter that outlives its function, since a thread that looks holds the frame, paints on what is gone
    ended: list[weakref.ref[_Thing]] = []

    def work() -> bool:
        thing = _Thing()
        begin = time.perf_counter()
        while time.perf_counter() - begin < 0.002:
            pass
        ended.append(weakref.ref(thing))
        return True

    stalls = Stalls(longer=0.001)
    late = 0
    for _ in range(150):
        work()
        late += ended[-1]() is not None
    stalls.close()
    assert len(ended) == 150
    assert late == 0


def test_a_stall_tells_where_it_was(qtbot: QtBot) -> None:
    stalls = Stalls(longer=0.005)
    stalls.action = "many designs"
    qtbot.wait(20)
    begin = time.perf_counter()
    while time.perf_counter() - begin < 0.15:
        parse("3 GB/s", "rate")
    qtbot.wait(20)
    stalls.close()
    worst = stalls.worst()
    assert worst is not None
    assert worst.wall >= 0.14
    assert "many designs" in stalls.stated()
    assert any(" parse" in place for place in worst.seen), worst.seen

"""Places count what waits in them: links that limit, changes that help, what workloads lose to each other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from designer.gui.main_window import MainWindow
from designer.gui.panels._panel import Place
from designer.gui.places import SIDE
from designer.gui.viewmodels.scenario import Scenario
from designer.present.blocks import State


def stated(window: MainWindow, place: Place) -> tuple[str, str]:
    assert window.places is not None
    at = SIDE.index(place)
    return window.places.tabs.tabText(at), window.places.tabs.tabToolTip(at)


@pytest.mark.parametrize(
    ("template", "workload", "count"),
    [
        # eight links from the CPUs to the switches and eight on to the GPUs
        ("hgx-h100-8", "h2d", 16),
        # the GPUs limit
        ("hgx-h100-8", "llama-2-7b-fsdp", 0),
        # 72 GPUs with 18 links each
        ("gb200-nvl72", "all-reduce", 1296),
    ],
)
def test_links_that_limit_are_counted(
    window: MainWindow, qtbot: QtBot, template: str, workload: str, count: int
) -> None:
    window.open_template(template)
    assert window.document is not None
    session = window.document.session
    session.set_workload(workload)
    qtbot.waitUntil(lambda: session.state is State.ANSWERED, timeout=60_000)
    text, tip = stated(window, Place.LINKS)
    assert text == (f"Links {count:,}" if count else "Links")
    assert tip == (f"Limits: {count:,} links" if count else "")
    assert window.canvas is not None
    # the number is that of the mark on the drawing
    assert (f"· {count:,} links" in window.canvas.scene.view_state.loads.mark) == bool(count)


@pytest.mark.parametrize("large", [False, True])
def test_counts_give_way_to_names(window: MainWindow, qtbot: QtBot, large: bool) -> None:
    window.resize(1440, 900)
    window.open_template("hgx-h100-8")
    assert window.document is not None
    session = window.document.session
    qtbot.waitUntil(lambda: session.state is State.ANSWERED, timeout=60_000)
    places = window.places
    assert places is not None
    counts = (1296, 12, 3, 2) if large else (16, 0, 2, 0)
    for place, count in zip(SIDE[1:], counts, strict=True):
        places._number(place, count, f"{count}")
    qtbot.wait(10)
    last = len(SIDE) - 1
    assert places.tabs.tabRect(last).right() <= places.tabs.width()
    names = [places.tabs.tabText(at) for at in range(len(SIDE))]
    assert names == [
        "Answer",
        *(["Links", "Checks 12", "Improve 3"] if large else ["Links 16", "Checks", "Improve 2"]),
        "Time",
    ]
    assert stated(window, Place.LINKS)[1] == f"{counts[0]}"
    # with more room all are there
    places.resize(places.width() + 80, places.height())
    assert places.tabs.tabText(1) == f"Links {counts[0]:,}"


def test_what_workloads_lose_to_each_other_is_counted(window: MainWindow, qtbot: QtBot) -> None:
    window.open_template("hgx-h100-8")
    assert window.document is not None
    player, session = window.document.player, window.document.session
    player.set_scenario(Scenario(("resnet-50", "storage-to-gpus"), until=2.0))
    qtbot.waitUntil(lambda: session.frames is not None, timeout=30_000)
    found, frames = session.simulation, session.frames
    assert found is not None
    slowed = [met for met in found.meetings if met.workload == "resnet-50"]
    session.set_simulation(replace(found, meetings=tuple(replace(met, times=1.5) for met in slowed)), frames)
    text, tip = stated(window, Place.TIME)
    assert text == f"Time {len(slowed)}" == "Time 1"
    assert "ResNet-50" in tip
    session.set_simulation(None)
    assert stated(window, Place.TIME) == ("Time", "")

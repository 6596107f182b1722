"""Time: run workloads together over time, play the run, and let things fail in it."""

from __future__ import annotations

from collections.abc import Callable

from designer.gui.actions._action import Action, Menu, Window, has_document
from designer.gui.actions._machines import selected_host

#: what a degraded link keeps of its capacity
_DEGRADED = 0.5


def _has_run(window: Window) -> bool:
    return window.document is not None and window.document.session.frames is not None


def _wants_run(window: Window) -> bool:
    return window.document is not None and (window.document.player.wanted or window.document.player.busy)


def _run(window: Window) -> None:
    if window.document is not None:
        window.document.player.run()


def _toggle(window: Window) -> None:
    if window.document is not None:
        window.document.player.toggle()


def _step(by: int) -> Callable[[Window], object]:
    def run(window: Window) -> None:
        if window.document is not None:
            window.document.player.step(by)

    return run


def _begin(window: Window) -> None:
    if window.document is not None:
        window.document.player.seek(0.0)


def _loop(window: Window) -> None:
    if window.document is not None:
        window.document.player.set_loop(not window.document.player.loop)


def _faster(by: int) -> Callable[[Window], object]:
    def run(window: Window) -> None:
        if window.document is not None:
            window.document.player.faster(by)

    return run


def _clear(window: Window) -> None:
    if window.document is not None:
        window.document.player.clear()


def _paths(window: Window) -> tuple[str, ...]:
    """Links and parts that are selected, else the host something of which is."""
    if window.document is None:
        return ()
    from designer.gui.viewmodels.scenario import path_of

    session = window.document.session
    found = {p for p in map(path_of, session.selection) if p}
    if not found and session.design.vms and session.selection:
        found = {host} if (host := selected_host(session)) else found
    return tuple(sorted(found))


def _can_fail(window: Window) -> bool:
    return bool(_paths(window))


def _happens(share: float) -> Callable[[Window], object]:
    """Lets what is selected have a share of its capacity from the instant looked at."""

    def run(window: Window) -> None:
        from designer.gui.viewmodels.scenario import Event

        document = window.document
        if document is None:
            return
        scenario = document.player.scenario
        for path in _paths(window):
            scenario = scenario.with_event(Event(path, document.session.moment, share))
        document.player.set_scenario(scenario)

    return run


ACTIONS = (
    Action(
        "time.run",
        "Run over time",
        _run,
        ("F6",),
        has_document,
        "clock",
        tip="Run workloads together over time, then play what happened on the canvas",
    ),
    Action("time.play", "Play or hold", _toggle, ("Shift+Space", "F7"), _has_run, "play"),
    Action("time.begin", "Back to the start", _begin, ("Ctrl+Shift+Home",), _has_run, "begin", 1),
    Action("time.next", "Next change of a load", _step(1), ("Ctrl+Alt+Right",), _has_run, section=1),
    Action("time.previous", "Change of a load before", _step(-1), ("Ctrl+Alt+Left",), _has_run, section=1),
    Action("time.faster", "Faster", _faster(1), ("Ctrl+Alt+Up",), _has_run, section=1),
    Action("time.slower", "Slower", _faster(-1), ("Ctrl+Alt+Down",), _has_run, section=1),
    Action(
        "time.loop",
        "Play again and again",
        _loop,
        (),
        _has_run,
        "loop",
        1,
        checked=lambda w: w.document is not None and w.document.player.loop,
    ),
    Action(
        "time.fail",
        "Fail now",
        _happens(0.0),
        (),
        _can_fail,
        section=2,
        tip="What is selected carries nothing from the instant of the run that is looked at",
    ),
    Action("time.degrade", "Halve its rate now", _happens(_DEGRADED), (), _can_fail, section=2),
    Action("time.mend", "Repair now", _happens(1.0), (), _can_fail, section=2),
    Action("time.close", "Leave the run", _clear, ("Shift+F6",), _wants_run, "close", 3),
)
MENU = Menu("time", "Time", 55, ACTIONS)

"""Analyze: run, stop, choose workloads, show what binds."""

from __future__ import annotations

from designer.gui.actions._action import Action, Menu, Window, has_document, has_selection


def _has_workload(window: Window) -> bool:
    return window.document is not None and bool(window.document.session.design.workloads)


def _run(window: Window) -> None:
    if window.document is not None:
        window.document.live.refresh()


def _stop(window: Window) -> None:
    if window.document is not None:
        window.document.live.stop()


def _toggle_live(window: Window) -> None:
    window.settings.live = not window.settings.live
    if window.document is not None:
        window.document.live.enabled = window.document.player.live = window.settings.live
        if window.settings.live:
            window.document.live.refresh()


def _next(window: Window) -> None:
    if window.document is not None:
        session = window.document.session
        known = list(session.design.workloads)
        if known:
            at = known.index(session.workload) if session.workload in known else -1
            session.set_workload(known[(at + 1) % len(known)])


def _remove(window: Window) -> None:
    from designer.design.edits.workloads import RemoveWorkloads

    if window.document is not None:
        window.document.session.apply(RemoveWorkloads((window.document.session.workload,)))


def _show_first(window: Window) -> None:
    from designer.design.edits.workloads import SetDefaultWorkload

    if window.document is not None:
        window.document.session.apply(SetDefaultWorkload(window.document.session.workload))


def _not_first(window: Window) -> bool:
    document = window.document
    return document is not None and document.session.workload not in ("", document.session.design.default_workload)


def _binding(window: Window) -> None:
    from designer.gui.viewmodels.places import picked_equals

    if window.document is not None and window.document.session.result is not None:
        session = window.document.session
        binding = window.document.session.result.binding
        # one represents its equals: twice as wide alone it would change nothing
        session.reveal(p for b in binding for p in picked_equals(session.design, b.id, b.equal))
        session.set_highlight([b.id for b in binding])


def _on_trial(window: Window) -> bool:
    return window.on_trial


def _is_live(window: Window) -> bool:
    return window.settings.live


ACTIONS = (
    Action("analyze.run", "Analyze now", _run, ("F5",), _has_workload, "play"),
    Action("analyze.stop", "Stop", _stop, ("Shift+F5",), has_document),
    Action("analyze.live", "Analyze every edit at once", _toggle_live, (), has_document, checked=_is_live),
    Action("analyze.binding", "Show what limits", _binding, ("B",), _has_workload, section=1),
    Action(
        "analyze.double",
        "What if twice as much",
        lambda w: w.scale_value(1),
        ("Ctrl+Shift+Up",),
        has_selection,
        section=1,
        tip="Try twice the number selected in the Inspector, compared with the design",
    ),
    Action(
        "analyze.halve",
        "What if half as much",
        lambda w: w.scale_value(-1),
        ("Ctrl+Shift+Down",),
        has_selection,
        section=1,
        tip="Try half the number selected in the Inspector, compared with the design",
    ),
    Action(
        "analyze.apply_trial",
        "Apply the what-if",
        lambda w: w.end_trial(apply=True),
        ("Ctrl+Shift+Return",),
        _on_trial,
        section=1,
        tip="Put what is on trial into the design, as one step",
    ),
    Action(
        "analyze.discard_trial",
        "Discard the what-if",
        lambda w: w.end_trial(apply=False),
        ("Ctrl+Shift+Backspace",),
        _on_trial,
        section=1,
        tip="Forget what is on trial; the design is as it was",
    ),
    Action(
        "analyze.sweep",
        "Sweep a value…",
        lambda w: w.sweep_value(),
        ("Ctrl+Alt+S",),
        _has_workload,
        section=1,
        tip="What the workload does while a value varies: batch size against memory, throughput and time to train",
    ),
    Action(
        "analyze.choose", "Choose workload…", lambda w: w.choose_workload(), ("Ctrl+Shift+W",), has_document, section=2
    ),
    Action("analyze.next", "Next workload", _next, ("W",), _has_workload, section=2),
    Action("analyze.edit", "Edit workload…", lambda w: w.edit_workload(), ("Ctrl+Return",), _has_workload, "edit", 2),
    Action("analyze.first", "Show this workload first", _show_first, (), _not_first, section=2),
    Action("analyze.remove", "Remove workload", _remove, (), _has_workload, section=2),
    Action(
        "analyze.findings",
        "Findings",
        lambda w: w.show_panel("findings"),
        ("Ctrl+Shift+F",),
        has_document,
        "warning",
        3,
    ),
    Action(
        "analyze.compare",
        "Compare designs",
        lambda w: w.show_panel("compare"),
        (),
        has_document,
        "compare",
        3,
    ),
    Action(
        "analyze.measured",
        "Compare with measurements…",
        lambda w: w.show_panel("measured"),
        (),
        has_document,
        section=3,
        tip="Predict what somebody measured, and see how far off that is",
    ),
)
MENU = Menu("analyze", "Analyze", 50, ACTIONS)

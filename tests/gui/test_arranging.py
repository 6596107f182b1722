"""Same size, and what stands before what: by the menu, as a user does."""

from __future__ import annotations

from designer.design.address import Ref
from designer.design.document import Annotation, Design, Link, Part, Position, Size
from designer.gui.main_window import MainWindow
from designer.gui.session import Session


def shown(window: MainWindow, design: Design) -> Session:
    return window.workspace.add(design).session


def pick(session: Session, *refs: tuple[str, str]) -> None:
    session.select([((), Ref(what, i)) for what, i in refs])  # type: ignore[arg-type]


def extent(window: MainWindow, what: str, thing: str) -> tuple[int, int]:
    canvas = window.canvas
    assert canvas is not None
    box = canvas.scene.box_of(((), Ref(what, thing)))  # type: ignore[arg-type]
    assert box is not None
    _, _, width, height = canvas.scene.geometry.rect[box].tolist()
    return round(width), round(height)


def design() -> Design:
    parts = {
        "gpu0": Part(id="gpu0", kind="gpu", position=Position(x=0, y=0), size=Size(width=300, height=60)),
        "gpu1": Part(id="gpu1", kind="gpu", position=Position(x=400, y=0)),
    }
    notes = {
        "low": Annotation(id="low", text="low", position=Position(x=0, y=300), size=Size(width=80, height=200)),
        "up": Annotation(id="up", text="up", position=Position(x=20, y=320), size=Size(width=90, height=90)),
    }
    return Design(name="sizes", parts=parts, annotations=notes)


def test_things_become_as_wide_and_as_high_as_the_largest_in_one_step(window: MainWindow) -> None:
    session = shown(window, design())
    pick(session, ("parts", "gpu0"))
    window.update_actions()
    assert not window.qt_actions["edit.same_size"].isEnabled()
    pick(session, ("parts", "gpu0"), ("parts", "gpu1"), ("annotations", "low"))
    high = extent(window, "parts", "gpu1")[1]
    window.update_actions()
    window.qt_actions["edit.same_width"].trigger()
    assert extent(window, "parts", "gpu1") == (300, high)
    assert extent(window, "annotations", "low") == (300, 200)
    session.undo()
    window.qt_actions["edit.same_size"].trigger()
    assert {extent(window, w, i) for w, i in (("parts", "gpu0"), ("parts", "gpu1"), ("annotations", "low"))} == {
        (300, 200)
    }
    assert extent(window, "annotations", "up") == (90, 90)
    assert session.history.done == 1
    session.undo()
    assert session.design == design()


def test_a_note_in_front_is_the_one_that_is_hit(window: MainWindow) -> None:
    from designer.gui.canvas.hit import pick as hit

    session = shown(window, design())
    canvas = window.canvas
    assert canvas is not None

    def on_top() -> str:
        found = hit(canvas.scene.view_state, 40, 340, 1.0, canvas.tile_cache.level)
        return canvas.scene.geometry.refs[found.number].id

    canvas.zoom_to(1.0)
    assert on_top() == "up"
    pick(session, ("annotations", "low"))
    window.update_actions()
    window.qt_actions["edit.to_front"].trigger()
    assert on_top() == "low"
    window.qt_actions["edit.to_back"].trigger()
    assert on_top() == "up"
    session.undo()
    session.undo()
    assert session.design == design()
    pick(session, ("parts", "gpu0"))
    window.update_actions()
    assert not window.qt_actions["edit.to_front"].isEnabled()


def test_tidy_places_everything_or_what_is_selected_anew(window: MainWindow) -> None:
    heap = {f"g{k}": Part(id=f"g{k}", kind="gpu", parent="s", position=Position(x=40, y=60)) for k in range(4)}
    server = Part(id="s", kind="server", position=Position(x=0, y=0))
    other = Part(id="far", kind="switch", position=Position(x=9000, y=9000))
    session = shown(window, Design(name="heap", parts={"s": server, "far": other, **heap}))
    pick(session, ("parts", "s"))
    window.run("edit.tidy")
    parts = session.design.parts
    assert len({(p.position.x, p.position.y) for i in heap if (p := parts[i]).position is not None}) == 4
    # what is not in the server stays where it is
    assert parts["far"].position == other.position
    session.select(())
    window.run("edit.tidy")
    assert session.design.parts["far"].position != other.position
    assert session.history.done == 2
    session.undo()
    assert session.design.parts["far"].position == other.position


def test_similar_parts_are_selected_and_given_another_type(window: MainWindow) -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from designer.gui.dialogs.command_palette import CommandPalette
    from designer.interchange.templates import open_design

    session = shown(window, open_design("dgx-a100"))
    pick(session, ("parts", "gpu3"))
    window.run("edit.select_similar")
    assert {ref.id for _, ref in session.selection} == {f"gpu{k}" for k in range(8)}
    window.run("edit.replace_type")
    popup = next(w for w in QApplication.topLevelWidgets() if isinstance(w, CommandPalette) and w.isVisible())
    QTest.keyClicks(popup.search, "a100 80 sxm")
    QTest.keyClick(popup.search, Qt.Key.Key_Return)
    types = {p.type for p in session.design.parts.values() if p.kind == "gpu"}
    assert types == {"gpu/nvidia/a100-80-sxm4"}
    assert session.history.done == 1
    # parts of several kinds have no type in common
    pick(session, ("parts", "gpu0"), ("parts", "cpu0"))
    window.run("edit.replace_type")
    assert "one kind" in window.toasts.shown[-1].text


def test_bent_links_stay_bent_when_tidied_until_they_are_straightened(window: MainWindow) -> None:
    made = design()
    link = Link(id="l", a="gpu0", b="gpu1", kind="nvlink", bends=(Position(x=40, y=200), Position(x=440, y=200)))
    session = shown(window, made.model_copy(update={"links": {"l": link}}))
    window.update_actions()
    assert not window.qt_actions["edit.straighten"].isEnabled()
    window.qt_actions["edit.tidy"].trigger()
    assert len(session.design.links["l"].bends) == 2
    pick(session, ("parts", "gpu0"))
    window.update_actions()
    assert window.qt_actions["edit.straighten"].isEnabled(), "a link at what is selected"
    window.qt_actions["edit.straighten"].trigger()
    assert not session.design.links["l"].bends
    window.update_actions()
    assert not window.qt_actions["edit.straighten"].isEnabled()
    session.undo()
    assert len(session.design.links["l"].bends) == 2


def test_nothing_is_aligned_distributed_or_widened_onto_anything_else(window: MainWindow) -> None:
    """Of three in a row none lies on another at the top, all do at the left. With a from 0 to 160 and c from 340 there
    are 180 units between them: b, 200 wide, is put there only if it stands lower. As wide as d, 500, a would lie on b.
    """

    def part(name: str, x: int, y: int, width: int) -> Part:
        return Part(id=name, kind="gpu", position=Position(x=x, y=y), size=Size(width=width, height=60))

    parts = {"a": part("a", 0, 0, 160), "b": part("b", 170, 30, 160), "c": part("c", 340, 0, 160)}
    session = shown(window, Design(name="row", parts=parts))
    every = tuple(("parts", name) for name in parts)
    pick(session, *every)
    for action in ("edit.align_left", "edit.align_center", "edit.align_right"):
        window.run(action)
        assert session.design.parts == parts
        assert session.history.done == 0
        assert "on each other" in window.toasts.shown[-1].text
    window.run("edit.align_top")
    assert {p.position.y for p in session.design.parts.values() if p.position is not None} == {0}
    session.undo()
    wide = {**parts, "b": part("b", 170, 100, 200)}
    session = shown(window, Design(name="wide", parts=wide))
    pick(session, *every)
    window.run("edit.distribute_horizontal")
    assert session.history.done == 1, "b stands lower than the others: nothing is in its way"
    level = {**parts, "b": part("b", 170, 0, 160), "d": part("d", 0, 70, 500)}
    session = shown(window, Design(name="level", parts=level))
    pick(session, ("parts", "a"), ("parts", "d"))
    window.run("edit.same_width")
    assert session.design.parts == level
    assert "on each other" in window.toasts.shown[-1].text

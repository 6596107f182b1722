"""What stands before what among notes and frames."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.design.document import Annotation, Design, Position
from designer.design.edits.annotations import OrderAnnotations
from designer.design.geometry import lay_out
from designer.design.history import History
from designer.errors import DocumentError

IDS = ("f1", "f2", "n1", "n2", "n3")


def notes() -> Design:
    made = {
        i: Annotation(id=i, text=i, position=Position(x=0, y=0), style="frame" if i[0] == "f" else "note") for i in IDS
    }
    return Design(name="notes", annotations=made)


def drawn(design: Design) -> list[str]:
    """From back to front, as the canvas and pictures draw them."""
    return [ref.id for ref in lay_out(design).refs]


def test_bringing_to_front_and_sending_to_back_is_one_step_that_can_be_undone() -> None:
    history = History(notes())
    assert drawn(history.design) == list(IDS)
    history.do(OrderAnnotations(("n1",), front=True))
    assert drawn(history.design) == ["f1", "f2", "n2", "n3", "n1"]
    history.do(OrderAnnotations(("f2", "n3"), front=False))
    assert drawn(history.design) == ["f2", "f1", "n3", "n2", "n1"]
    history.undo()
    history.undo()
    assert history.design == notes()


@given(st.lists(st.tuples(st.sets(st.sampled_from(IDS), min_size=1), st.booleans()), max_size=6))
def test_the_others_keep_their_order_and_frames_stay_behind(steps: list[tuple[set[str], bool]]) -> None:
    design = notes()
    for chosen, front in steps:
        before = drawn(design)
        design = OrderAnnotations(tuple(chosen), front).apply(design)
        after = drawn(design)
        assert [i[0] for i in after] == ["f", "f", "n", "n", "n"]
        for style in "fn":
            was = [i for i in before if i[0] == style]
            mine, others = [i for i in was if i in chosen], [i for i in was if i not in chosen]
            assert [i for i in after if i[0] == style] == (others + mine if front else mine + others)


def test_what_is_there_already_stays_the_same_design_and_strangers_are_refused() -> None:
    design = notes()
    assert OrderAnnotations(("n3",), front=True).apply(design) is design
    assert OrderAnnotations(("n1", "n2", "n3"), front=False).apply(design) is design
    with pytest.raises(DocumentError):
        OrderAnnotations(("n9",), front=True).apply(design)

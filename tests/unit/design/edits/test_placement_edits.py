"""Placing, aligning and distributing on the canvas."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.design.address import Ref
from designer.design.document import Annotation, Design, Group, Part, Position, Size
from designer.design.edits.placement import (
    DEFAULT_EXTENT,
    Align,
    Distribute,
    MatchSize,
    Place,
    Resize,
    SetCollapsed,
)
from designer.errors import DocumentError

COORDINATE = st.integers(-5000, 5000)
A, B, C = (Ref("parts", x) for x in "abc")


def three(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> Design:
    """Three parts at given places, each of another size."""
    parts = [
        Part(id=i, kind="gpu", position=Position(x=x, y=y), size=Size(width=40 + 20 * k, height=30 + 10 * k))
        for k, (i, (x, y)) in enumerate(zip("abc", (a, b, c), strict=True))
    ]
    return Design.model_validate({"name": "three", "parts": parts})


def box(design: Design, ref: Ref) -> tuple[int, int, int, int]:
    """Left, top, right and bottom."""
    part = design.parts[ref.id]
    assert part.position is not None
    assert part.size is not None
    return (
        part.position.x,
        part.position.y,
        part.position.x + part.size.width,
        part.position.y + part.size.height,
    )


def test_place_puts_parts_groups_and_notes_where_they_shall_be() -> None:
    design = Design.model_validate(
        {
            "name": "x",
            "parts": [Part(id="a", kind="gpu")],
            "groups": [Group.model_validate({"id": "a", "replicas": 1, "content": {}})],
            "annotations": [Annotation(id="a", text="", position=Position(x=0, y=0))],
        }
    )
    refs = [Ref("parts", "a"), Ref("groups", "a"), Ref("annotations", "a")]
    design = Place({ref: (10 * i, i) for i, ref in enumerate(refs)}).apply(design)
    assert [getattr(design, r.what)["a"].position for r in refs] == [Position(x=10 * i, y=i) for i in range(3)]
    assert Place({refs[1]: (10, 1)}).apply(design) is design
    with pytest.raises(DocumentError, match="a group holds no note"):
        Place({refs[2]: (1, 1)}, within=("a",)).apply(design)


@given(a=st.tuples(COORDINATE, COORDINATE), b=st.tuples(COORDINATE, COORDINATE), c=st.tuples(COORDINATE, COORDINATE))
def test_aligned_things_share_a_side_within_the_old_bounds(
    a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]
) -> None:
    design = three(a, b, c)
    old = [box(design, r) for r in (A, B, C)]
    for side, edge, bound in (("left", 0, min), ("top", 1, min), ("right", 2, max), ("bottom", 3, max)):
        new = [box(Align((A, B, C), side).apply(design), r)[edge] for r in (A, B, C)]  # type: ignore[arg-type]
        assert new == [bound(o[edge] for o in old)] * 3
    middle = [box(Align((A, B, C), "center").apply(design), r) for r in (A, B, C)]
    assert max(m[0] + m[2] for m in middle) - min(m[0] + m[2] for m in middle) <= 2


@given(a=st.tuples(COORDINATE, COORDINATE), b=st.tuples(COORDINATE, COORDINATE), c=st.tuples(COORDINATE, COORDINATE))
def test_distributed_things_have_equal_gaps_and_the_outermost_stay(
    a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]
) -> None:
    design = three(a, b, c)
    order = sorted((A, B, C), key=lambda r: (box(design, r)[0], r))
    after = Distribute((A, B, C), "horizontal").apply(design)
    first, middle, last = (box(after, r) for r in order)
    assert (first, last) == (box(design, order[0]), box(design, order[2]))
    assert abs((middle[0] - first[2]) - (last[0] - middle[2])) <= 1


def test_sizes() -> None:
    design = three((0, 0), (9, 9), (21, 3))
    same = MatchSize((C, A), height=False).apply(design)
    assert same.parts["a"].size == Size(width=80, height=30)
    resized = Resize(A, (200, 1), (-4, 0)).apply(design).parts["a"]
    assert (resized.size, resized.position) == (Size(width=200, height=8), Position(x=-4, y=0))
    assert Resize(A, None).apply(design).parts["a"].size is None
    assert SetCollapsed((A,), True).apply(design).parts["a"].collapsed
    unsized = MatchSize((Ref("parts", "a"), B)).apply(Resize(A, None).apply(design))
    assert unsized.parts["b"].size == Size(width=DEFAULT_EXTENT[0], height=DEFAULT_EXTENT[1])

"""What is added covers nothing else, and as near to its place as that allows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from designer.catalog.loader import load_catalog
from designer.design.address import Ref
from designer.design.arrange.free_spot import free_spot
from designer.design.document import Design
from designer.design.edits.clipboard import Duplicate, Paste, copy
from designer.design.geometry import lay_out
from designer.gui.viewmodels.apart import Apart
from designer.interchange.templates import open_design
from designer.interchange.whole_servers import clip_of, whole_servers

NUMBER = st.integers(-400, 400)
EXTENT = st.integers(8, 300)


def overlap(a: np.ndarray, b: np.ndarray) -> bool:
    return bool((np.minimum(a[:2] + a[2:], b[:2] + b[2:]) - np.maximum(a[:2], b[:2]) > 1e-6).all())


@given(st.lists(st.tuples(NUMBER, NUMBER, EXTENT, EXTENT), max_size=60), NUMBER, NUMBER, EXTENT, EXTENT)
def test_a_free_spot_covers_nothing(rects: list[tuple[int, ...]], x: int, y: int, width: int, height: int) -> None:
    taken = np.array(rects, dtype=np.float64).reshape(-1, 4)
    spot = free_spot(taken, x, y, width, height)
    own = np.array([*spot, width, height])
    assert not any(overlap(own, other) for other in taken)
    if not any(overlap(np.array([x, y, width, height]), other) for other in taken):
        assert spot == (x, y)


def test_a_free_spot_is_the_nearest() -> None:
    # a box from 0 to 100; something 50 wide at 70 must go 54 right (100 + gap 24 = 124, on the grid 128) or 144 left
    assert free_spot(np.array([[0.0, 0.0, 100.0, 100.0]]), 70, 20, 50, 50) == (128.0, 20)


def covered(design: Design) -> list[tuple[int, int]]:
    geometry = lay_out(design)
    pairs: list[tuple[int, int]] = []
    for parent in np.unique(geometry.parent):
        boxes = np.flatnonzero(geometry.parent == parent).tolist()
        pairs += [
            (a, b) for i, a in enumerate(boxes) for b in boxes[i + 1 :] if overlap(geometry.rect[a], geometry.rect[b])
        ]
    return pairs


def test_pastes_and_duplicates_stand_beside_their_original() -> None:
    design = open_design("dgx-a100")
    assert covered(design) == []
    server = Ref("parts", next(p.id for p in design.parts.values() if p.parent is None))
    text = copy(design, (server,))
    for edit in (Paste(text), Paste(text, at=(10, 10)), Duplicate((server,))):
        design = Apart(edit).apply(design)
        assert covered(design) == []
    assert sum(p.kind == "server" for p in design.parts.values()) == 4


def test_a_duplicate_within_a_server_covers_none_of_its_parts() -> None:
    design = open_design("dgx-a100")
    made = Apart(Duplicate((Ref("parts", "gpu0"), Ref("parts", "gpu1")))).apply(design)
    assert covered(made) == []
    assert sum(p.kind == "gpu" for p in made.parts.values()) == 10


def test_every_server_of_the_palette_has_contents_or_is_known_to_have_none() -> None:
    whole = whole_servers()
    for type_id, server in whole.items():
        made = Paste(clip_of(server), at=(0, 0)).apply(Design(name="one"))
        roots = [p for p in made.parts.values() if p.parent is None]
        assert [p.type for p in roots] == [type_id]
        assert any(p.kind == "gpu" for p in made.parts.values()) or any(made.groups)
    bare = {e.id for e in load_catalog().entries("server")} - set(whole)
    assert "server/nvidia/dgx-a100" in whole
    assert len(bare) < len(whole) / 3

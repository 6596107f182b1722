"""The shipped records are those of today, and their scores are right by hand."""

from __future__ import annotations

import json
import math

import pytest

import designer
from designer.formulas.scoring import Sided
from designer.report.assembly import compose_report
from designer.report.chapters.validation import Record, nearest, records, score
from designer.report.document import Table, plain
from designer.report.renderers.markdown import to_markdown
from designer.report.settings import Chosen, Settings
from tests.validation.records import FILE, outcomes, rows

pytestmark = pytest.mark.xdist_group("drawn")


def record(name: str, group: str, measured: float, predicted: float, sided: Sided = Sided.BOTH) -> Record:
    ends = (0.9 * predicted, 1.1 * predicted)
    return Record(name, "a", group, "s", "d", "k", "rate", "B/s", measured, predicted, *ends, sided, ("gpu/x",))


def test_the_records_are_those_of_today() -> None:
    """Within a per cent, so that a last digit on another machine does not matter."""
    kept = json.loads(FILE.read_text("utf-8"))["records"]
    made = rows(outcomes())
    assert [row["id"] for row in kept] == [row["id"] for row in made], "python -m tests.validation.records --write"
    for old, new in zip(kept, made, strict=True):
        for name in ("measured", "predicted", "low", "high"):
            assert old[name] == pytest.approx(new[name], rel=0.01), (old["id"], name)


def test_a_score_by_hand() -> None:
    """Group one: 100 predicted as 110 and as 121: ln 1.1 and ln 1.21, median 14.3 %. Group two: exact, 0. The mean over
    groups is half of it, 7.1 %. 110 with 99 to 121 holds 100, 121 with 108.9 does not, the exact one does: 2 of 3."""
    one = [record("a", "one", 100, 110), record("b", "one", 100, 121), record("c", "two", 100, 100)]
    found = score(one)
    assert found is not None
    assert found.error == pytest.approx((math.log(1.1) + math.log(1.21)) / 2 / 2)
    assert (found.points, found.groups, found.coverage) == (3, 2, pytest.approx(2 / 3))
    assert found.worst == pytest.approx(math.log(1.21))


def test_a_bound_by_hand() -> None:
    """At least 100 was measured: 110 keeps that and is not off, and no band is judged."""
    found = score([record("a", "one", 100, 110, Sided.LOWER)])
    assert found is not None
    assert found.error == 0
    assert math.isnan(found.coverage)
    assert score([]) is None


def test_the_nearest_are_on_the_same_accelerators() -> None:
    here = {"gpu/nvidia/h100-sxm5"}
    found = nearest(["collective"], here, 10)
    assert found
    assert all(here & set(r.accelerators) for r in found)
    assert [r.error for r in found] == sorted((r.error for r in found), reverse=True)
    assert len(records()) == 246


@pytest.mark.parametrize(("template", "said"), [("hgx-h100-8", "these accelerators"), ("serving-l40s-4", "")])
def test_the_chapter_tells_what_was_never_measured(template: str, said: str) -> None:
    settings = Settings(chosen=Chosen(chapters=("validation",)))
    chapter = compose_report([designer.open_design(template)], settings).chapters[-1]
    assert chapter.key == "validation"
    assert said in plain(chapter.title)
    table = next(block for block in chapter.blocks if isinstance(block, Table))
    cells = [[plain(cell) for cell in row.cells] for row in table.rows]  # type: ignore[arg-type]
    kinds = {w.kind for w in designer.open_design(template).workloads.values()}
    assert len(cells) == 2 * len(kinds)
    measured = {r.kind for r in records()}
    assert any("none" in row for row in cells) == (template == "serving-l40s-4")
    assert ("serving" in measured) is False


def test_others_stand_in_only_for_what_nobody_measured_here() -> None:
    """Copies were measured on GB200, collectives were not: those of other machines are distinguished, copies of others
    are left out."""
    found = nearest(["transfer", "collective"], {"gpu/nvidia/gb200"}, 40)
    own = [record for record in found if "gpu/nvidia/gb200" in record.accelerators]
    assert own
    assert found[: len(own)] == own
    assert {record.kind for record in own} == {"transfer"}
    assert {record.kind for record in found[len(own) :]} == {"collective"}
    settings = Settings(chosen=Chosen(chapters=("validation",)))
    stated = to_markdown(compose_report([designer.open_design("gb200-nvl72")], settings))
    chapter = stated[stated.index('<a id="validation">') :]
    assert chapter.index("Its accelerators") < chapter.index("gb200-tray") < chapter.index("Others, where nobody")
    assert "measured collective on these accelerators: other machines stand in" in chapter

"""Thousands of random edits: undo gives the same design back, nothing dangles, files round trip byte for byte."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from designer.design.diff import diff
from designer.design.document import Block, Design
from designer.design.history import History
from designer.design.integrity import examine
from designer.design.query import count_kinds
from designer.design.validation import group_depth
from designer.errors import DocumentError
from designer.interchange.native.journal import Journal, recover
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import dumps
from tests.budget import seeds
from tests.designs import one_unit
from tests.edit_maker import EditMaker, addresses


def start() -> Design:
    """A small unit with wirings, nested groups and links of every sort."""
    return one_unit(2)


def keys_fit(block: Block) -> bool:
    """True if every collection is keyed by the ids of its things."""
    names = [n for n in ("parts", "links", "groups", "wirings", "vms", "workloads", "assertions") if hasattr(block, n)]
    own = all(key == item.id for name in names for key, item in getattr(block, name).items())
    inner = [b for g in block.groups.values() for b in (g.content, *g.exceptions.values())]
    return own and all(keys_fit(b) for b in inner)


def check(design: Design) -> None:
    """What holds for every design an edit made."""
    assert keys_fit(design)
    again = Design.model_validate(design.model_dump())
    assert again == design
    text = dumps(design)
    no_harm_done(design)
    loaded = loads(text).design
    assert loaded == design
    assert dumps(loaded) == text


def no_harm_done(design: Design) -> None:
    """Edits may leave a pattern that no longer fits the number of its parts, and nothing else."""
    problems = examine(design)
    assert [p for p in problems if p.refuses or "chooses no parts" in p.text] == []
    assert [p for p in problems if p.code == "DOC-REFERENCE"] == []


def size(design: Design) -> int:
    """How much there is, to keep a long run small."""
    return sum(count_kinds(design).values()) + sum(1 for _ in addresses(design))


@pytest.mark.parametrize("seed", seeds(3, 20))
def test_many_edits_undo_and_redo_to_equal_designs(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    history = History(start())
    with closing(Journal(tmp_path / "edits.journal", sync=False)) as journal:
        edit_at_random(rng, history, journal)
    assert recover(journal.path).design == history.design
    undo_and_redo_all(history)


def edit_at_random(rng: random.Random, history: History, journal: Journal) -> None:
    """500 edits, each checked."""
    maker = EditMaker(rng.randrange)
    done, unchanged, refusals = 0, True, list[DocumentError]()
    for step in range(500):
        before, text = history.design, None
        if not step % 50:
            text = dumps(before)
        edit = maker.edit(before)
        assert edit.label
        try:
            after = history.do(edit)
        except DocumentError as error:
            refusals.append(error)
            unchanged &= history.design is before
            continue
        done += after is not before
        assert bool(diff(before, after)) == (before != after), edit
        journal.record(after)
        if text is not None:
            assert dumps(before) == text, edit
        if after is not before and history.steps[-1].before is before:
            assert history.undo() is before
            assert history.redo() is after
        if not step % 25:
            check(history.design)
        if size(history.design) > 400 or group_depth(history.design) > 4:
            history.undo() if rng.random() < 0.5 else history.go_to(rng.randrange(history.done + 1))
            journal.record(history.design)
    assert done > 100
    assert unchanged
    assert len(refusals) > 10
    assert all(error.remedy or error.place for error in refusals)


def undo_and_redo_all(history: History) -> None:
    """Back to the beginning and forward again, to the very same designs."""
    designs = [s.before for s in history.steps] + [history.steps[-1].after]
    texts = [dumps(d) for d in designs[:: max(1, len(designs) // 20)]]
    history.go_to(0)
    history.go_to(len(designs))
    assert [dumps(d) for d in designs[:: max(1, len(designs) // 20)]] == texts
    for index, design in enumerate(designs):
        assert history.go_to(index) is design


class EditMachine(RuleBasedStateMachine):
    """Edits, undo, redo and transactions in any order, against a list of the designs there were."""

    def __init__(self) -> None:
        super().__init__()
        self.history = History(start())
        self.past: list[Design] = [self.history.design]
        self.at = 0

    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        maker = EditMaker(lambda n: data.draw(st.integers(0, n - 1)))
        self.history.seal()
        before = self.history.design
        try:
            after = self.history.do(maker.edit(before))
        except DocumentError:
            assert self.history.design is before
            return
        if after is not before:
            del self.past[self.at + 1 :]
            self.past.append(after)
            self.at += 1

    @rule()
    def undo(self) -> None:
        self.at = max(0, self.at - 1)
        assert self.history.undo() is self.past[self.at]

    @rule()
    def redo(self) -> None:
        self.at = min(len(self.past) - 1, self.at + 1)
        assert self.history.redo() is self.past[self.at]

    @rule(data=st.data())
    def failing_transaction(self, data: st.DataObject) -> None:
        maker = EditMaker(lambda n: data.draw(st.integers(0, n - 1)))
        before, steps = self.history.design, self.history.steps
        try:
            with self.history.transaction("several"):
                self.history.do(maker.edit(before))
                raise KeyboardInterrupt
        except (KeyboardInterrupt, DocumentError):
            pass
        assert self.history.design is before
        assert self.history.steps == steps

    @invariant()
    def modified_means_another_design(self) -> None:
        first, now = self.past[0], self.history.design
        assert not (self.history.modified and now is first)
        # opening and closing is a way of looking, not a change
        assert self.history.modified or now is first or diff(first, now).only_folds
        assert self.history.can_undo == (self.at > 0)
        assert self.history.can_redo == (self.at < len(self.past) - 1)

    @invariant()
    def the_design_is_sound(self) -> None:
        assert keys_fit(self.history.design)
        no_harm_done(self.history.design)


EditMachine.TestCase.settings = settings(stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck))
TestEditMachine = EditMachine.TestCase

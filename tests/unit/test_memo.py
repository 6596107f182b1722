"""The memo: one answer for one object, bounded, from any thread, and nothing outlives being forgotten."""

from __future__ import annotations

import gc
import threading
import weakref
from dataclasses import dataclass

import pytest

from designer.design.document import Design, Part
from designer.design.edits.parts import AddParts
from designer.design.shapes import shape_of
from designer.interchange.importing import read_bytes
from designer.interchange.native.reader import load
from designer.interchange.templates import find_template
from designer.memo import Interned, forget, memo


@dataclass(frozen=True, eq=True)
class Thing:
    name: str


def test_the_same_object_is_asked_about_once_and_an_equal_one_again() -> None:
    asked: list[str] = []

    @memo()
    def length(thing: Thing, times: int) -> int:
        asked.append(thing.name)
        return len(thing.name) * times

    one, other = Thing("four"), Thing("four")
    assert [length(one, 2), length(one, 2), length(other, 2), length(one, 3)] == [8, 8, 8, 12]
    assert asked == ["four"] * 3


def test_the_objects_asked_about_longest_ago_are_let_go() -> None:
    @memo(most=2)
    def name(thing: Thing) -> Thing:
        return Thing(thing.name)

    things = [Thing(str(k)) for k in range(5)]
    gone = weakref.ref(name(things[0]))
    for thing in things[1:]:
        name(thing)
    gc.collect()
    assert gone() is None
    assert len(name) == 2


def test_answers_about_one_object_are_bounded_too() -> None:
    @memo(each=3)
    def times(thing: Thing, by: int) -> int:
        return by

    thing = Thing("x")
    for by in range(10):
        times(thing, by)
    assert len(times) == 3


def test_large_answers_push_out_others_but_the_newest_stays() -> None:
    @memo(size=len, budget=10)
    def text(thing: Thing) -> str:
        return thing.name

    small, large = Thing("abc"), Thing("x" * 50)
    text(small)
    assert text(large) == "x" * 50
    assert len(text) == 1
    text(small)
    assert len(text) == 1


@dataclass(frozen=True, eq=False)
class Cluster:
    extent: int


def test_of_large_objects_fewer_are_kept_but_always_two() -> None:
    """An edit needs what is known of the design before and of the plain one, however large they are."""
    asked: list[int] = []

    @memo()
    def answer(cluster: Cluster) -> int:
        asked.append(cluster.extent)
        return cluster.extent

    small = [Cluster(10) for _ in range(20)]
    large = [Cluster(2_000_000) for _ in range(4)]
    vast = [Cluster(10**9) for _ in range(4)]
    for clusters, kept in ((small, 20), (large, 22), (vast, 22), (small, 22)):
        for cluster in clusters:
            answer(cluster)
        assert len(answer) == kept
        asked.clear()
        for cluster in clusters[-2:]:
            answer(cluster)
        assert not asked
    # what edits of a vast design have in common is not found again for each of them
    for cluster in small:
        answer(cluster)
    assert not asked
    answer.forget()
    medium = [Cluster(200_000) for _ in range(40)]
    for cluster in medium:
        answer(cluster)
    # small ones are let go a quarter of the room at once
    assert 20 <= len(answer) <= 27
    answer.forget()
    one: Interned[Cluster] = Interned(8)
    for k in range(6):
        one(k, lambda: Cluster(2_000_000))
    assert one(5, lambda: small[0]) is not small[0]
    assert one(4, lambda: small[0]) is not small[0]
    assert one(3, lambda: small[0]) is small[0]


def test_values_that_cannot_be_hashed_are_refused() -> None:
    @memo()
    def total(thing: Thing, numbers: object) -> object:
        return numbers

    with pytest.raises(TypeError):
        total(Thing("x"), [1, 2])


def test_many_threads_get_equal_answers() -> None:
    @memo(most=4)
    def upper(thing: Thing) -> str:
        return thing.name.upper()

    things = [Thing(chr(97 + k)) for k in range(16)]
    wrong: list[str] = []

    def ask() -> None:
        for _ in range(200):
            wrong.extend(t.name for t in things if upper(t) != t.name.upper())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(upper) <= 4


def test_alike_objects_become_one_until_they_are_forgotten() -> None:
    known: Interned[Thing] = Interned(2)
    first = known("a", lambda: Thing("a"))
    assert known("a", lambda: Thing("a")) is first
    forget()
    assert known("a", lambda: Thing("a")) is not first


def _slurm(begin: int) -> bytes:
    """100 switches of 16 nodes each: 4 kB, and 9 MB as a design."""
    lines = [f"SwitchName=s{k} Nodes=node[{16 * k}-{16 * k + 15}]" for k in range(begin, begin + 100)]
    lines.append(f"SwitchName=root Switches=s[{begin}-{begin + 99}]")
    return "\n".join(lines).encode()


def _designs() -> int:
    gc.collect()
    return sum(isinstance(one, Design) for one in gc.get_objects())


def test_imports_one_after_the_other_do_not_pile_up() -> None:
    """What is known about large designs is bounded by their size, not by how many there were."""
    forget()
    read_bytes(_slurm(0), "slurm-topology", "topology.conf")
    before = _designs()
    for k in range(1, 10):
        read_bytes(_slurm(100 * k), "slurm-topology", "topology.conf")
    assert _designs() <= before + 5


def test_small_designs_are_bounded_by_their_size_as_well() -> None:
    """A design of a hundred parts and links counts as such: 60 MB hold some two hundred of them, not thousands."""
    forget()
    before = _designs()
    design = load(find_template("hgx-h100-8")).design
    most = 5_500_000 // design.extent
    assert 50 < most < 250
    for k in range(most + 50):
        shape_of(AddParts((Part(id=f"leaf{k}", kind="switch"),)).apply(design))
    assert _designs() <= before + most + 5

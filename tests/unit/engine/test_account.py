"""Times as expressions and their account: cases worked by hand, then against brute force."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.engine.account import account, banded, evaluated, named
from designer.engine.account.expression import (
    Filling,
    Hidden,
    Least,
    Longest,
    Roofline,
    Scenario,
    Solved,
    Sum,
    Term,
    Tied,
    Time,
    seconds,
    shares,
)
from designer.engine.results import Bottleneck

RESOURCES = [f"r{k}" for k in range(5)]
ESTIMATES = {f"e{k}": (0.8, 1.3) for k in range(3)}


def at(time: Time, slower: Scenario) -> float:
    return float(np.ravel(seconds(time, {key: np.asarray(by) for key, by in slower.items()}))[0])


def grown(rng: random.Random, depth: int) -> Time:
    kind = (
        rng.choice(["sum", "longest", "least", "roofline", "hidden", "filling"])
        if depth
        else rng.choice(["term", "tied"])
    )
    if kind == "tied":
        return Tied(tuple(rng.sample(RESOURCES, rng.randint(1, 3))), rng.uniform(0.01, 1.0), rng.choice(["e0", ""]))
    if kind == "term":
        return Term(rng.choice(RESOURCES), rng.uniform(0.01, 1.0), rng.choice([*ESTIMATES, ""]))
    first, second = grown(rng, depth - 1), grown(rng, depth - 1)
    if kind == "hidden":
        return Hidden(first, second, rng.random())
    if kind == "roofline":
        return Roofline((first, second), rng.uniform(1.0, 8.0))
    if kind == "filling":
        return Filling(first, second, rng.random())
    parts = (first, second, *(grown(rng, depth - 1) for _ in range(rng.randrange(2))))
    if kind == "sum":
        return Sum(parts, rng.randrange(1, 4), rng.choice([*ESTIMATES, ""]))
    return Longest(parts) if kind == "longest" else Least(parts)


def seeded(seed: int, depth: int) -> Time:
    return grown(random.Random(seed), depth)


trees = st.builds(seeded, st.integers(0, 10**6), st.integers(0, 4))


def test_four_tied_links_gain_together_and_nothing_alone():
    """An all-reduce of 28 us of steps and 4.09 ms on four links that are equally full: 4.118 ms in all.

    Twice as wide together: 28 us + 2.045 ms = 2.073 ms, a gain of 4.118 / 2.073 = 1.9865. Steps twice as fast save
    14 of 4,118 us, 0.34 %, which is not worth naming.
    """
    links = Tied(tuple(f"nvlink{k}" for k in range(4)), 4.09e-3, "bus")
    found = account(Sum((Term("steps", 28e-6, "alpha"), links)), {"bus": (0.95, 1.07), "alpha": (0.7, 1.3)})
    (binds,) = found.binding
    assert binds.tie == ("nvlink0", "nvlink1", "nvlink2", "nvlink3")
    assert binds.alone == (1.0, 1.0, 1.0, 1.0)
    assert binds.gain == pytest.approx(4.118 / 2.073, rel=1e-12)
    assert found.next == ()
    assert found.value == pytest.approx(4.118e-3)
    assert found.high - found.value == pytest.approx(math.hypot(0.07 * 4.09e-3, 0.3 * 28e-6))
    assert found.value - found.low == pytest.approx(math.hypot(0.05 * 4.09e-3, 0.3 * 28e-6))


def test_arithmetic_gains_only_in_layers_it_binds():
    """32 layers of max(3, 1) + max(0.2, 0.5) s, 112 s; traffic of 40 s hides behind 0.3 of that, 33.6 s.

    Twice the arithmetic: 32 × (1.5 + 0.5) = 64 s, traffic shows 40 - 19.2 = 20.8 s: 84.8 s for 118.4 s.
    """
    layer = Sum(
        (
            Longest((Term("arithmetic", 3.0), Term("memory", 1.0))),
            Longest((Term("arithmetic", 0.2), Term("memory", 0.5))),
        ),
        32,
    )
    found = account(Hidden(layer, Term("nic", 40.0), 0.3), {})
    assert found.value == pytest.approx(118.4)
    assert [held.tie for held in found.binding] == [("arithmetic",)]
    assert found.binding[0].gain == pytest.approx(118.4 / 84.8)
    # the network: 40 s become 20 s, all of it hidden
    assert found.next[0].tie == ("nic",)
    assert found.next[0].gain == pytest.approx(118.4 / 112)


def test_what_hides_behind_the_longest_comes_next():
    """A link of 10 s next to one of 9 s: twice the first leaves the 9 s of the second, a gain of 10 / 9."""
    found = account(Longest((Term("a", 10.0), Term("b", 9.0))), {})
    assert [(held.tie, held.gain) for held in found.binding] == [(("a",), pytest.approx(10 / 9))]
    assert [(held.tie, held.gain) for held in found.next] == [(("b",), None)]


def test_the_least_of_ways_changes_with_what_is_faster():
    """A tree of 2 s of steps and 6 s of links against a ring of 5 and 4: the tree, 8 s. Links twice as fast: both 5, 7.

    The ring does not become the better one: 5 + 2 = 7 against 2 + 3 = 5.
    """
    tree, ring = Sum((Term("steps", 2.0), Term("links", 6.0))), Sum((Term("steps", 5.0), Term("links", 4.0)))
    found = account(Least((tree, ring)), {"e": (1.0, 1.0)})
    assert found.value == 8.0
    assert found.binding[0].tie == ("links",)
    assert found.binding[0].gain == pytest.approx(8 / 5)
    # steps twice as fast: 1 + 6 = 7 against 2.5 + 4 = 6.5, so the ring is chosen
    assert found.next[0].gain == pytest.approx(8 / 6.5)


def test_a_pipeline_of_chunks_counts_for_both_of_its_times():
    """2 × √(4 × 1) = 4 s, half for each; either four times as fast halves it."""
    time = Filling(Term("steps", 4.0), Term("links", 1.0), 2.0)
    assert shares(time) == {("steps",): pytest.approx(2.0), ("links",): pytest.approx(2.0)}
    assert at(time, {"links": 0.25}) == pytest.approx(2.0)


def test_a_floor_holds_the_low_end():
    found = account(Term("links", 10.0, "bus"), {"bus": (0.5, 1.5)}, floor=9.0)
    assert (found.low, found.high) == (9.0, 15.0)


def test_an_estimate_without_a_band_is_no_scenario():
    asked: list[Scenario] = []

    def solve(slower: Scenario) -> float:
        asked.append(dict(slower))
        return 10.0 * slower.get("r", 1.0)

    found = account(Solved(10.0, (("r",),), solve, ("sure", "unsure")), {"sure": (1.0, 1.0), "unsure": (0.9, 1.1)})
    assert found.binding[0].gain == 2.0
    assert asked == [{"unsure": 0.9}, {"unsure": 1.1}, {"r": 0.5}]


def test_members_of_a_tie_in_a_run_are_tried_alone_up_to_four():
    def solve(slower: Scenario) -> float:
        return 10.0 * max(slower.get(r, 1.0) for r in "abcde")

    for count, alone in ((4, (1.0,) * 4), (5, (None,) * 5)):
        tie = tuple("abcde"[:count])
        run = Solved(10.0, (tie,), lambda slower, tie=tie: 10.0 * max(slower.get(r, 1.0) for r in tie))
        (binds,) = account(run, {}).binding
        assert binds.gain == 2.0
        assert binds.alone == alone
    assert account(Solved(10.0, (tuple("abcde"),), solve), {}, explained=False).binding == ()


def test_a_run_says_what_holds_it_back_when_it_is_faster():
    """3 s on a link, then 2 s of computing: twice the link leaves 1.5 s, and computing is the longest then."""

    def parts(slower: Scenario) -> dict[tuple[Hashable, ...], float]:
        return {("link",): 3.0 * slower.get("link", 1.0), ("gpu",): 2.0 * slower.get("gpu", 1.0)}

    run = Solved(5.0, (), lambda slower: sum(parts(slower).values()), (), parts)
    found = account(run, {})
    assert [(held.tie, held.gain) for held in found.binding] == [
        (("link",), pytest.approx(5 / 3.5)),
        (("gpu",), pytest.approx(5 / 4)),
    ]
    assert [held.share for held in found.binding] == [0.6, 0.4]


def test_words_carry_gains_and_shares():
    links = Longest((Term("a", 6.0), Term("b", 6.0)))
    found = account(Sum((links, Term("c", 2.0))), {})
    binding, after = found.bottlenecks(lambda name: Bottleneck("channel", str(name), f"link {name}", "50 GB/s raw"))
    assert [(b.label, b.why, b.gain_if_doubled, b.gain_together) for b in binding] == [
        ("link a", "50 GB/s raw; 75% of the time", 1.0, 8 / 5),
        ("link b", "50 GB/s raw; 75% of the time", 1.0, 8 / 5),
    ]
    assert [(b.id, b.gain_together) for b in after] == [("c", pytest.approx(8 / 7))]


def test_a_band_never_falls_below_nothing():
    low, high = banded(1.0, np.array([0.2, 0.2, 2.0]))
    # not below both at their quick ends, where each divides it
    assert (low, high) == (pytest.approx(0.2 * 0.2), 2.0)


def words(name: Hashable) -> Bottleneck:
    return Bottleneck("channel", str(name), f"link {name}", "50 GB/s raw", equal=2)


def test_a_resource_of_several_ties_has_the_share_of_all() -> None:
    """10 % alone, 30 % with another, 40 % with a third: 80 %, ahead of the 40 % and the 30 % of these."""
    found = named({("a",): 0.1, ("a", "b"): 0.3, ("c", "a"): 0.4}, words)
    assert [(one.id, one.share) for one in found] == [("a", pytest.approx(0.8)), ("c", 0.4), ("b", 0.3)]
    assert {one.gain_if_doubled for one in found} == {one.gain_together for one in found} == {None}


def test_members_of_a_sort_are_listed_once_and_counted() -> None:
    """Three members in two sorts; each resource represents two of its own."""
    links = Tied(("a0", "a1", "b0"), 6.0)
    binding, _ = account(links, {}).bottlenecks(words, sort=lambda name: str(name)[0])
    assert [(one.id, one.equal, one.share) for one in binding] == [("a0", 4, 1.0), ("b0", 2, 1.0)]


def test_what_comes_next_without_a_gain_says_when_it_holds() -> None:
    binding, after = account(Longest((Term("a", 10.0), Term("b", 9.0))), {}).bottlenecks(words)
    assert [one.why for one in binding] == ["50 GB/s raw; 100% of the time"]
    assert [one.why for one in after] == ["50 GB/s raw; holds the time back once what binds is twice as fast"]
    bare = account(Longest((Term("a", 10.0), Term("b", 9.0))), {}).bottlenecks(
        lambda _: Bottleneck("limit", "a", "a", "")
    )
    assert bare[0][0].why == "100% of the time"


def test_three_that_come_next_are_named() -> None:
    """10 + 4 + 3 + 2 + 1 s: twice the first gains 20 / 15; the next best, 20 / 18, is below half of that."""
    found = account(Sum(tuple(Term(f"r{k}", t) for k, t in enumerate((10.0, 4.0, 3.0, 2.0, 1.0)))), {})
    assert [held.tie for held in found.binding] == [("r0",)]
    assert [(held.tie, held.share) for held in found.next] == [(("r1",), 0.2), (("r2",), 0.15), (("r3",), 0.1)]


def test_half_of_the_gain_of_the_best_binds() -> None:
    """Of 12 s, 6 and 3.6 s: gains of 12 / 9 and 12 / 10.2, 0.333 and 0.176, more than half. Of 3 s, 0.143: less."""
    found = account(Sum((Term("a", 6.0), Term("b", 3.6), Term("c", 2.4))), {})
    assert [held.tie for held in found.binding] == [("a",), ("b",)]
    found = account(Sum((Term("a", 6.0), Term("b", 3.0), Term("c", 3.0))), {})
    assert [held.tie for held in found.binding] == [("a",)]
    # exactly half: 12 s and a gain of 1.5, 9.6 s and a gain of 1.25
    solved = {"a": 8.0, "b": 9.6}
    run = Solved(12.0, (("a",), ("b",)), lambda slower: min(solved[str(name)] for name in slower) if slower else 12.0)
    assert [held.gain for held in account(run, {}).binding] == [1.5, 1.25]


def test_gains_of_less_than_half_a_percent_are_given_only_if_none_is_larger() -> None:
    """100 s and 0.9 s: halving the second saves 0.45 of 100.9 s, 0.4 %. Of 200 equal terms each gains 0.25 %.

    Both are less than worth naming, and stay so once the first is twice as fast.
    """
    found = account(Sum((Term("large", 100.0), Term("small", 0.9))), {})
    assert [(held.tie, held.gain) for held in found.binding] == [(("large",), pytest.approx(100.9 / 50.9))]
    assert found.next == ()
    found = account(Sum(tuple(Term(f"t{k}", 1.0) for k in range(200))), {})
    assert [(held.tie, held.gain) for held in found.binding] == [(("t0",), pytest.approx(200 / 199.5))]
    assert found.next == ()


def test_what_is_hidden_comes_next_only_if_it_is_worth_naming() -> None:
    """10 s next to 9 s, then 0.09 s next to 0.1 s: halving what is left of these saves 4.5 s, or 0.05 of 10.1 s.

    Of 0.11 s, 0.055 of 10.11 s are more than half a percent.
    """
    for small, named_too in ((0.1, False), (0.11, True)):
        time = Sum((Longest((Term("a", 10.0), Term("b", 9.0))), Longest((Term("a", small), Term("c", 0.9 * small)))))
        found = account(Sum((time, Term("d", small))), {})
        named_now = [held.tie for held in found.next]
        assert (("b",) in named_now) is True
        assert (("d",) in named_now) is named_too


def test_parts_add_up_to_the_time_and_links_of_a_tie_are_one() -> None:
    """4 s of two tied links and 1 s of launches, twice: 8 s and 2 s."""
    found = account(Sum((Tied(("a0", "a1"), 4.0), Term("launch", 1.0)), 2), {})
    parts = found.parts(words, sort=lambda name: str(name)[0])
    assert [(tuple(one.id for one in part.held), part.seconds) for part in parts] == [
        (("a0",), 8.0),
        (("launch",), 2.0),
    ]
    assert [part.held[0].share for part in parts] == [0.8, 0.2]
    assert account(Term("a", 0.0), {}).parts(words) == ()


def test_no_time_has_no_account() -> None:
    found = account(Term("a", 0.0, "e"), {"e": (0.5, 2.0)})
    assert (found.value, found.low, found.high, found.binding, found.next) == (0.0, 0.0, 0.0, (), ())


def test_a_floor_above_the_time_leaves_the_time() -> None:
    found = account(Term("links", 10.0, "bus"), {"bus": (0.5, 1.5)}, floor=12.0)
    assert (found.value, found.low, found.high) == (10.0, 10.0, 15.0)


def test_a_time_that_is_not_explained_has_its_band() -> None:
    found = account(Term("links", 10.0, "bus"), {"bus": (0.5, 1.5)}, explained=False)
    assert (found.low, found.high, found.binding, found.next) == (5.0, 15.0, (), ())


def test_a_resource_that_gains_nothing_does_not_bind() -> None:
    """A run that no resource shortens."""
    found = account(Solved(10.0, (("r",),), lambda _: 10.0), {})
    assert (found.value, found.binding, found.next) == (10.0, (), ())


def test_members_of_a_tie_are_tried_alone_up_to_twenty_four() -> None:
    for count, alone in ((2, (1.0,) * 2), (24, (1.0,) * 24), (25, (None,) * 25)):
        (binds,) = account(Tied(tuple(range(count)), 8.0), {}).binding
        assert (binds.gain, binds.alone) == (2.0, alone)
    (binds,) = account(Term("one", 8.0), {}).binding
    assert binds.alone == (2.0,)


def test_twenty_four_ties_are_tried_of_an_expression_and_eight_of_a_run() -> None:
    """Ties that hold less than a hundredth of what the longest of a run does are not tried."""

    def tried(held: dict[tuple[Hashable, ...], float]) -> set[Hashable]:
        asked: set[Hashable] = set()

        def solve(slower: Scenario) -> float:
            asked.update(slower)
            return sum(spent * slower.get(tie[0], 1.0) for tie, spent in held.items())

        account(Solved(sum(held.values()), (), solve, (), lambda _: held), {})
        return asked

    assert tried({(k,): 100.0 - k for k in range(10)}) == set(range(8))
    assert tried({("a",): 100.0, ("b",): 1.0, ("c",): 0.99}) == {"a", "b"}
    many = Sum(tuple(Solved(30.0 - k, ((k,),), lambda s, k=k: (30.0 - k) * s.get(k, 1.0)) for k in range(30)))
    assert len(account(many, {}).next) == 3


def test_a_solver_whose_ties_are_all_named_is_not_asked_for_more() -> None:
    """One solution for each tie, and none to find what holds it back once the first is twice as fast."""
    asked: list[Scenario] = []

    def solve(slower: Scenario) -> float:
        asked.append(dict(slower))
        return 6.0 * slower.get("a", 1.0) + 2.0 * slower.get("b", 1.0)

    account(Solved(8.0, (("a",), ("b",)), solve), {})
    assert asked == [{"a": 0.5}, {"b": 0.5}]


def test_the_same_scenario_is_solved_once() -> None:
    asked: list[Scenario] = []

    def solve(slower: Scenario) -> float:
        asked.append(dict(slower))
        return 5.0 * slower.get("r", 1.0)

    run = Solved(5.0, (("r",),), solve)
    assert evaluated(run, [{}, {"r": 0.5}, {"other": 3.0}, {"r": 0.5}, {"r": 2.0, "other": 0.5}]).tolist() == [
        5.0,
        2.5,
        5.0,
        2.5,
        10.0,
    ]
    assert asked == [{"r": 0.5}, {"r": 2.0}]
    # alone, what is as it was is not stated
    assert at(run, {}) == 5.0
    assert seconds(run, {"r": 4.0, "other": 2.0}) == 20.0
    assert seconds(run, {"other": 2.0}) == 5.0
    assert asked[2:] == [{"r": 4.0}]


def test_a_tie_is_as_slow_as_its_slowest_member() -> None:
    tie = Tied(("a", "b"), 3.0, "e")
    assert seconds(tie, {"a": 0.5}) == 3.0
    assert seconds(tie, {"a": 0.5, "b": 0.25}) == 1.5
    assert seconds(tie, {"a": 4.0}) == 12.0
    assert seconds(tie, {"a": 0.5, "b": 0.5, "e": 3.0}) == 4.5


def test_members_that_are_faster_leave_a_tie() -> None:
    """1 % faster still holds back with the others, 3 % faster does not."""
    tie = Tied(("a", "b", "c"), 10.0)
    assert shares(tie) == {("a", "b", "c"): 10.0}
    assert shares(tie, {"a": 0.99, "b": 0.97}) == {("a", "c"): 10.0}


def test_parts_within_two_percent_hold_back_together() -> None:
    assert shares(Longest((Term("a", 100.0), Term("b", 98.0), Term("c", 97.9)))) == {("a", "b"): 100.0}


def test_what_parts_that_are_equally_long_have_in_common_is_not_tied() -> None:
    """Both wait 1 s for steps, then 4 s on a link of their own: the steps alone, then both links."""
    one = Sum((Term("steps", 1.0), Term("a", 4.0)))
    other = Sum((Term("steps", 1.0), Term("b", 4.0)))
    assert shares(Longest((one, other))) == {("a", "b"): 4.0, ("steps",): 1.0}
    # 3 s and 1 s of the same steps: 1 s is common, the rest of both is tied
    one = Sum((Term("steps", 3.0), Term("a", 2.0)))
    assert shares(Longest((one, other))) == {("steps", "a", "b"): 4.0, ("steps",): 1.0}


def test_what_hides_has_no_share_and_what_shows_has_all_of_its_own() -> None:
    """10 s hide 3 s: of 2 s nothing shows; of 5 s 2 s do, and 7 of the 10 s of work are left."""
    assert shares(Hidden(Term("work", 10.0), Term("link", 2.0), 0.3)) == {("work",): 10.0}
    found = shares(Hidden(Term("work", 10.0), Term("link", 5.0), 0.3))
    assert found == {("work",): pytest.approx(7.0), ("link",): pytest.approx(5.0)}


def test_shares_are_longest_first() -> None:
    time = Sum((Term("a", 1.0), Term("b", 3.0), Term("c", 2.0)), 2.0, "e")
    assert list(shares(time, {"e": 0.5}).items()) == [(("b",), 3.0), (("c",), 2.0), (("a",), 1.0)]


def test_the_share_of_a_solved_tie_is_what_a_little_of_it_costs() -> None:
    """6 s a + 2 s b: a thousandth longer adds 6 ms, and 2 ms; a tie that is asked twice as fast has half of it."""

    def solve(slower: Scenario) -> float:
        return 6.0 * slower.get("a", 1.0) + 2.0 * slower.get("b", 1.0)

    run = Solved(8.0, (("b",), ("a",), ("idle",)), solve)
    assert shares(run) == {("a",): pytest.approx(6.0), ("b",): pytest.approx(2.0)}
    assert shares(run, {"a": 0.5}) == {("a",): pytest.approx(3.0), ("b",): pytest.approx(2.0)}
    # not derived, all ties are named
    assert shares(run, derived=False) == {("b",): 0.0, ("a",): 0.0, ("idle",): 0.0}
    assert shares(Sum((run, Term("c", 1.0)), 2.0))[("c",)] == 2.0


def test_what_is_hidden_in_a_run_holds_nothing() -> None:
    """5 s behind 6 s: a little longer changes nothing, though twice as long would."""
    run = Solved(6.0, (("a",), ("b",)), lambda slower: max(6.0 * slower.get("a", 1.0), 5.0 * slower.get("b", 1.0)))
    assert shares(run) == {("a",): pytest.approx(6.0)}


@given(trees)
def test_seconds_of_all_ties_add_up_to_the_time(time: Time):
    assert sum(shares(time).values()) == pytest.approx(at(time, {}), rel=1e-9)


@given(
    trees,
    st.sampled_from(RESOURCES),
    st.floats(0.125, 1.0),
    st.dictionaries(st.sampled_from(RESOURCES), st.floats(0.1, 8)),
)
def test_no_resource_made_faster_lengthens_a_time(time: Time, resource: str, faster: float, others: dict[str, float]):
    before = at(time, dict(others))
    after = at(time, {**others, resource: others.get(resource, 1.0) * faster})
    assert after <= before * (1 + 1e-12)


@given(trees, st.floats(0.1, 10))
def test_twice_every_resource_is_twice_the_time(time: Time, by: float):
    assert at(time, dict.fromkeys(RESOURCES, by)) == pytest.approx(by * at(time, {}), rel=1e-9)


@given(trees)
def test_the_account_against_brute_force(time: Time):
    found = account(time, ESTIMATES)
    value = at(time, {})
    assert found.value == pytest.approx(value, rel=1e-12)
    off = [[at(time, {name: end}) - value for end in ESTIMATES[name]] for name in ESTIMATES]
    # alone, in squares, or together: each 1/√n of the way to its quick end
    matter = [name for name, each in zip(ESTIMATES, off, strict=True) if any(abs(one) > 1e-10 * value for one in each)]
    ends = {name: 1 - (1 - ESTIMATES[name][0]) / math.sqrt(len(matter)) for name in matter}
    quickest = value - at(time, dict(ends)) if len(matter) > 1 else 0.0
    squares = math.hypot(*(min(0.0, *each) for each in off))
    assert value - found.low == pytest.approx(max(squares, quickest), abs=1e-9)
    assert found.high - value == pytest.approx(math.hypot(*(max(0.0, *each) for each in off)), abs=1e-9)
    gains = {tie: value / at(time, dict.fromkeys(tie, 0.5)) for tie in shares(time)}
    best = max(gains.values())
    assert found.binding[0].gain is not None
    assert found.binding[0].gain == pytest.approx(best, rel=1e-9) or max(
        alone or 0.0 for alone in found.binding[0].alone
    ) == pytest.approx(best, rel=1e-9)
    for held in (*found.binding, *found.next):
        if held.gain is None:
            continue
        assert held.gain == pytest.approx(gains[held.tie], rel=1e-9)
        assert (held in found.binding) is (held.gain >= 1 + (best - 1) / 2)
        for resource, alone in zip(held.tie, held.alone, strict=True):
            assert alone is None or alone == pytest.approx(value / at(time, {resource: 0.5}), rel=1e-9)


@given(trees, st.lists(st.dictionaries(st.sampled_from([*RESOURCES, *ESTIMATES]), st.floats(0.1, 8)), max_size=6))
def test_scenarios_together_are_as_each_alone(time: Time, scenarios: list[dict[Hashable, float]]):
    together = evaluated(time, [{}, *scenarios])
    assert together.tolist() == pytest.approx([at(time, {}), *(at(time, one) for one in scenarios)], rel=1e-12)


def test_the_band_of_a_very_long_time_is_finite_and_told_without_a_warning() -> None:
    """3 and 4 add up to 5, whatever the scale: the square of 4e200 is beyond a float."""
    with np.errstate(all="raise"):
        low, high = banded(1e201, np.array([1e201 - 3e200, 1e201 - 4e200, 1e201 + 3e200, 1e201 + 4e200]))
    assert (low, high) == pytest.approx((5e200, 1.5e201))


def test_resources_that_bind_together_shorten_a_time_together() -> None:
    """Two links of 10 s each, off by a fifth: neither alone shortens the time, both 1/√2 of the way give 8.59 s."""
    time = Longest((Term("a", 10.0, "x"), Term("b", 10.0, "y")))
    found = account(time, {"x": (0.8, 1.2), "y": (0.8, 1.2)})
    assert found.low == pytest.approx(10 * (1 - 0.2 / sqrt(2)))
    assert found.high == pytest.approx(10 + sqrt(2.0**2 + 2.0**2))


def test_parts_that_add_up_deviate_in_squares() -> None:
    """10 s and 20 s, off by a fifth: √(2² + 4²) = 4.47 s, farther than both part of the way, 6/√2 = 4.24 s."""
    time = Sum((Term("a", 10.0, "x"), Term("b", 20.0, "y")))
    found = account(time, {"x": (0.8, 1.2), "y": (0.8, 1.2)})
    assert found.low == pytest.approx(30 - sqrt(20.0))
    assert found.high == pytest.approx(30 + sqrt(20.0))

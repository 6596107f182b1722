"""What holds for every flow problem."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from designer.engine.flows import Incidence, binding, check, solve

INF = float("inf")


@st.composite
def incidences(draw, low=0.1, high=10.0, capped=True):
    """Up to nine activities over up to six resources; numbers log-uniform or from few values, so that ties occur."""
    n_resources = draw(st.integers(1, 6))
    exponent = st.floats(np.log(low), np.log(high)).map(lambda x: float(np.exp(x)))
    number = st.one_of(st.sampled_from([max(low, 0.5), 1.0, min(high, 2.0)]), exponent)
    entry = st.tuples(st.integers(0, n_resources - 1), number)
    rows = draw(st.lists(st.lists(entry, min_size=1, max_size=5), min_size=1, max_size=9))
    capacity = draw(st.lists(number, min_size=n_resources, max_size=n_resources))
    weight = draw(st.lists(number, min_size=len(rows), max_size=len(rows)))
    wish = st.one_of(st.just(INF), st.just(0.0), number) if capped else st.just(INF)
    demand = draw(st.lists(wish, min_size=len(rows), max_size=len(rows)))
    return Incidence.from_rows(rows, capacity, weight, demand)


@given(incidences())
def test_all_methods_give_the_one_certified_answer(incidence):
    answers = [solve(incidence, method=method).rate for method in ("auto", "rounds", "heap")]
    for rate in answers:
        assert check(incidence, rate).ok
        assert_allclose(rate, answers[0], rtol=1e-8)


@given(incidences(low=1e-12, high=1e15))
def test_extreme_numbers_still_pass_the_certificate(incidence):
    for method in ("rounds", "heap"):
        answer = solve(incidence, method=method)
        assert (answer.rate <= incidence.demand).all()
        assert np.isfinite(answer.rate).all()


@given(incidences(), st.floats(1e-3, 1e3))
def test_scaling_capacities_and_demands_scales_rates(incidence, factor):
    scaled = incidence.with_capacity(incidence.capacity * factor).with_demand(incidence.demand * factor)
    assert_allclose(solve(scaled).rate, solve(incidence).rate * factor, rtol=1e-8)


@given(incidences(), st.data())
def test_raising_one_capacity_never_lowers_the_smallest_level(incidence, data):
    """Of those that get less than they ask for; others may well fall."""
    resource = data.draw(st.integers(0, incidence.n_resources - 1))
    capacity = incidence.capacity.copy()
    capacity[resource] *= data.draw(st.floats(1, 10))
    before, after = solve(incidence).level, solve(incidence.with_capacity(capacity)).level
    assert after.min() >= before.min() * (1 - 1e-8)
    # the whole ordered list of levels, not only its head, is lexicographically no worse
    old, new = np.sort(before), np.sort(after)
    changed = np.flatnonzero(np.abs(new - old) > 1e-8 * old)
    assert len(changed) == 0 or new[changed[0]] > old[changed[0]]


@given(incidences(capped=False), st.integers(2, 4))
def test_splitting_an_activity_into_equal_parts_keeps_the_total(incidence, parts):
    rows = [
        list(zip(incidence.resource[a:b].tolist(), incidence.usage[a:b].tolist(), strict=True))
        for a, b in zip(incidence.ptr[:-1], incidence.ptr[1:], strict=True)
    ]
    weight = incidence.weight.tolist()
    split = Incidence.from_rows(
        [rows[0]] * parts + rows[1:], incidence.capacity, [weight[0] / parts] * parts + weight[1:]
    )
    whole, pieces = solve(incidence).rate, solve(split).rate
    assert_allclose(pieces[:parts], whole[0] / parts, rtol=1e-8)
    assert_allclose(pieces[parts:], whole[1:], rtol=1e-8)


@given(incidences(capped=False), st.floats(0.01, 100))
def test_only_ratios_of_weights_matter(incidence, factor):
    heavier = Incidence(
        incidence.ptr,
        incidence.resource,
        incidence.usage,
        incidence.capacity,
        incidence.weight * factor,
        incidence.demand,
    )
    assert_allclose(solve(heavier).rate, solve(incidence).rate, rtol=1e-8)


@given(incidences(), st.randoms(use_true_random=False))
def test_order_does_not_matter(incidence, random):
    activities, resources = list(range(incidence.n_activities)), list(range(incidence.n_resources))
    random.shuffle(activities)
    random.shuffle(resources)
    place = np.argsort(resources)
    rows = [
        [(int(place[incidence.resource[k]]), incidence.usage[k]) for k in range(incidence.ptr[a], incidence.ptr[a + 1])]
        for a in activities
    ]
    shuffled = Incidence.from_rows(
        rows, incidence.capacity[resources], incidence.weight[activities], incidence.demand[activities]
    )
    assert_allclose(solve(shuffled).rate, solve(incidence).rate[activities], rtol=1e-8)


@given(incidences())
def test_everyone_is_bound_and_what_binds_nobody_gains_nothing(incidence):
    answer = solve(incidence)
    bound = binding(incidence, answer)
    assert (bound.by_demand | (np.diff(bound.ptr) > 0)).all()
    idle = sorted(set(range(incidence.n_resources)) - set(bound.resource.tolist()))
    capacity = incidence.capacity.copy()
    capacity[idle] *= 2
    assert_allclose(solve(incidence.with_capacity(capacity)).rate, answer.rate, rtol=1e-8)

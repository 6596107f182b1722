"""The input of the flow studies: refuses what cannot be computed, and cannot be damaged afterwards."""

import numpy as np
import pytest

from designer.engine.flows import Incidence, solve
from designer.engine.flows.tolerances import MATRIX_ENTRIES, MATRIX_FROM
from designer.errors import AnalysisError
from tests.unit.engine.flows.cases import INF, random_incidence

GOOD = {
    "ptr": [0, 2, 3],
    "resource": [0, 1, 1],
    "usage": [1.0, 2.0, 1.0],
    "capacity": [10.0, 20.0],
    "weight": [1.0, 1.0],
    "demand": [INF, 5.0],
}


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("ptr", [0, 3], "weight"),
        ("ptr", [1, 2, 3], "ptr"),
        ("ptr", [0, 3, 2], "ptr"),
        ("ptr", [0, 2, 4], "ptr"),
        ("ptr", [], "ptr"),
        ("ptr", [0.0, 2.0, 3.0], "ptr"),
        ("resource", [0, 1, 2], "resource[2]"),
        ("resource", [0, -1, 1], "resource[1]"),
        ("resource", [0.0, 1.0, 1.0], "resource"),
        ("usage", [1.0, 0.0, 1.0], "usage[1]"),
        ("usage", [1.0, float("nan"), 1.0], "usage[1]"),
        ("usage", [1.0, INF, 1.0], "usage[1]"),
        ("usage", [1.0, 2.0], "usage"),
        ("capacity", [10.0, 0.0], "capacity[1]"),
        ("capacity", [-1.0, 1.0], "capacity[0]"),
        ("capacity", [10.0, float("nan")], "capacity[1]"),
        ("weight", [0.0, 1.0], "weight[0]"),
        ("weight", [1.0, INF], "weight[1]"),
        ("demand", [INF, -1.0], "demand[1]"),
        ("demand", [float("nan"), 1.0], "demand[0]"),
        ("demand", [[1.0, 1.0]], "demand"),
    ],
)
def test_refuses_with_the_place(field, value, place):
    with pytest.raises(AnalysisError) as caught:
        Incidence(**{**GOOD, field: value})
    assert caught.value.place == f"incidence.{place}"


def test_counts_how_many_more_are_wrong():
    with pytest.raises(AnalysisError, match=r"1 more like it"):
        Incidence(**{**GOOD, "capacity": [0.0, 0.0]})


def test_sizes_and_types():
    incidence = Incidence(**GOOD)
    assert (incidence.n_activities, incidence.n_resources, incidence.nnz) == (2, 2, 3)
    assert (incidence.ptr.dtype, incidence.resource.dtype, incidence.usage.dtype) == (np.int64, np.int32, np.float64)


def test_a_resource_named_twice_counts_with_both_usages():
    twice = Incidence.from_rows([[(0, 1.0), (1, 1.0), (0, 2.0)], [(0, 1.0)]], [12.0, 100.0])
    once = Incidence.from_rows([[(0, 3.0), (1, 1.0)], [(0, 1.0)]], [12.0, 100.0])
    assert twice.nnz == 3
    assert twice.ptr.tolist() == once.ptr.tolist()
    assert twice.resource.tolist() == once.resource.tolist()
    assert twice.usage.tolist() == once.usage.tolist()


def test_twins_are_merged_beside_empty_rows():
    incidence = Incidence.from_rows([[], [(2, 1.0), (0, 1.0), (2, 1.0)], [], [(2, 4.0)]], [1.0] * 3, demand=[1.0] * 4)
    assert incidence.ptr.tolist() == [0, 0, 2, 2, 3]
    assert incidence.usage.tolist() == [1.0, 2.0, 4.0]


def test_order_inside_a_row_is_kept_when_nothing_is_double():
    assert Incidence.from_rows([[(2, 1.0), (0, 1.0)]], [1.0] * 3).resource.tolist() == [2, 0]


def test_arrays_are_copies_and_read_only():
    given = {name: np.array(value) for name, value in GOOD.items()}
    incidence = Incidence(**given)
    before = solve(incidence).rate.tolist()
    for array in given.values():
        array[:] = 1
    assert solve(incidence).rate.tolist() == before
    for name in GOOD:
        with pytest.raises(ValueError, match="read-only"):
            getattr(incidence, name)[0] = 1
    for derived in (incidence.rows, incidence.columns.entry, incidence.layout.pull):
        with pytest.raises(ValueError, match="read-only"):
            derived[0] = 1
    with pytest.raises(AttributeError):
        incidence.weight = np.ones(2)


def test_edits_share_the_routes_and_leave_the_original():
    incidence = random_incidence(1)
    layout = incidence.layout
    edited = incidence.with_capacity(incidence.capacity * 2).with_demand(np.full(10, INF))
    assert edited.resource is incidence.resource
    assert edited.layout is layout
    assert edited.capacity[0] == 2 * incidence.capacity[0]
    assert np.isfinite(incidence.demand).any()
    assert not np.isfinite(edited.demand).any()
    assert not edited.capacity.flags.writeable


def test_a_layout_made_by_an_edit_serves_the_original():
    incidence = random_incidence(2)
    edited = incidence.with_capacity(incidence.capacity * 2)
    assert edited.layout is incidence.layout


def test_edits_are_checked():
    incidence = Incidence(**GOOD)
    with pytest.raises(AnalysisError, match="above 0"):
        incidence.with_capacity([1.0, 0.0])
    with pytest.raises(AnalysisError, match="2 values"):
        incidence.with_capacity([1.0])
    with pytest.raises(AnalysisError, match="0 or more"):
        incidence.with_demand([-1.0, 1.0])


def test_columns_list_the_users_of_a_resource():
    incidence = Incidence.from_rows([[(1, 1.0), (0, 2.0)], [(1, 3.0)], [(0, 4.0)]], [1.0, 1.0, 1.0])
    columns = incidence.columns
    assert columns.users(0).tolist() == [0, 2]
    assert columns.users(1).tolist() == [0, 1]
    assert columns.users(2).tolist() == []
    assert incidence.usage[columns.entry].tolist() == [2.0, 4.0, 1.0, 3.0]


def test_products_outside_the_floats_are_refused():
    incidence = Incidence.from_rows([[(0, 1e-200)]], [1.0], weight=[1e-200])
    with pytest.raises(AnalysisError, match="usage times weight"):
        solve(incidence)


def test_loads_and_entries_are_the_same_however_often_they_are_asked_for():
    rng = np.random.default_rng(5)
    n, m, k = 3000, 700, 6
    resource = np.sort(np.argsort(rng.random((n, m)), axis=1)[:, :k], axis=1).ravel()
    incidence = Incidence(
        np.arange(0, n * k + 1, k),
        resource.astype(np.int32),
        rng.uniform(0.5, 2, n * k),
        rng.uniform(1, 9, m + 5),
        np.ones(n),
        np.full(n, np.inf),
    )
    assert incidence.nnz >= MATRIX_ENTRIES
    rate, some = rng.uniform(0, 3, n), rng.random(m + 5) < 0.02
    first, entries = incidence.load(rate), incidence.entries_of(some)
    expected = np.zeros(m + 5)
    np.add.at(expected, incidence.resource, rate[incidence.rows] * incidence.usage)
    for _ in range(MATRIX_FROM):
        again = incidence.with_capacity(incidence.capacity + 1.0).load(rate)
    np.testing.assert_allclose(first, expected, rtol=1e-12)
    np.testing.assert_allclose(again, expected, rtol=1e-12)
    assert incidence.entries_of(some).tolist() == entries.tolist() == np.flatnonzero(some[incidence.resource]).tolist()
    assert len(incidence.entries_of(np.zeros(m + 5, dtype=bool))) == 0
    assert len(incidence.entries_of(np.ones(m + 5, dtype=bool))) == incidence.nnz

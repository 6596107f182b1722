"""Lists and ranges of a sweep as they are spelled."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.decisions.runs import at_random, grid, together
from designer.decisions.variables import amount_of, make_variable, read_variable
from designer.errors import FormatError


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("64,128,256", ["64", "128", "256"]),
        ("32..256*2", ["32", "64", "128", "256"]),
        ("1..7+3", ["1", "4", "7"]),
        ("1..8+3", ["1", "4", "7"]),
        ("2..5", ["2", "3", "4", "5"]),
        ("100 Gb/s..400 Gb/s*2", ["100 Gb/s", "200 Gb/s", "400 Gb/s"]),
        ("1..2 GiB+0.5", ["1 GiB", "1.5 GiB", "2 GiB"]),
        ("1 GB..3 GB+1 GB", ["1 GB", "2 GB", "3 GB"]),
        ("0..1:5", ["0", "0.25", "0.5", "0.75", "1"]),
        ("1000 1/s..4000 1/s*2", ["1000 1/s", "2000 1/s", "4000 1/s"]),
        ("1,2..8*2,8", ["1", "2", "4", "8"]),
        ("gpu0,gpu1;gpu2", ["gpu0,gpu1", "gpu2"]),
        ("bf16, fp8", ["bf16", "fp8"]),
        ("1e-3..1e-1*10", ["0.001", "0.01", "0.1"]),
        ("1e-300..1e300*1e200", ["1e-300", "1e-100", "1e+100", "1e+300"]),
        ("-1e308..1e308:3", ["-1e+308", "0", "1e+308"]),
        ("0..2+1e300", ["0"]),
    ],
)
def test_what_is_spelled(text: str, values: list[str]) -> None:
    assert list(make_variable("x", text).values) == values


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1,,2",
        "8..1",
        "1..",
        "..4",
        "1 GB..2 GiB+1",
        "1 GB..2 GB",
        "0..8*2",
        "1..8*1",
        "1..8+0",
        "1..8:1",
        "1..1e9",
        "1..8*x",
        "0.5..2",
        "1..8+1 GB",
        "nan..2",
        "a..b",
        "1e-300..1e300*1.0000000000000002",
        "1..1e308+1e-300",
        "0..1e308+1e-308",
        "1..8+1e999",
        "1..8*1e999",
    ],
)
def test_what_cannot_be_is_refused_in_words(text: str) -> None:
    with pytest.raises(FormatError) as refused:
        make_variable("x", text)
    assert refused.value.remedy
    assert "--vary x" in str(refused.value)


@pytest.mark.parametrize("text", ["", "x", "=1", " =2"])
def test_a_path_is_needed(text: str) -> None:
    with pytest.raises(FormatError):
        read_variable(text)


@given(st.text(max_size=30))
def test_no_text_breaks_it(text: str) -> None:
    try:
        found = make_variable("x", text)
    except FormatError:
        return
    assert found.values


def test_amounts_are_known_by_their_unit() -> None:
    assert amount_of("400 Gb/s") == (50e9, "B/s")
    assert amount_of("10 ms") == (0.01, "s")
    assert amount_of("256") == (256.0, "")
    assert amount_of("ring") is None


def test_every_combination_the_last_one_fastest() -> None:
    runs = grid([make_variable("a", "1,2"), make_variable("b", "x,y,z")])
    assert [run.settings for run in runs] == [
        ("1", "x"),
        ("1", "y"),
        ("1", "z"),
        ("2", "x"),
        ("2", "y"),
        ("2", "z"),
    ]
    assert [run.number for run in runs] == list(range(6))


def test_values_that_go_together() -> None:
    runs = together([make_variable("a", "1,2"), make_variable("b", "x,y")])
    assert [run.settings for run in runs] == [("1", "x"), ("2", "y")]
    with pytest.raises(FormatError, match="a has 2, b has 3"):
        together([make_variable("a", "1,2"), make_variable("b", "x,y,z")])


def test_the_same_value_cannot_vary_twice() -> None:
    with pytest.raises(FormatError, match="twice"):
        grid([make_variable("a", "1,2"), make_variable("a", "3,4")])
    with pytest.raises(FormatError):
        grid([])


def test_too_many_combinations_are_refused_before_they_are_made() -> None:
    many = [make_variable(name, "1..1000") for name in "abc"]
    with pytest.raises(FormatError, match="1,000,000,000 combinations"):
        grid(many)


@given(st.integers(1, 60), st.integers(0, 5))
def test_random_draws_cover_every_slice_once(count: int, seed: int) -> None:
    """Of n draws from 0 to 1 exactly one lies in each n-th."""
    variable = make_variable("x", "0 GB..1 GB", drawn=True)
    runs = at_random([variable], count, seed)
    assert runs == at_random([variable], count, seed)
    # drawn numbers keep six digits: one at the very edge may be rounded into its neighbour
    slices = sorted(min(int(float(run.settings[0].split()[0]) * count + 1e-5), count - 1) for run in runs)
    assert sum(a != b for a, b in zip(slices, range(count), strict=True)) <= 1


def test_random_draws_of_factors_and_whole_numbers() -> None:
    """Between 1 and 10,000 by factors: a quarter of the draws to each power of ten."""
    runs = at_random([make_variable("x", "1 GB..10000 GB*10", drawn=True)], 400, 1)
    values = [float(run.settings[0].split()[0]) for run in runs]
    assert [sum(10**k <= v < 10 ** (k + 1) for v in values) for k in range(4)] == [100] * 4
    whole = at_random([make_variable("x", "1..4", drawn=True)], 400, 1)
    assert {s: sum(r.settings[0] == s for r in whole) for s in "1234"} == dict.fromkeys("1234", 100)
    names = at_random([make_variable("x", "ring,tree", drawn=True)], 10, 1)
    assert sum(r.settings[0] == "ring" for r in names) == 5


@given(st.floats(1e-308, 1e308), st.floats(1e-308, 1e308), st.sampled_from(["", "*2", "+1", ":3"]))
def test_ranges_of_any_size_are_read_or_refused_and_give_finite_values(a: float, b: float, end: str) -> None:
    """Overflow of a quotient, a power or a difference is no mistake of the program."""
    low, high = sorted((a, b))
    try:
        variables = [make_variable("x", f"{low!r}..{high!r}{end}", drawn=not end)]
    except FormatError:
        return
    runs = at_random(variables, 5, 1) if not end else grid(variables)
    for run in runs[:1000]:
        assert low * (1 - 1e-5) <= float(run.settings[0]) <= high * (1 + 1e-5)

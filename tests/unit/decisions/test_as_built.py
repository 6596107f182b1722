"""A design next to what was built of it."""

from __future__ import annotations

import pytest

from designer.decisions.as_built import Comparison, compare_built
from designer.errors import ExchangeError
from designer.interchange.generating import generate
from designer.interchange.importing import read_any


def _dump(cables: list[tuple[str, int, str, int, str]]) -> bytes:
    """``ibnetdiscover -p`` of cables between nodes; names that begin with h are adapters of hosts."""
    names = sorted({end for a, _, b, _, _ in cables for end in (a, b)})
    guid = {name: f"0x{at:016x}" for at, name in enumerate(names, start=1)}

    def end(name: str, port: int) -> str:
        return f"{'CA' if name.startswith('h') else 'SW'} 1 {port} {guid[name]}"

    def said(name: str) -> str:
        return f"{name} mlx5_0" if name.startswith("h") else name

    lines: list[str] = []
    for a, ap, b, bp, rate in cables:
        for x, xp, y, yp in ((a, ap, b, bp), (b, bp, a, ap)):
            lines.append(f"{end(x, xp)} 4x {rate} - {end(y, yp)} ( '{said(x)}' - '{said(y)}' )")
    return "\n".join(lines).encode()


PLAN = [
    ("h1", 1, "leaf1", 1, "NDR"),
    ("h2", 1, "leaf1", 2, "NDR"),
    ("h3", 1, "leaf2", 1, "NDR"),
    ("leaf1", 10, "spine1", 1, "NDR"),
    ("leaf1", 11, "spine1", 2, "NDR"),
    ("leaf2", 10, "spine1", 3, "NDR"),
    ("leaf2", 11, "spine1", 4, "NDR"),
]


def _compare(built: list[tuple[str, int, str, int, str]]) -> Comparison:
    return compare_built(read_any(_dump(PLAN)).design, read_any(_dump(built)).design)


def test_as_designed() -> None:
    found = _compare(PLAN)
    assert not found.findings
    assert (found.matched, found.cables_as_designed, found.capacity) == (6, 7, 1.0)


def test_a_missing_cable_costs_its_share() -> None:
    """One of seven equal cables: 6/7 of the capacity is left."""
    found = _compare(PLAN[:-1])
    assert [f.code for f in found.findings] == ["BUILT-MISSING"]
    assert "1 of 2 cables" in found.findings[0].text
    assert "50 GB/s of 100 GB/s" in found.findings[0].text
    assert found.capacity == pytest.approx(6 / 7)


def test_a_degraded_cable_is_told_with_what_it_costs() -> None:
    """EDR in place of NDR: 12.5 of 50 GB/s, so 37.5 of 7 × 50 GB/s are lost."""
    found = _compare([*PLAN[:-1], ("leaf2", 11, "spine1", 4, "EDR")])
    assert [f.code for f in found.findings] == ["BUILT-DEGRADED"]
    assert "37.5 GB/s" in found.findings[0].text
    assert found.capacity == pytest.approx(1 - 37.5 / 350)


def test_a_miswired_cable_names_both_ends() -> None:
    found = _compare([*PLAN[:2], ("h3", 1, "leaf1", 3, "NDR"), *PLAN[3:]])
    wrong = next(f for f in found.findings if f.code == "BUILT-MISWIRED")
    assert wrong.text == "h3 is cabled to leaf1 and not to leaf2"


def test_a_node_that_is_not_there() -> None:
    codes = {f.code for f in _compare(PLAN[1:]).findings}
    assert {"BUILT-ABSENT", "BUILT-MISSING"} <= codes


def test_nodes_that_nothing_tells_apart_are_matched_as_they_come() -> None:
    """Two nameless adapters on one leaf: the same fabric again has no difference, one of them gone is one cable."""
    dump = "\n".join(
        [
            "SW 1 1 0xa 4x NDR - CA 2 1 0x1 ( 'leaf1' - 'MT4129' )",
            "SW 1 2 0xa 4x NDR - CA 3 1 0x2 ( 'leaf1' - 'MT4129' )",
        ]
    )
    both, one = read_any(dump.encode()).design, read_any(dump.splitlines()[0].encode()).design
    assert not compare_built(both, both).findings
    assert compare_built(both, one).cables_missing == 1


def test_nothing_in_common_is_refused() -> None:
    with pytest.raises(ExchangeError, match="no network links"):
        compare_built(
            read_any(_dump(PLAN)).design, generate("leaf-spine", {"nodes": "1"}).model_copy(update={"wirings": {}})
        )

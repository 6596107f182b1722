"""Sockets and memory shares derived from NUMA domains."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.interchange.foreign.cpus import (
    EMERALD,
    GENOA,
    GRACE,
    ICELAKE,
    POWER,
    ROME,
    SAPPHIRE,
    SKYLAKE,
    TURIN,
    UNKNOWN,
    CpuModel,
    NumaHint,
    cpu_model,
    memory_share,
    sockets_of,
)  # fmt: skip


@pytest.mark.parametrize(
    ("vendor", "family", "model", "found"),
    [
        ("GenuineIntel", "6", "85", SKYLAKE), ("GenuineIntel", "6", "106", ICELAKE),
        ("GenuineIntel", "6", "143", SAPPHIRE),
        ("GenuineIntel", "6", "207", EMERALD), ("AuthenticAMD", "23", "49", ROME), ("AuthenticAMD", "143", "49", ROME),
        ("AuthenticAMD", "175", "1", ROME), ("AuthenticAMD", "25", "17", GENOA), ("AuthenticAMD", "175", "144", GENOA),
        ("AuthenticAMD", "191", "2", TURIN), ("", "", "", UNKNOWN), ("  Shanghai  ", "7", "59", GENOA),
    ],
)  # fmt: skip
def test_models(vendor: str, family: str, model: str, found: CpuModel) -> None:
    assert cpu_model(vendor, family, model) is found


def _hints(model: CpuModel, *numbers: int, cores: int = 0) -> list[NumaHint]:
    return [NumaHint(n, ((1 << cores) - 1) << (n * cores) if n >= 0 else 0, model=model) for n in numbers]


@pytest.mark.parametrize(
    ("hints", "sockets"),
    [
        (_hints(SAPPHIRE, 1, 0), [1, 0]), (_hints(ROME, 3, 1, 7, 5), [0, 0, 1, 1]),
        (_hints(ROME, 0, 1, 2, 3, cores=24), [0, 0, 1, 1]),
        (_hints(ROME, 0, 1, 2, 3, cores=8), [0, 0, 0, 0]), (_hints(SAPPHIRE, 0, 1, 2, 3), [0, 0, 1, 1]),
        (_hints(POWER, 0, 8), [0, 1]), (_hints(GRACE, 0, 1), [0, 1]), (_hints(ROME, -1), [0]),
        (_hints(ROME, -1, -1), [0, 0]),
        ([], []), (_hints(UNKNOWN, 0), [0]),
    ],
)  # fmt: skip
def test_sockets(hints: list[NumaHint], sockets: list[int]) -> None:
    assert sockets_of(hints) == sockets


def test_a_quarter_of_a_socket_has_a_quarter_of_its_memory() -> None:
    assert memory_share(_hints(ROME, 3, 1, 7, 5)) == "51.2 GB/s"
    assert memory_share(_hints(ROME, 0, 1)) == "204.8 GB/s"
    assert memory_share(_hints(SAPPHIRE, 0)) == "307.2 GB/s"


@given(st.lists(st.integers(-1, 40), min_size=1, max_size=20), st.sampled_from([ROME, SAPPHIRE, POWER, UNKNOWN]))
def test_sockets_are_numbered_from_zero_without_gaps(numbers: list[int], model: CpuModel) -> None:
    chosen = sockets_of(_hints(model, *numbers))
    assert len(chosen) == len(numbers)
    assert sorted(set(chosen)) == list(range(len(set(chosen))))
    memory_share(_hints(model, *numbers))

"""Values distinguished by sorting them are those that sorting the rows distinguishes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.engine.network import hashing
from designer.engine.network.hashing import distinct, how_many


@pytest.mark.parametrize("few", [0, 4096])
@given(values=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=60))
def test_distinct_values_come_in_the_order_of_their_first_rows(few: int, values: list[int]) -> None:
    """By hand: of 7, 3, 7, 5 the values are 7, 3, 5; their first rows 0, 1, 3; the rows' numbers 0, 1, 0, 2."""
    rows = np.array(values, dtype=np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "_FEW", few)
        first, of, many = distinct(rows)
    met = list(dict.fromkeys(values))
    assert rows[first].tolist() == met
    assert first.tolist() == [values.index(value) for value in met]
    assert of.tolist() == [met.index(value) for value in values]
    assert many.tolist() == [values.count(value) for value in met]
    assert how_many(rows) == len(met)

"""Which parts of a netlist are of one kind, type and values, so that what depends on nothing else is asked once."""

from __future__ import annotations

import numpy as np

from designer.design.elaborate import Int, Netlist


def alike_parts(net: Netlist) -> Int:
    """A number for each definition of a part, the same for those of one kind and type without values of their own.

    : (n_definitions,)
    """
    known: dict[tuple[str, str, int], int] = {}
    numbers = [
        known.setdefault((part.kind, part.type, n if part.overrides else -1), len(known))
        for n, part in enumerate(net.part_defs)
    ]
    return np.array(numbers, dtype=np.int64)

"""How much of a long trial runs each time: a sample always, the whole of it with ``packaging/test --long``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

#: templates of different kinds: each way accelerators are joined, each vendor, one server, racks, clusters, the edge, a
#: virtual estate, served models; the others are variants of one of these
DIFFERENT = frozenset(
    {
        *("aws-p4d", "azure-ndv2-v100", "dell-c4140-b", "dgx-a100", "dgx2", "edge-dgx-spark", "edge-robot-cell"),
        *("gb200-nvl72", "hgx-a100-4-2s-pairswitch", "hgx-h100-8", "hpe-apollo-6500-nfs", "m40-server", "mi250x-16gcd"),
        *("mi300x-platform", "serving-cpu-2s", "serving-l40s-4", "serving-mig-farm", "serving-split-2-racks"),
        *("sm-4029gp-trt-pair", "su-h100-32", "vsphere-cluster-4"),
    }
)


def sample(always: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    """Values for ``parametrize``: some always, the others as long trials."""
    late = (value if isinstance(value, tuple) else (value,) for value in others)
    return [*always, *(pytest.param(*value, marks=pytest.mark.long) for value in late)]


def different(templates: Iterable[str]) -> list[Any]:
    """Templates of different kinds always, their variants as long trials."""
    every = list(templates)
    return sample([t for t in every if t in DIFFERENT], [t for t in every if t not in DIFFERENT])


def seeds(always: int, whole: int) -> list[Any]:
    """Seeds of random trials, the first few always."""
    return sample(range(always), range(always, whole))


def in_turn(firsts: Iterable[Any], seconds: Iterable[Any], each: int = 2) -> list[Any]:
    """All pairs: each of `firsts` with the next `each` of `seconds` in turn always, the others as long trials."""
    first, second = list(firsts), list(seconds)
    always = {(k, (k * each + j) % len(second)) for k in range(len(first)) for j in range(min(each, len(second)))}
    pairs = [(k, j) for k in range(len(first)) for j in range(len(second))]
    named = [(first[k], second[j]) for k, j in pairs if (k, j) in always]
    return sample(named, [(first[k], second[j]) for k, j in pairs if (k, j) not in always])

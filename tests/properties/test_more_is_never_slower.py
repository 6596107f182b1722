"""More of one resource never lengthens a time: a sample of all templates, workloads and resources.

The whole product is in ``tests/long/test_more_is_never_slower.py``.
"""

from __future__ import annotations

from zlib import crc32

import pytest

from designer.interchange.templates import list_templates, open_design
from tests.budget import different
from tests.scaled import resources, worse_with_more

#: clusters in which one answer takes too long here, and workloads that are answered by running requests
_LARGE = frozenset({"cluster-16384", "cluster-98304", "cluster-gb200-6912"})
_RUN = frozenset({"serving", "inference", "evacuation"})
#: resources tried with each workload, spread over all of its design; templates of a family have others in turn
_EACH = 2
_FACTORS = (0.5, 1.0, 2.0, 8.0)


@pytest.mark.parametrize("template", different(sorted({t.id for t in list_templates()} - _LARGE)))
def test_more_is_never_slower(template: str) -> None:
    design = open_design(template)
    every = resources(design)
    for workload, spec in design.workloads.items():
        if spec.kind in _RUN:
            continue
        first = crc32(f"{template}/{workload}".encode())
        chosen = [every[(first + k * len(every) // _EACH) % len(every)] for k in range(_EACH)]
        assert not worse_with_more(design, workload, chosen, _FACTORS)

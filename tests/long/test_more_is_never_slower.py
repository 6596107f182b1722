"""More of one resource never lengthens a time: every workload and resource of a template, a quarter to eightfold."""

from __future__ import annotations

import pytest

from designer.interchange.templates import open_design
from tests.scaled import resources, worse_with_more

pytestmark = pytest.mark.long


#: one of each way GPUs are joined; all templates are sampled in tests/properties
TEMPLATES = ("dell-c4140-b", "dgx2", "hgx-a100-4", "hgx-h100-4", "mi250x-16gcd", "vsphere-cluster-4")


@pytest.mark.parametrize("template", TEMPLATES)
def test_more_is_never_slower(template: str) -> None:
    design = open_design(template)
    every = resources(design)
    found = [worse for workload in design.workloads for worse in worse_with_more(design, workload, every)]
    assert not found

"""More of one resource never lengthens a time: every template, workload and resource from a quarter to eightfold."""

from __future__ import annotations

import pytest

from designer.interchange.templates import list_templates, open_design
from tests.scaled import resources, worse_with_more

pytestmark = pytest.mark.long


@pytest.mark.parametrize("template", sorted(t.id for t in list_templates()))
def test_more_is_never_slower(template: str) -> None:
    design = open_design(template)
    every = resources(design)
    found = [worse for workload in design.workloads for worse in worse_with_more(design, workload, every)]
    assert not found

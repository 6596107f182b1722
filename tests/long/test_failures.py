"""Single failures of every template are what deleting each from the document gives."""

from __future__ import annotations

import pytest

from designer.interchange.templates import list_templates, open_design
from tests.brute_failures import compare

#: the same machines as in the smaller ones, by the thousand
LARGE = {"cluster-1024", "cluster-16384", "su-h100-32", "gb200-nvl72"}


@pytest.mark.long
@pytest.mark.parametrize("template", sorted({t.id for t in list_templates()} - LARGE))
def test_survey_is_deletion_by_brute_force(template: str) -> None:
    design = open_design(template)
    for workload in design.workloads:
        compared, wrong = compare(design, workload)
        assert compared
        assert not wrong, f"{workload}: {len(wrong)} of {compared}"

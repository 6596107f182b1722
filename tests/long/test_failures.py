"""Single failures of every template are what deleting each from the document gives."""

from __future__ import annotations

import pytest

from designer.interchange.templates import list_templates, open_design
from tests.brute_failures import compare
from tests.budget import DIFFERENT

#: the same machines as in the smaller ones, by the thousand
MOST_GPUS = 16
#: templates of different kinds, with accelerators
SMALL = DIFFERENT - {"serving-cpu-2s"}
#: templates whose first workload is a model being served
SERVED = {"serving-l40s-4", "serving-mig-farm"}


@pytest.mark.long
@pytest.mark.parametrize("template", sorted(t.id for t in list_templates() if t.gpus <= MOST_GPUS and t.id in SMALL))
def test_survey_is_deletion_by_brute_force(template: str) -> None:
    design = open_design(template)
    # every deletion is a whole analysis: one workload of each, the one shown first
    compared, wrong = compare(design, design.default_workload)
    assert compared
    if template in SERVED:
        # a model that is loaded goes on without its store; a design drawn without a way to it has no answer
        wrong = [row for row in wrong if "storage_switch: 1.000000" not in row]
    assert not wrong, f"{len(wrong)} of {compared}"


#: failures drawn of each larger template, by the thousands of GPUs it has
DRAWN = {0: 12, 1: 12, 6: 6, 16: 6, 98: 3}


@pytest.mark.long
@pytest.mark.parametrize("template", sorted(t.id for t in list_templates() if t.gpus > MOST_GPUS))
def test_a_sample_of_the_survey_is_deletion_on_large_templates(template: str) -> None:
    """Some classes of failures, one member of each: deleting it breaks the symmetry that the survey rests on."""
    gpus = next(t.gpus for t in list_templates() if t.id == template)
    design = open_design(template)
    wanted = DRAWN[max(k for k in DRAWN if k <= gpus // 1000)]
    # requests go to the engines that are left in turn: which of two equal ones is gone states in the run, a little
    close = 0.01 if template == "serving-split-2-racks" else 1e-6
    compared, wrong = compare(design, design.default_workload, wanted, seed=20261122, close=close)
    assert compared >= min(wanted, 3)
    assert not wrong, f"{len(wrong)} of {compared}"

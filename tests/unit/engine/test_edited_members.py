"""An edited member leaves the ways between servers as they were; what is kept of others changes no answer."""

from __future__ import annotations

import json

import pytest

from designer.analysis.study import analyze
from designer.cli.documents import analysis_document
from designer.design.document import Design
from designer.engine import routes
from designer.engine.network import build_network
from designer.engine.routes import folding, hop_loads
from designer.engine.routes.gateways import find_fabric
from designer.interchange.templates import open_design
from designer.memo import forget
from tests.properties.test_classes_of_resources import rated, shrunk, without


def said(design: Design) -> str:
    """All that is found out, as JSON."""
    found = analyze(design, ["all-reduce", "h2d", "resnet-50", "storage-to-gpus"], curves=False)
    return json.dumps(analysis_document(found, [*found.findings], None), sort_keys=True)


def cluster() -> Design:
    whole = open_design("su-h100-32")
    return whole.model_copy(update=shrunk(whole, {"servers": 8}))


def with_member(design: Design, member: int, rate: int | None) -> Design:
    """The cluster with one server whose first PCIe link is of another rate, or that has lost an NVLink."""
    group = design.groups["servers"]
    kind = "pcie" if rate is not None else "nvlink"
    link = next(one.id for one in group.content.links.values() if one.kind == kind)
    own = without(group.content, link) if rate is None else rated(group.content, link, rate)
    edited = group.model_copy(update={"exceptions": {**group.exceptions, member: own}})
    return design.model_copy(update={"groups": {**design.groups, "servers": edited}})


@pytest.fixture(autouse=True)
def in_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few flows represent others too, and few legs are put in order."""
    monkeypatch.setattr(folding, "FOLDED_LIMIT", 0)
    monkeypatch.setattr(hop_loads, "FOLDED_LIMIT", 0)
    monkeypatch.setattr(routes, "ORDERED_LIMIT", 0)
    forget()


@pytest.mark.parametrize("rate", [100, 300])
def test_a_member_of_other_values_keeps_the_fabric(rate: int) -> None:
    """One object for both designs, so that ways found on it are found again."""
    design = cluster()
    one, other = (find_fabric(build_network(each)) for each in (design, with_member(design, 3, rate)))
    assert one is other
    assert find_fabric(build_network(with_member(design, 3, None))) is not one


@pytest.mark.parametrize("rate", [100, None])
def test_what_is_kept_of_others_changes_no_answer(rate: int | None) -> None:
    """A cluster, then a member edited, lost in part, and undone: each is what it is by itself."""
    design = cluster()
    steps = [design, with_member(design, 3, 400), with_member(design, 3, rate), design]
    one_after_the_other = [said(step) for step in steps]
    for step, found in zip(steps, one_after_the_other, strict=True):
        forget()
        assert said(step) == found

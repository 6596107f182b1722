"""Times of collectives as expressions: equal to the formulas, and gains as of the formulas on wider links."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from designer.engine.account.bottlenecks import ResourceClass
from designer.engine.account.expression import seconds, shares
from designer.engine.network import build_network
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.families.collective.communicator import Communicator, make_communicator, widened
from designer.families.collective.times import LAUNCH, STEPS, expression
from designer.interchange.templates import list_templates, open_design

TEMPLATES = [t.id for t in list_templates() if 2 <= t.gpus <= 64]
KINDS = ["all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "send-recv"]
SIZES = [0.0, 2.0**10, 2.0**20, 2.0**30]


@cache
def group_of(template: str) -> Communicator:
    network = build_network(open_design(template))
    return make_communicator(network, resolve(network, "gpus", "group"), "group")


def asked(template: str, kind: str) -> Communicator:
    return group_of(template).exchanging() if kind == "all-to-all" else group_of(template)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("template", TEMPLATES)
def test_the_expression_is_the_time_of_the_formula(template: str, kind: str):
    group = asked(template, kind)
    for size in SIZES:
        for algorithm in ("auto", "ring"):
            try:
                time = group.time(kind, size, algorithm)
            except AnalysisError:
                continue
            found = expression(group, time)
            assert float(seconds(found)) == pytest.approx(time.time, rel=1e-12)
            assert sum(shares(found).values()) == pytest.approx(time.time, rel=1e-9)
            assert shares(found)[LAUNCH,] <= time.latency_term


@pytest.mark.parametrize("template", TEMPLATES)
def test_all_links_twice_as_wide_are_what_the_formula_gives_for_wider_links(template: str):
    """Twice all links of the drawing: the formula with twice every bandwidth, the algorithm chosen again."""
    for kind in ("all-reduce", "all-to-all"):
        group = asked(template, kind)
        for size in SIZES[1:]:
            found = expression(group, group.time(kind, size))
            every = np.arange(2 * group.network.net.n_links + group.network.n_resources)
            slower = {ResourceClass(r): np.asarray(0.5) for r in every.tolist()}
            wider = widened(group, 2, 2).time(kind, size)
            assert float(seconds(found, slower)) == pytest.approx(wider.time, rel=1e-12)


@pytest.mark.parametrize("template", ["hgx-h100-8", "dell-r760xa", "su-h100-32"])
@pytest.mark.parametrize("factor", [0.25, 0.5, 2.0, 8.0])
def test_no_resource_made_faster_lengthens_a_collective(template: str, factor: float):
    for kind in KINDS:
        group = asked(template, kind)
        time = expression(group, group.time(kind, 2.0**24))
        for tie in shares(time):
            for resource in (*tie, STEPS):
                found = float(np.ravel(seconds(time, {resource: np.asarray(1 / factor)}))[0])
                assert (
                    (found <= float(seconds(time)) * (1 + 1e-12))
                    if factor > 1
                    else (found >= float(seconds(time)) * (1 - 1e-12))
                )

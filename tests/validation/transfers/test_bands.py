"""Bands: never beyond what is drawn, and those of parts where the parts state them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from designer.design.document import Quantity, with_changes
from designer.engine.network import Network, build_network
from designer.engine.routes import route
from designer.engine.routes.selection import pair_up, resolve
from designer.engine.routes.staging import staged
from designer.engine.transfers import evaluate_transfer
from designer.families.collective.communicator import make_communicator
from designer.families.collective.evaluation import asked_group, time_of
from designer.interchange.templates import list_templates, open_design
from designer.sources import Status
from designer.workload.kind import task_of
from designer.workload.program import Collective, Move
from tests.budget import in_turn

GIB = 2.0**30
SMALL = [t for t in list_templates() if t.gpus <= 256]
TRANSFERS = [(t.id, w.id) for t in SMALL for w in open_design(t.id).workloads.values() if w.kind == "transfer"]


@cache
def network_of(template: str) -> Network:
    return build_network(open_design(template))


def test_there_are_transfers() -> None:
    assert len(TRANSFERS) > 90


@pytest.mark.parametrize(("template", "workload"), TRANSFERS)
def test_all_flows_at_their_upper_ends_fit_on_the_raw_links(template: str, workload: str) -> None:
    """Bytes of every flow at the top of its band, added up on every link it takes, against the link as drawn."""
    network = network_of(template)
    spec = network.design.workloads[workload]
    operation = task_of(spec.kind, spec.settings, "w", Move)
    assert isinstance(operation, Move)
    answer = evaluate_transfer(network, operation, "w")
    routes = route(network, staged(network, pair_up(network, operation, "w").legs))
    load = np.bincount(routes.channel, routes.share * answer.high[routes.flow], 2 * network.net.n_links).reshape(-1, 2)
    used = np.where(network.full, load.max(axis=1), load.sum(axis=1)) / network.rate
    assert used.max() <= 1 + 1e-9
    assert (answer.low <= answer.rate).all()
    assert (answer.rate <= answer.high).all()


@pytest.mark.parametrize(
    ("template", "kind"),
    in_turn([t.id for t in SMALL if t.gpus >= 2], ["all-reduce", "all-gather", "broadcast", "all-to-all"]),
)
def test_no_ring_is_said_to_pass_the_raw_links(template: str, kind: str) -> None:
    """Large messages: a rank sends its bus bandwidth, and nothing more than the pattern alone gets of raw links."""
    network = network_of(template)
    group = make_communicator(network, resolve(network, "gpus", "w"), "w")
    asked = Collective(kind, "gpus", 16 * GIB, "direct" if kind == "all-to-all" else "ring")
    time = time_of(asked_group(network, asked, "w"), asked)
    group = group.exchanging() if kind == "all-to-all" else group
    share = 1.0 if kind != "all-to-all" else (group.situation.ranks_per_server - 1) / (group.situation.ranks - 1)
    if group.inside is not None:
        assert time.bus_high * share <= group.inside.rate * (1 + 1e-9)
    if group.between is not None and kind != "all-to-all":
        assert time.bus_high <= group.between.rate * (1 + 1e-9)
    assert time.bus_low <= time.bus_bandwidth <= time.bus_high


def _with_drives(low: str | None, high: str | None, status: Status = Status.SECONDARY) -> Network:
    design = open_design("hgx-a100-8")
    figure = Quantity(value="180 MB/s", source="assumed", status=status, low=low, high=high)
    slow = {"read_bandwidth": figure, "write_bandwidth": figure}
    parts = {
        name: with_changes(part, overrides={**part.overrides, **slow}) if part.kind == "drive" else part
        for name, part in design.parts.items()
    }
    assert any(part.kind == "drive" for part in parts.values())
    return build_network(with_changes(design, parts=parts))


@pytest.mark.parametrize(("source", "target"), [("drives", "memory"), ("memory", "drives")])
def test_a_band_is_that_of_the_part_that_limits(source: str, target: str) -> None:
    """A disk of 160 to 280 MB/s, usually 180, behind links that are faster: so does what comes from it."""
    answer = evaluate_transfer(_with_drives("160 MB/s", "280 MB/s"), Move(source, target), "w")
    ends = answer.low / answer.rate, answer.high / answer.rate
    assert ends[0] == pytest.approx(160 / 180)
    assert ends[1] == pytest.approx(280 / 180)


def test_a_part_without_a_band_gives_no_more_than_it_is_rated_at() -> None:
    sure = evaluate_transfer(_with_drives(None, None, Status.PRIMARY), Move("drives", "memory"), "w")
    unsure = evaluate_transfer(_with_drives(None, None, Status.ASSUMED), Move("drives", "memory"), "w")
    assert sure.high == pytest.approx(sure.rate)
    assert unsure.high == pytest.approx(unsure.rate)
    assert (unsure.low < sure.low).all()

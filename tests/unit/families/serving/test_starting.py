"""Many replicas at once, weights from peers, and a rolling update."""

from __future__ import annotations

import pytest

import designer
from designer.design.document import WorkloadSpec
from designer.design.edits.links import RemoveLinks
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.families.serving.formulas.seeding import rolling_update, seeded_rate
from designer.interchange.overrides import overridden


def served(sets: tuple[str, ...] = (), **changes: object) -> WorkloadResult:
    design = overridden(designer.open_design("serving-split-2-racks"), sets)
    settings = {**design.workloads["together-70b"].settings, "count": 200, "readers": 64, **changes}
    spec = WorkloadSpec.model_validate({"id": "s", "kind": "serving", "settings": settings})
    return designer.analyze(design.model_copy(update={"workloads": {"s": spec}}), ["s"]).workloads[0]


def test_by_hand() -> None:
    # 2 GB/s from storage, 10 GB/s from peers, 8 servers: .5 + 3 x .1 = .8 s for each GB
    assert seeded_rate(2.0, 10.0, 8) == pytest.approx(1 / 0.8)
    assert seeded_rate(2.0, 10.0, 1) == 2
    # 8 replicas, 3 at once: three rounds, 5 of 8 answer
    assert rolling_update(8, 3, 40.0) == (120.0, pytest.approx(0.625))
    assert rolling_update(2, 5, 40.0) == (40.0, 0.0)


def test_peers_help_where_the_storage_is_narrow() -> None:
    narrow = ("storage.read_bandwidth=2 GB/s",)
    from_storage, from_peers = (served(narrow, peers=p).metrics["cold_start_time"] for p in (False, True))
    assert from_peers.value < from_storage.value
    assert from_peers.low <= from_peers.value <= from_peers.high


def test_an_engine_whose_weights_cannot_come_is_named() -> None:
    """One of two hosts has lost its cables to the storage: it would start never, which is no time."""
    design = designer.open_design("serving-mig-farm")
    at = (("hosts", 1),)
    for link in ("cpu0--nic0", "cpu1--nic1"):
        design = RemoveLinks((link,), within=at).apply(design)
    with pytest.raises(AnalysisError, match="no way for weights from storage to hosts"):
        designer.analyze(design, ["mig-1g"])


def test_a_rolling_update_takes_capacity_and_time() -> None:
    one, half = served(update=1), served(update=4)
    assert one.metrics["rolling_update_time"].value > 1.5 * half.metrics["rolling_update_time"].value
    most = one.metrics["most_requests_per_second"].value
    assert one.metrics["requests_while_updating"].value == pytest.approx(most * 7 / 8)
    assert half.metrics["requests_while_updating"].value == pytest.approx(most / 2)


def test_peers_of_one_server_change_nothing_and_that_is_told() -> None:
    alone, wide = served(peers=True, group="answers[0]/gpu*"), served(peers=True)
    texts = [" ".join(f.text for f in found.findings if f.code == "SERVE-UNUSED") for found in (alone, wide)]
    assert texts[0] == "peers changes nothing: all replicas start in one server"
    assert not texts[1]


def test_storage_that_is_not_there_is_refused_by_the_name_of_its_setting() -> None:
    with pytest.raises(AnalysisError) as refused:
        served(storage="32")
    assert refused.value.place is not None
    assert refused.value.place.endswith(".storage")

"""What to change where storage binds: another mount, another system, one more of it; as looking at every set does."""

from __future__ import annotations

import pytest

from designer.catalog.loader import load_catalog
from designer.decisions.suggest import EXACT_LIMIT, Searcher, suggest
from designer.decisions.suggest_candidates import Prices
from designer.decisions.suggest_cost import Cost
from designer.design.document import Block, Design, Group, Link, Part, Wiring, WorkloadSpec
from tests.unit.decisions.test_suggest import brute, titles

NFS = "storage/generic/nfs-single-mount"


def mounted(type_id: str = NFS) -> Design:
    """One server with a GPU, whose NIC a switch joins to a group of one storage server: 100 Gb/s on each cable."""
    parts = [Part(id="server", kind="server"), Part(id="switch", kind="switch")]
    parts += [Part(id=name, kind=name, parent="server") for name in ("cpu", "gpu", "nic", "memory")]
    links = [Link(id="bus", a="cpu", b="memory", kind="memory_bus", bandwidth_per_direction="200 GB/s")]
    links += [Link(id=f"{name}_slot", a="cpu", b=name, kind="pcie", generation=4, lanes=16) for name in ("gpu", "nic")]
    links += [Link(id="cable", a="nic", b="switch", kind="infiniband", bandwidth_per_direction="100 Gb/s")]
    store = Part(id="filer", kind="storage", type=type_id)
    group = Group(id="store", name="NFS server", replicas=1, content=Block.model_validate({"parts": [store]}))
    wiring = Wiring(
        id="to_store",
        a="store[*]/filer",
        b="switch",
        kind="infiniband",
        pattern="spread",
        bandwidth_per_direction="100 Gb/s",
    )
    read = WorkloadSpec(id="read", kind="transfer", settings={"from": "storage", "to": "gpus"})
    return Design.model_validate(
        {
            "name": "mounted",
            "parts": parts,
            "links": links,
            "groups": [group],
            "wirings": [wiring],
            "part_types": [load_catalog().get(type_id)],
            "workloads": [read],
        }
    )


def searcher(design: Design) -> Searcher:
    return Searcher(design, design.workloads["read"], Prices())


def test_by_hand_one_mount_becomes_many_connections() -> None:
    """One mount reads 2 GB/s whatever the cable. With many connections the same server would give 25 GB/s, so the
    cable of 12.5 GB/s binds; nothing has to be bought."""
    found = suggest(mounted(), gain=1.5, steps=1)
    assert titles(found) == [["mount filer as NFS over TCP, nconnect=16 or multipath"]]
    step = found.steps[0]
    assert (step.cost.ports, step.cost.watts) == (0, 0.0)
    assert step.before == pytest.approx(2e9)
    assert 5 * step.before < step.after <= 12.5e9


def test_other_systems_and_one_more_are_weighed_but_no_datastore_or_object_store() -> None:
    weighed = {one.title for one in searcher(mounted()).candidates}
    assert "add one more NFS server" in weighed
    assert "swap filer for Parallel file system, client on 100 Gb/s" in weighed
    assert not any("VMware" in title or "S3" in title or "RAID" in title for title in weighed)


def test_a_second_server_of_the_group_doubles_what_is_read() -> None:
    """Two mounts of 2 GB/s each are 4 GB/s, below the 12.5 GB/s of the NIC."""
    search = searcher(mounted())
    more = next(k for k, one in enumerate(search.candidates) if one.title.startswith("add one more"))
    assert search.gain((more,)) == pytest.approx(2.0, rel=1e-6)
    # its one cable, and the 1.1 kW that a storage server is assumed to draw
    assert search.candidates[more].cost == Cost(ports=1, watts=1100.0)


@pytest.mark.parametrize(("type_id", "goal"), [(NFS, 1.5), (NFS, 9.0), ("storage/weka/client-100g", 1.5)])
def test_the_cheapest_set_is_that_of_brute_force(type_id: str, goal: float) -> None:
    search = searcher(mounted(type_id))
    # fewer are quicker to look at in all their sets
    search.candidates = tuple(one for one in search.candidates if not one.about.startswith("policy"))
    assert 2 <= len(search.candidates) <= EXACT_LIMIT
    found, right = search.cheapest(goal), brute(search, goal)
    assert (found is None) == (right is None)
    if found is not None:
        assert search.cost(found[0]).key == right

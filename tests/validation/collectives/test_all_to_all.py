"""All to all over fabrics with fewer cables up than down, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from designer.design.document import Design
from designer.engine.network import build_network
from designer.engine.routes.hops import EXCHANGE_LIMIT, all_with_all
from designer.engine.routes.selection import resolve
from designer.families.collective.communicator import make_communicator
from tests.unit.engine.small_designs import draw, study


def two_leaves(order: tuple[int, ...] = (0, 1, 2, 3), gpus: int = 1) -> Design:
    """Four servers, two on each leaf, each with a cable of 25 GB/s; one such cable from each leaf up."""
    lines: list[str] = []
    for k, place in enumerate(order):
        lines += [f"gpu{k}{i} psw{k}: pcie 5x16" for i in range(gpus)]
        lines += [f"psw{k} nic{k}: pcie 5x16", f"nic{k} leaf{place // 2}: infiniband 200 Gb/s"]
    return draw(*lines, *(f"leaf{leaf} spine0: infiniband 200 Gb/s" for leaf in (0, 1)))


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3)])
def test_uplinks_carry_what_goes_to_the_other_leaf(order: tuple[int, ...]) -> None:
    """A server sends r, a third of it to each other one. Two servers share the cable up and each sends 2/3 r over it.

    4/3 r = 25 GB/s, so r is at most 18.75 GB/s, three quarters of what the server's own cable carries; in what order
    the ranks stand is no matter. A ring in the first order would fill no more than one server's worth up.
    """
    network = build_network(two_leaves(order))
    group = make_communicator(network, resolve(network, "gpus", "w"), "w").exchanging()
    assert group.between is not None
    assert group.between.rate == pytest.approx(18.75e9)
    analysis, found = study(two_leaves(order), "collective", collective="all-to-all", size="4 GB", group="gpus")
    sent = found.metrics["bus_bandwidth"].value
    assert sent < 18.75e9
    assert found.metrics["bus_bandwidth"].high <= 18.75e9 * (1 + 1e-9)
    assert analysis.loads["w"].load.max() == pytest.approx(4 / 3 * sent)
    assert {b.label for b in found.binding} >= {"leaf0 → spine0 (infiniband)", "leaf1 → spine0 (infiniband)"}


def test_servers_of_several_gpus_send_for_all_of_them() -> None:
    """Two GPUs a server, eight in all: each sends an eighth of S to each other one, so 6/8 S of both leave: 12/8 S.

    What the loads show on a server's cable is that over the time; inside, each sends its one peer an eighth.
    """
    analysis, found = study(two_leaves(gpus=2), "collective", collective="all-to-all", size="4 GB", group="gpus")
    each = found.metrics["algorithm_bandwidth"].value / 8
    network = build_network(two_leaves(gpus=2))
    load = {network.channel_id(c): analysis.loads["w"].load[c] for c in range(2 * network.net.n_links)}
    assert load["psw0--nic0:ab"] == pytest.approx(12 * each)
    assert load["leaf0--spine0:ab"] == pytest.approx(12 * each * 2 * 2 / 3)


def test_two_servers_exchange_as_a_ring_does() -> None:
    design = draw(
        "gpu0 nic0: pcie 5x16", "gpu1 nic1: pcie 5x16", *(f"nic{i} leaf0: infiniband 200 Gb/s" for i in (0, 1))
    )
    network = build_network(design)
    group = make_communicator(network, resolve(network, "gpus", "w"), "w")
    assert group.exchanging().between is group.between


def test_many_servers_are_stood_for_by_some_at_all_distances() -> None:
    """300 servers are 89,700 hops; those routed keep what each server sends, and each distance occurs at most once."""
    star = [line for k in range(300) for line in (f"gpu{k} nic{k}: pcie 5x16", f"nic{k} leaf0: infiniband 200 Gb/s")]
    network = build_network(draw(*star))
    ranks = resolve(network, "gpus", "w")
    legs = all_with_all(network, ranks[None])
    assert len(legs) <= EXCHANGE_LIMIT
    assert np.bincount(legs.source, legs.share)[ranks] == pytest.approx(1)
    place = {rank: k for k, rank in enumerate(ranks.tolist())}
    steps = {(place[b] - place[a]) % 300 for a, b in zip(legs.source.tolist(), legs.target.tolist(), strict=True)}
    assert len(steps) * 300 == len(legs)
    assert min(steps) < 10
    assert max(steps) > 290

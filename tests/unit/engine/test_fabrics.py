"""Traffic between servers: rails, odd fabrics, failures; equal servers are routed once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from designer.design.document import Block, Design, Group, Part, Policy, Wiring, replaced, with_changes
from designer.design.elaborate import elaborate
from designer.engine.network import Network, build_network
from designer.engine.network.capacities import NETWORK
from designer.engine.network.islands import find_islands
from designer.engine.routes import route
from designer.engine.routes.legs import Legs, Routes
from designer.errors import AnalysisError
from tests.designs import one_unit, pods
from tests.unit.engine.small_designs import block, draw, paths, server, shares, study, transfer, way

# Traffic between servers: rails, several ports, odd fabrics, failures, cables without a switch.


def host(n: int) -> list[str]:
    """A small server with one NIC."""
    return [f"cpu{n} mem{n}: memory_bus 900 GB/s", f"cpu{n} nic{n}: pcie 6x16"]


def cable(a: str, b: str, rate: str = "400 Gb/s") -> str:
    return f"{a} {b}: ethernet {rate}"


def conserved(network: Network, routes: Routes, source: int, target: int) -> None:
    """One unit leaves the source, one arrives, and every part between passes on what it gets."""
    balance = np.zeros(network.net.n_parts)
    for channel, share in zip(routes.channel.tolist(), routes.share.tolist(), strict=True):
        a, b = network.ends(channel)
        balance[a] -= share
        balance[b] += share
    expected = np.zeros(network.net.n_parts)
    expected[source], expected[target] = -1, 1
    assert_allclose(balance, expected, atol=1e-12)


class TestRails:
    def test_each_gpu_leaves_by_its_own_nic_and_arrives_by_the_peers(self):
        design = one_unit(4)
        for g in (0, 5):
            via = way(design, f"servers[0]/gpu{g}", f"servers[3]/gpu{g}")
            assert via[1] == f"servers[0]/psw{g}--nic{g}:ab"
            assert len(via) == 6  # up to the leaf and down again
        crossing = shares(design, "servers[0]/gpu1", "servers[2]/gpu4")
        assert crossing["servers[0]/psw1--nic1:ab"] == crossing["servers[2]/psw4--nic4:ba"] == 1.0
        assert sum(v for k, v in crossing.items() if k.startswith("up")) == pytest.approx(2.0)

    def test_without_affinity_gpus_take_all_nics_in_turn(self):
        lines = [*server(), cable("nic0", "sw0"), cable("nic1", "sw0"), *host(9), cable("nic9", "sw0")]
        near, turn = draw(*lines), draw(*lines, policy=Policy(rail_affinity=False))
        ways = [way(d, f"gpu{g}", "mem9") for d in (near, turn) for g in range(4)]
        doors = [c for via in ways for c in via if c.endswith("--sw0:ab")]
        assert [d.split("--")[0] for d in doors] == [*("nic0", "nic0", "nic1", "nic1"), *("nic0", "nic1") * 2]

    def test_two_gpus_share_the_nic_between_them(self):
        lines = [*server(), *(f"psw{s} nic{s + 2}: pcie 5x16" for s in range(2))]
        content = block(lines)
        design = Design.model_validate(
            {
                "name": "two",
                "parts": [{"id": "sw", "kind": "switch"}],
                "groups": [Group(id="s", replicas=2, content=content)],
                "wirings": [Wiring(id="w", pattern="mesh", a="s[*]/nic*", b="sw", kind="infiniband")],
            }
        )
        doors = [way(design, f"s[0]/gpu{g}", f"s[1]/gpu{g}")[1] for g in range(4)]
        assert [d.split("--")[1] for d in doors] == ["nic0:ab", "nic2:ab", "nic1:ab", "nic3:ab"]


class TestPorts:
    def test_a_nic_at_two_leaves_spreads_over_both(self):
        lines = [
            *host(0),
            *host(1),
            cable("nic0", "leaf0"),
            cable("nic0", "leaf1"),
            cable("nic1", "leaf0"),
            cable("nic1", "leaf1"),
        ]
        found = shares(draw(*lines), "mem0", "mem1")
        assert found["nic0--leaf0:ab"] == found["nic1--leaf1:ba"] == 0.5

    def test_only_the_port_that_is_nearer(self):
        lines = [
            *host(0),
            *host(1),
            cable("nic0", "leaf0"),
            cable("nic0", "leaf1"),
            cable("nic1", "leaf0"),
            cable("leaf0", "leaf1"),
        ]
        assert way(draw(*lines), "mem0", "mem1")[2:4] == ["nic0--leaf0:ab", "nic1--leaf0:ba"]

    def test_uneven_ports_carry_what_they_can(self):
        """Two cables to one leaf and one to the other: two thirds and one third."""
        lines = [
            *host(0),
            *host(1),
            "nic0 leaf0: ethernet 2* 100 Gb/s",
            "nic0 leaf1: ethernet 100 Gb/s",
            cable("nic1", "leaf0"),
            cable("nic1", "leaf1"),
        ]
        found = shares(draw(*lines), "mem0", "mem1")
        assert found["nic0--leaf0:ab"] == pytest.approx(2 / 3)
        assert found["nic0--leaf1:ab"] == pytest.approx(1 / 3)

    def test_two_fabrics_that_do_not_meet(self):
        """A front and a back network: the NIC is chosen that reaches the other side."""
        front = ["cpu0 nic8: pcie 5x16", "cpu1 nic9: pcie 5x16", cable("nic8", "sw8"), cable("nic9", "sw8")]
        lines = [*host(0), *host(1), *front, cable("nic0", "sw0"), cable("nic1", "sw1")]
        assert way(draw(*lines), "mem0", "mem1")[1:3] == ["cpu0--nic8:ab", "nic8--sw8:ab"]


class TestCables:
    def test_card_to_card(self):
        design = draw(*host(0), *host(1), "nic0 nic1: ethernet 2* 100 Gb/s")
        assert way(design, "mem0", "mem1") == [
            "cpu0--mem0:ba",
            "cpu0--nic0:ab",
            "nic0--nic1:ab",
            "cpu1--nic1:ba",
            "cpu1--mem1:ab",
        ]
        answer = transfer(design, "mem0", "mem1", both_ways=True)
        assert answer.rate[0] == pytest.approx(answer.rate[1])
        assert 20e9 < answer.rate[0] < 25e9

    def test_two_cables_between_one_pair_of_cards(self):
        design = draw(*host(0), *host(1), cable("nic0", "nic1", "300 Gb/s"), cable("nic0", "nic1", "300 Gb/s"))
        found = shares(design, "mem0", "mem1")
        assert sorted(v for k, v in found.items() if k.startswith("nic0--nic1")) == [0.5, 0.5]

    def test_a_card_is_no_switch(self):
        """Three servers in a row: the one in the middle does not forward."""
        lines = [*host(0), *host(1), *host(2), "cpu1 nic9: pcie 5x16", cable("nic0", "nic1"), cable("nic9", "nic2")]
        with pytest.raises(AnalysisError, match="no way"):
            transfer(draw(*lines), "mem0", "mem2")


class TestOddFabrics:
    def test_a_ring_of_switches_goes_the_shorter_way_and_both_at_the_far_side(self):
        lines = [cable(f"sw{i}", f"sw{(i + 1) % 6}") for i in range(6)]
        for n in (0, 2, 3):
            lines += [*host(n), cable(f"nic{n}", f"sw{n}")]
        near, far = shares(draw(*lines), "mem0", "mem2"), shares(draw(*lines), "mem0", "mem3")
        assert near["sw0--sw1:ab"] == near["sw1--sw2:ab"] == 1.0
        assert far["sw0--sw1:ab"] == 0.5
        assert far["sw5--sw0:ba"] == 0.5

    def test_groups_of_switches_joined_by_single_links(self):
        """Dragonfly-like: inside a group all switches meet; between groups there is one cable."""
        names = [f"sw{i}" for i in range(9)]
        lines = [cable(names[3 * g + i], names[3 * g + j]) for g in range(3) for i in range(3) for j in range(i)]
        lines += [cable("sw1", "sw3"), cable("sw2", "sw6"), cable("sw5", "sw7")]
        for n in (0, 8):
            lines += [*host(n), cable(f"nic{n}", f"sw{n}")]
        found = shares(draw(*lines), "mem0", "mem8")
        assert {"sw2--sw0:ba", "sw2--sw6:ab", "sw8--sw6:ba"} <= set(found)
        assert all(found[k] == 1.0 for k in ("sw2--sw0:ba", "sw2--sw6:ab", "sw8--sw6:ba"))

    def test_after_a_failed_link_the_rest_carries_it(self):
        lines = [*host(0), *host(1), cable("nic0", "leaf0"), cable("nic1", "leaf1")]
        links = [cable(leaf, f"spine{s}") for leaf in ("leaf0", "leaf1") for s in range(4)]
        whole = shares(draw(*lines, *links), "mem0", "mem1")
        assert whole["leaf0--spine2:ab"] == 0.25
        links.remove(cable("leaf1", "spine2"))
        broken = shares(draw(*lines, *links), "mem0", "mem1")
        assert "leaf0--spine2:ab" not in broken
        assert broken["leaf0--spine0:ab"] == pytest.approx(1 / 3)

    @given(st.integers(0, 2**31), st.integers(4, 14), st.sampled_from(["split", "hash"]))
    def test_traffic_is_conserved_on_any_fabric(self, seed: int, n: int, ecmp: str):
        rng = np.random.default_rng(seed)
        pairs = {(int(a), int(b)) for a, b in rng.integers(0, n, (3 * n, 2)) if a < b}
        pairs |= {(i, i + 1) for i in range(n - 1)}
        lines = [f"sw{a} sw{b}: ethernet {rng.integers(1, 4)}* 100 Gb/s" for a, b in sorted(pairs)]
        lines += [*host(0), *host(1), cable("nic0", "sw0"), cable("nic0", f"sw{n // 2}"), cable("nic1", f"sw{n - 1}")]
        network = build_network(draw(*lines, policy=Policy(ecmp=ecmp, hash_seed=seed)))
        routes = paths(network, [("mem0", "mem1")])
        conserved(network, routes, network.net.index_of("mem0"), network.net.index_of("mem1"))
        used = network.domain[routes.channel >> 1] == NETWORK
        if ecmp == "hash":
            assert set(routes.share[used].tolist()) == {1.0}


class TestHashing:
    def test_the_draw_is_about_even(self):
        network = build_network(pods(2, "hash"))
        gpus = network.parts_of_kind("gpu")
        routes = route(network, Legs.of(gpus, np.roll(gpus, 256)))
        assert not len(routes.lost)
        ups = [c for c in routes.channel.tolist() if "/up[" in network.channel_id(c) and c % 2 == 0]
        uses = np.bincount(ups)[np.unique(ups)]
        # 512 flows leave 16 leaves over 4 spines each: 8 on average.
        assert uses.sum() == 512
        assert len(uses) == 64
        assert uses.max() < 20

    def test_each_flow_takes_one_way(self):
        network = build_network(pods(2, "hash"))
        routes = paths(network, [(f"pods[0]/servers[{i}]/gpu0", f"pods[1]/servers[{i}]/gpu3") for i in range(32)])
        fabric = network.domain[routes.channel >> 1] == NETWORK
        assert (np.bincount(routes.flow[fabric]) == 6).all()
        spines = {network.net.path(network.ends(c)[1]) for c in routes.channel[fabric].tolist()}
        assert len({s for s in spines if "spines" in s}) == 8


class TestCollectives:
    def test_a_slow_server_slows_the_exchange(self):
        design = one_unit(4)
        before = study(design, "collective")[1].metrics["bus_bandwidth"].value
        group = design.groups["servers"]
        slow_link = with_changes(group.content.links["psw3--nic3"], lanes=4)
        slow = with_changes(group.content, links=replaced(group.content.links, [slow_link]))
        edited = with_changes(design, groups=replaced(design.groups, [with_changes(group, exceptions={2: slow})]))
        found = study(edited, "collective")[1]
        assert found.metrics["bus_bandwidth"].value < before / 2
        assert {b.id for b in found.binding} == {"servers[2]/psw3--nic3:ab", "servers[2]/psw3--nic3:ba"}

    def test_a_server_without_nvlink_decides_whatever_its_place(self):
        """The ring runs through every server: the one on PCIe is the slowest, first or last."""
        design = one_unit(3)
        group = design.groups["servers"]
        bare = with_changes(group.content, links={k: v for k, v in group.content.links.items() if v.kind != "nvlink"})
        times = []
        for place in range(3):
            edited = with_changes(
                design, groups=replaced(design.groups, [with_changes(group, exceptions={place: bare})])
            )
            times.append(study(edited, "collective")[1].metrics["communication_time"].value)
        assert times == pytest.approx([times[0]] * 3)
        assert times[0] > 2 * study(design, "collective")[1].metrics["communication_time"].value


# Equal servers are routed once: the answer is that of every server routed by itself.


def flat(design: Design) -> Design:
    """The same design drawn without groups and wirings; a path becomes an id."""
    net = elaborate(design)
    names = {i: net.path(i).replace("/", ".").replace("[", "(").replace("]", ")") for i in range(net.n_parts)}
    parts = []
    for i in range(net.n_parts):
        parent = int(net.parent[i])
        fields = {n: getattr(net.part(i), n) for n in Part.model_fields}
        parts.append(Part.model_validate({**fields, "id": names[i], "parent": names[parent] if parent >= 0 else None}))
    links = []
    for k in range(net.n_links):
        values = {n: v for n, v in net.link(k).model_dump().items() if n not in ("pattern", "a_port", "b_port")}
        values |= {"id": f"link{k}", "a": names[int(net.link_a[k])], "b": names[int(net.link_b[k])]}
        links.append(values)
    return Design.model_validate(
        {"name": "flat", "policy": design.policy, "part_types": design.part_types, "parts": parts, "links": links}
    )


def edited(design: Design, group: str, members: dict[int, Block]) -> Design:
    """A design with exceptions in one of its groups."""
    changed = with_changes(design.groups[group], exceptions=members)
    return with_changes(design, groups=replaced(design.groups, [changed]))


def slower(block: Block, link: str, **values: int) -> Block:
    return with_changes(block, links=replaced(block.links, [with_changes(block.links[link], **values)]))


def without(block: Block, link: str) -> Block:
    return with_changes(block, links={k: v for k, v in block.links.items() if k != link})


UNIT = one_unit(6)


SERVER = UNIT.groups["servers"].content


CASES = {
    "equal": UNIT,
    "a slow uplink": edited(UNIT, "servers", {2: slower(SERVER, "cpu0--psw1", lanes=4)}),
    "a lost NVLink": edited(
        UNIT, "servers", {0: without(SERVER, "gpu3--nvsw1"), 5: slower(SERVER, "gpu1--nvsw0", count=1)}
    ),
    "hashed": with_changes(UNIT, policy=Policy(ecmp="hash", hash_seed=5)),
    "through memory": with_changes(UNIT, policy=Policy(gpudirect=False)),
    "with access control": with_changes(UNIT, policy=Policy(pcie_acs=True)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("pairing", ["shift", "permutation"])
def test_grouped_and_flat_give_the_same_rates(name: str, pairing: str):
    grouped, drawn = CASES[name], flat(CASES[name])
    a, b = (transfer(d, "gpus", "gpus", pairing=pairing) for d in (grouped, drawn))
    assert np.array_equal(a.traffic.source, b.traffic.source)
    np.testing.assert_allclose(a.rate, b.rate, rtol=1e-9)
    host = [transfer(d, "memory", "gpus").rate for d in (grouped, drawn)]
    np.testing.assert_allclose(host[0], host[1], rtol=1e-9)


@pytest.mark.parametrize("name", ["equal", "a slow uplink", "a lost NVLink"])
def test_grouped_and_flat_give_the_same_collective(name: str):
    a, b = (study(d, "collective")[1].metrics for d in (CASES[name], flat(CASES[name])))
    for metric in a:
        assert a[metric].value == pytest.approx(b[metric].value, rel=1e-9)


def test_one_class_for_all_equal_servers():
    islands = find_islands(build_network(one_unit(32)))
    sizes = sorted(np.bincount(islands.class_of).tolist())
    assert sizes == [4, 8, 32, 32]  # spines, leaves, what is in the servers, their boxes


def test_an_edited_member_is_a_class_of_its_own():
    network = build_network(CASES["a slow uplink"])
    islands = find_islands(network)
    classes = [int(islands.class_of[network.island[network.net.index_of(f"servers[{i}]/gpu0")]]) for i in range(6)]
    assert len(set(classes)) == 2
    assert classes.count(classes[2]) == 1


class TestExceptions:
    def test_a_member_with_fewer_parts_routes_properly(self):
        """Fewer parts and links in one member shift everything behind it."""
        gone = {"gpu2", "nic2", "psw2"}
        small = with_changes(
            SERVER,
            parts={k: p for k, p in SERVER.parts.items() if k not in gone},
            links={k: v for k, v in SERVER.links.items() if not {v.a, v.b} & gone},
        )
        design = with_changes(
            UNIT,
            groups=replaced(UNIT.groups, [with_changes(UNIT.groups["servers"], exceptions={1: small})]),
            wirings={
                "up": UNIT.wirings["up"],
                **{
                    f"rail{g}": with_changes(
                        UNIT.wirings["rails"],
                        id=f"rail{g}",
                        pattern="mesh",
                        a=f"servers[*]/nic{g}",
                        b=f"leaves[{g}]/switch",
                    )
                    for g in range(8)
                },
            },
        )
        for g in (0, 3, 7):
            assert way(design, f"servers[1]/gpu{g}", f"servers[4]/gpu{g}")[1] == f"servers[1]/psw{g}--nic{g}:ab"
        np.testing.assert_allclose(
            transfer(design, "gpus", "gpus", pairing="permutation").rate,
            transfer(flat(design), "gpus", "gpus", pairing="permutation").rate,
            rtol=1e-9,
        )

    def test_only_flows_of_the_edited_member_change(self):
        before, after = (transfer(CASES[n], "memory", "gpus") for n in ("equal", "a slow uplink"))
        changed = np.flatnonzero(np.abs(before.rate - after.rate) > 1)
        network = build_network(UNIT)
        assert [network.net.path(int(after.traffic.target[i])) for i in changed] == ["servers[2]/gpu1"]


@given(st.data())
def test_any_edits_give_the_rates_of_the_flat_design(data: st.DataObject):
    """Random members with random links slowed or removed."""
    links = [k for k, v in SERVER.links.items() if v.kind in ("pcie", "nvlink")]
    members = {}
    for index in data.draw(st.sets(st.integers(0, 5), max_size=3)):
        chosen = SERVER
        for link in data.draw(st.lists(st.sampled_from(links), min_size=1, max_size=3, unique=True)):
            if chosen.links[link].kind == "nvlink" and data.draw(st.booleans()):
                chosen = without(chosen, link)
            elif chosen.links[link].kind == "pcie":
                chosen = slower(chosen, link, lanes=data.draw(st.sampled_from([4, 8])))
        members[index] = chosen
    design = edited(UNIT, "servers", members)
    a, b = (transfer(d, "gpus", "gpus", pairing="permutation", seed=3) for d in (design, flat(design)))
    np.testing.assert_allclose(a.rate, b.rate, rtol=1e-9)


def test_routes_do_not_leak_from_one_policy_or_design_to_another():
    """Graphs of islands are shared between designs; what is found on them depends on the policy."""
    first = way(UNIT, "servers[0]/gpu0", "servers[1]/gpu0")
    way(CASES["with access control"], "servers[0]/gpu0", "servers[1]/gpu0")
    way(CASES["through memory"], "servers[0]/gpu0", "servers[1]/gpu0")
    assert way(pods(1), "pods[0]/servers[0]/gpu0", "pods[0]/servers[1]/gpu0")[0].startswith("pods[0]/servers[0]")
    assert way(UNIT, "servers[0]/gpu0", "servers[1]/gpu0") == first

"""Equal servers are routed once: the answer is that of every server routed by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.design.document import Block, Design, Part, Policy, replaced, with_changes
from designer.design.elaborate import elaborate
from designer.engine.network import build_network
from designer.engine.network.islands import find_islands
from tests.designs import one_unit, pods
from tests.unit.engine.small_designs import study, transfer, way


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

"""Fabrics built under other names: matched by their cables, with differences drawn and priced on workloads."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from designer.analysis.study import analyze
from designer.cli.main import run
from designer.decisions.as_built import compare_built
from designer.decisions.built_design import built_design
from designer.decisions.fabric_matching import How
from designer.decisions.worth_of_differences import costs
from designer.design.document import Design, with_changes
from designer.design.elaborate import elaborate
from designer.interchange.exporting import write_design
from designer.interchange.generating import generate
from designer.interchange.importing import read_any
from designer.interchange.native.writer import save
from tests.real import real_files

#: hosts that the importer knows to be many under one name
_DEFAULT = ("ubuntu", "localhost", "MT", "Quantum")


def _superpod() -> str:
    return real_files("cluster/ibnetdiscover_dgx_superpod.txt")[0].read_text()


def _renamed(text: str) -> str:
    """The same fabric with other GUIDs and other names of hosts and switches."""
    chance = random.Random(7)
    guids = {
        name: f"{name[0]}-{chance.getrandbits(64):016x}" for name in sorted(set(re.findall(r'"([SH]-\w+)"', text)))
    }
    text = re.sub(r'"([SH]-\w+)"', lambda m: f'"{guids[m[1]]}"', text)
    hosts: dict[str, str] = {}

    def other(m: re.Match[str]) -> str:
        head, space, tail = m[1].partition(" ")
        if head.startswith(_DEFAULT) or "Aggregation" in m[1]:
            return m[0]
        return f'# "{hosts.setdefault(head, f"site{len(hosts):04d}")}{space}{tail}"'

    return re.sub(r'# "([^"]+)"', other, text)


def _without(text: str, cable: tuple[str, str, str, str]) -> str:
    """The dump without one cable: node, port, other node, its port."""
    kept: list[str] = []
    at = ""
    for line in text.splitlines():
        if head := re.match(r'(?:Switch|Ca)\s+\d+ "([^"]+)"', line):
            at = head[1]
        port = re.match(r'\[(\d+)\](?:\(\w+\))?\s+"([^"]+)"\[(\d+)\]', line)
        if port and (at, port[1], port[2], port[3]) in (cable, (cable[2], cable[3], cable[0], cable[1])):
            continue
        kept.append(line)
    return "\n".join(kept)


@pytest.mark.skipif(not real_files("cluster/*"), reason="the real dumps are not here")
def test_a_superpod_under_other_names_is_the_same_fabric() -> None:
    """Forty switches and 194 hosts: every cable is found again, and what rests on cables alone is stated."""
    text = _superpod()
    found = compare_built(read_any(text.encode()).design, read_any(_renamed(text).encode()).design)
    assert (found.cables_missing, found.cables_extra, found.degraded, found.capacity) == (0, 0, 0, 1.0)
    assert found.matched == 234
    assert found.differences.match.count(How.NAME) < 100
    assert {f.code for f in found.findings} <= {"BUILT-BY-CABLES", "BUILT-GUESSED"}
    stated = next(f for f in found.findings if f.code == "BUILT-BY-CABLES")
    assert "site" in stated.text


@pytest.mark.skipif(not real_files("cluster/*"), reason="the real dumps are not here")
@pytest.mark.parametrize("names", ["own", "other"])
def test_one_cable_less_is_one_cable_whatever_the_names(names: str) -> None:
    text = _superpod()
    cut = _without(text, ("S-02aa000000000002", "35", "S-02aa000000000014", "32"))
    built = cut if names == "own" else _renamed(cut)
    found = compare_built(read_any(text.encode()).design, read_any(built.encode()).design)
    assert (found.cables_missing, found.cables_extra) == (1, 0)
    missing = next(f for f in found.findings if f.code == "BUILT-MISSING")
    assert "ibleaf" in missing.text
    assert "ibspine" in missing.text


def _pod() -> Design:
    """Two leaves of four servers with two links up: 2 × 4 = 8 cables down, 2 × 2 × 2 = 8 up."""
    made = generate("leaf-spine", {"nodes": "8", "ports": "8", "gpus": "1"})
    return with_changes(made, wirings={**made.wirings, "spine": with_changes(made.wirings["spine"], count=2)})


def test_what_was_built_has_the_cables_of_the_dump() -> None:
    """Of 16 cables two are taken out between the first leaf and the first spine: 14 are left."""
    plan = _pod()
    spine = plan.wirings["spine"]
    links = elaborate(plan)
    before = sum(links.link(i).count for i in range(links.n_links) if links.link(i).kind == "infiniband")
    pairs = {"a": "leaves[0]/switch", "b": "spines[0]/switch"}
    less = with_changes(plan, wirings={**plan.wirings, "spine": with_changes(spine, **pairs, pattern="pairs", count=1)})
    found = compare_built(plan, less)
    built = built_design(plan, found.differences)
    after = elaborate(built)
    assert sum(after.link(i).count for i in range(after.n_links) if after.link(i).kind == "infiniband") == (
        before - found.cables_missing
    )
    assert compare_built(built, less).cables_missing == 0


def _slowed(plan: Design) -> Design:
    spine = with_changes(plan.wirings["spine"], bandwidth_per_direction="100 Gb/s")
    return with_changes(plan, wirings={**plan.wirings, "spine": spine})


def test_a_slow_cable_is_priced_on_the_workload() -> None:
    """Every uplink at a quarter of its rate: the answer is that of the drawing with such uplinks."""
    plan = _pod()
    slow = _slowed(plan)
    found = compare_built(plan, slow)
    assert found.degraded > 0
    built = built_design(plan, found.differences)
    cost = costs(plan, built)[0]
    assert cost.share < 1
    direct = analyze(slow, ["all-reduce"]).workloads[0].metrics[cost.metric]
    assert cost.after is not None
    assert cost.after.value == pytest.approx(direct.value)
    assert costs(plan, plan)[0].share == 1.0


def test_a_cable_that_leads_elsewhere_does_so_on_the_drawing() -> None:
    """NIC 0 of a server is on the second leaf instead of the first: a link of the design as built ends there."""
    plan = _pod()
    first = "servers[0]/nic0"
    net = elaborate(plan)
    ends = {net.path(int(a)): net.path(int(b)) for a, b in zip(net.link_a, net.link_b, strict=True)}
    wrong = "leaves[1]/switch" if ends[first] == "leaves[0]/switch" else "leaves[0]/switch"
    found = compare_built(plan, plan)
    moved = built_design(
        plan,
        type(found.differences)(
            found.differences.plan,
            found.differences.match,
            {tuple(sorted((net.index_of("servers[0]/server"), net.index_of(ends[first])))): 1},  # type: ignore[dict-item]
            {},
            ((net.index_of("servers[0]/server"), net.index_of(ends[first]), net.index_of(wrong)),),
            {},
        ),
    )
    after = elaborate(moved)
    assert (first, wrong) in {
        (after.path(int(a)), after.path(int(b))) for a, b in zip(after.link_a, after.link_b, strict=True)
    }


def test_the_command_prices_and_writes_what_was_built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = _pod()
    slow = _slowed(plan)
    save(plan, tmp_path / "plan.design.json")
    write_design(slow, "graphml", tmp_path / "built.graphml")
    target = tmp_path / "as-built.design.json"
    words = ["compare-built", str(tmp_path / "plan.design.json"), str(tmp_path / "built.graphml")]
    assert run([*words, "-o", str(target), "--json"]) == 1
    stated = json.loads(capsys.readouterr().out)
    assert stated["workloads"][0]["share"] < 1
    assert sum(stated["matched_by"].values()) == stated["matched"]
    assert target.exists()
    assert run([*words]) == 1
    out = capsys.readouterr().out
    assert "as built" in out
    assert "% of the work" in out

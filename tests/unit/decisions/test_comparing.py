"""Designs compared: with each other, with what was built, with fabrics under other names."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from designer.__main__ import main
from designer.analysis.study import analyze
from designer.cli.main import run
from designer.decisions.as_built import Comparison, compare_built
from designer.decisions.comparing import Moved, change_text, compare, explained
from designer.decisions.fabric_matching import How
from designer.decisions.worth_of_differences import built_design, costs
from designer.design.document import Design, with_changes
from designer.design.elaborate import elaborate
from designer.errors import ExchangeError
from designer.interchange.exporting import write_design
from designer.interchange.generating import generate
from designer.interchange.importing import read_any
from designer.interchange.native.writer import save
from designer.interchange.overrides import overridden
from designer.interchange.templates import open_design
from tests.real import real_files

# Two designs side by side: what moved, by how much, and what each group of changes did to it.

BASE = "hgx-h100-8"


def test_a_design_is_like_itself() -> None:
    found = compare(open_design(BASE), open_design(BASE))
    assert found.metrics
    assert not any(m.why or m.shares for m in found.metrics)
    assert not found.changes
    assert not found.gone
    assert not found.new
    assert all(a == b for a, b in (*found.parts.values(), *found.links.values()))


def test_halved_lanes_halve_the_rate_and_move_the_bottleneck() -> None:
    """Eight GPUs behind a Gen5 x16 uplink each: with x8 to the GPU each gets half, and the links alone did it."""
    base = open_design(BASE)
    found = compare(base, overridden(base, ["links.*--gpu*.lanes=8"]))
    rate = next(m for m in found.metrics if (m.workload, m.name) == ("h2d", "rate"))
    assert rate.after == pytest.approx(rate.before / 2, rel=1e-6)
    assert rate.change == pytest.approx(-0.5)
    assert dict(rate.shares) == {"links": pytest.approx(rate.after - rate.before)}
    assert explained(rate).startswith("-50%: bottleneck moved from cpu0 → psw0 (pcie) to psw0 → gpu0 (pcie); links −")
    assert {f.code for f in found.new} >= {"LNK001"}
    assert len(found.changes) == 8


def test_shares_of_several_changes_add_up_to_the_whole() -> None:
    """Half the lanes, then traffic to four GPUs instead of eight: half the rate is lost, then half of the rest."""
    base = open_design(BASE)
    changed = overridden(base, ["links.*--gpu*.lanes=8", "workloads.h2d.to=gpu{0-3}"])
    for found, sign in ((compare(base, changed), 1), (compare(changed, base), -1)):
        rate = next(m for m in found.metrics if (m.workload, m.name) == ("h2d", "rate"))
        assert sum(rate.shares.values()) == pytest.approx(rate.after - rate.before)
        assert set(rate.shares) == {"links", "workloads"}
        assert all(share * sign < 0 for share in rate.shares.values())


def test_it_is_told_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", BASE, "--set", "links.*--gpu*.lanes=8", "--json"]) == 0
    stated = json.loads(capsys.readouterr().out)
    assert set(stated) == {"a", "b", "parts", "links", "metrics", "changes", "findings", "only_a", "only_b"}
    assert main(["compare", "m40-server", "m60-server"]) == 0
    assert "metrics are the same" in capsys.readouterr().out


def test_what_changed_alike_is_one_line_and_fits_the_page(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight slots, each 16 lanes to 8: one line for all; one reason for both metrics; no line beyond 60 columns."""
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["compare", BASE, "--set", "links.*--gpu*.lanes=8", "--all"]) == 0
    stated = capsys.readouterr().out
    body, findings, changes = (stated.partition("findings that are new:")[k] for k in (0, 1, 2))
    assert findings
    changes = changes.partition("changes:")[2]
    text = " ".join(changes.split())
    assert text == ("changed pcie link psw0--gpu0 (psw0 – gpu0), psw1--gpu1 (psw1 – gpu1) and 6 more: lanes 16 → 8")
    assert max(map(len, (body + changes).splitlines())) <= 60
    reason = "h2d: bottleneck moved from cpu0 → psw0 (pcie) to psw0 → gpu0 (pcie); all of it by links"
    assert " ".join(body.split()).count(reason) == 1


def test_small_changes_are_not_told_as_none() -> None:
    """1000 to 999.6 is 0.04 % less: rounded to whole per cents it would read -0%."""
    assert change_text(Moved("w", "rate", "B/s", 1000.0, 999.6)) == "-0.04%"
    assert change_text(Moved("w", "rate", "B/s", 1000.0, 1380.0)) == "+38%"
    assert change_text(Moved("w", "rate", "B/s", 0.0, 1.0)) == ""


def test_a_comparison_needs_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", BASE]) == 2
    assert "nothing to compare with" in capsys.readouterr().err


# A design next to what was built of it.


def _dump(cables: list[tuple[str, int, str, int, str]]) -> bytes:
    """``ibnetdiscover -p`` of cables between nodes; names that begin with h are adapters of hosts."""
    names = sorted({end for a, _, b, _, _ in cables for end in (a, b)})
    guid = {name: f"0x{at:016x}" for at, name in enumerate(names, start=1)}

    def end(name: str, port: int) -> str:
        return f"{'CA' if name.startswith('h') else 'SW'} 1 {port} {guid[name]}"

    def said(name: str) -> str:
        return f"{name} mlx5_0" if name.startswith("h") else name

    lines: list[str] = []
    for a, ap, b, bp, rate in cables:
        for x, xp, y, yp in ((a, ap, b, bp), (b, bp, a, ap)):
            lines.append(f"{end(x, xp)} 4x {rate} - {end(y, yp)} ( '{said(x)}' - '{said(y)}' )")
    return "\n".join(lines).encode()


PLAN = [
    ("h1", 1, "leaf1", 1, "NDR"),
    ("h2", 1, "leaf1", 2, "NDR"),
    ("h3", 1, "leaf2", 1, "NDR"),
    ("leaf1", 10, "spine1", 1, "NDR"),
    ("leaf1", 11, "spine1", 2, "NDR"),
    ("leaf2", 10, "spine1", 3, "NDR"),
    ("leaf2", 11, "spine1", 4, "NDR"),
]


def _compare(built: list[tuple[str, int, str, int, str]]) -> Comparison:
    return compare_built(read_any(_dump(PLAN)).design, read_any(_dump(built)).design)


def test_as_designed() -> None:
    found = _compare(PLAN)
    assert not found.findings
    assert (found.matched, found.cables_as_designed, found.capacity) == (6, 7, 1.0)


def test_a_missing_cable_costs_its_share() -> None:
    """One of seven equal cables: 6/7 of the capacity is left."""
    found = _compare(PLAN[:-1])
    assert [f.code for f in found.findings] == ["BUILT-MISSING"]
    assert "1 of 2 cables" in found.findings[0].text
    assert "50 GB/s of 100 GB/s" in found.findings[0].text
    assert found.capacity == pytest.approx(6 / 7)


def test_a_degraded_cable_is_told_with_what_it_costs() -> None:
    """EDR in place of NDR: 12.5 of 50 GB/s, so 37.5 of 7 × 50 GB/s are lost."""
    found = _compare([*PLAN[:-1], ("leaf2", 11, "spine1", 4, "EDR")])
    assert [f.code for f in found.findings] == ["BUILT-DEGRADED"]
    assert "37.5 GB/s" in found.findings[0].text
    assert found.capacity == pytest.approx(1 - 37.5 / 350)


def test_a_miswired_cable_names_both_ends() -> None:
    found = _compare([*PLAN[:2], ("h3", 1, "leaf1", 3, "NDR"), *PLAN[3:]])
    wrong = next(f for f in found.findings if f.code == "BUILT-MISWIRED")
    assert wrong.text == "h3 is cabled to leaf1 and not to leaf2"


def test_a_node_that_is_not_there() -> None:
    codes = {f.code for f in _compare(PLAN[1:]).findings}
    assert {"BUILT-ABSENT", "BUILT-MISSING"} <= codes


def test_nodes_that_nothing_tells_apart_are_matched_as_they_come() -> None:
    """Two nameless adapters on one leaf: the same fabric again has no difference, one of them gone is one cable."""
    dump = "\n".join(
        [
            "SW 1 1 0xa 4x NDR - CA 2 1 0x1 ( 'leaf1' - 'MT4129' )",
            "SW 1 2 0xa 4x NDR - CA 3 1 0x2 ( 'leaf1' - 'MT4129' )",
        ]
    )
    both, one = read_any(dump.encode()).design, read_any(dump.splitlines()[0].encode()).design
    assert not compare_built(both, both).findings
    assert compare_built(both, one).cables_missing == 1


def test_nothing_in_common_is_refused() -> None:
    with pytest.raises(ExchangeError, match="no network links"):
        compare_built(
            read_any(_dump(PLAN)).design, generate("leaf-spine", {"nodes": "1"}).model_copy(update={"wirings": {}})
        )


# Fabrics built under other names: matched by their cables, with differences drawn and priced on workloads.

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

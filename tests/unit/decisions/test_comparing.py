"""Two designs side by side: what moved, by how much, and what each group of changes did to it."""

from __future__ import annotations

import json

import pytest

from designer.__main__ import main
from designer.decisions.comparing import Moved, change_text, compare, explained
from designer.interchange.overrides import overridden
from designer.interchange.templates import open_design

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

"""Rules: which designs they enter, what they ask of machines, their fixes and waivers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from designer.design.document import Design, VirtualMachine, Waiver, WorkloadSpec, with_changes
from designer.design.edits.links import ChangeLinks
from designer.design.edits.waivers import AddWaivers, RemoveWaivers
from designer.errors import AnalysisError
from designer.families.machines.rules._context import MachineContext
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import dumps
from designer.interchange.templates import open_design
from designer.rules import runner
from designer.rules.rule import Offence, Rule, rules
from designer.rules.runner import check, fix_of

# A rule is entered for designs that it concerns, and for no other.

CASES = Path(__file__).parents[2] / "rules"


def entered(design: Design, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each rule is entered when all of them are asked for."""
    counts: Counter[str] = Counter()

    def counting(rule: Rule) -> Rule:
        def check(context: Any) -> Iterable[Offence]:
            counts[rule.code] += 1
            return rule.check(context)

        return replace(rule, check=check)

    counted = {code: counting(rule) for code, rule in rules().items()}
    monkeypatch.setattr(runner, "rules", lambda: counted)
    runner.check(design, chosen=counted)
    return counts


def of_family(family: str) -> set[str]:
    """Codes of the rules of a family that look at a design in its own way."""
    package = f"designer.families.{family}."
    return {
        code
        for code, rule in rules().items()
        if rule.check.__module__.startswith(package) and rule.context.__module__.startswith(package)
    }


def test_no_rule_of_machines_is_entered_without_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    design = open_design("hgx-h100-8")
    assert not design.vms
    found = entered(design, monkeypatch)
    assert len(of_family("machines")) > 50
    assert of_family("machines") & found.keys() == set()
    # a GPU that computes is still looked at by all others
    assert rules().keys() - of_family("machines") - of_family("training") <= found.keys()


def test_rules_of_training_are_entered_where_something_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    trains = open_design(CASES / "TRN003" / "fail.design.json")
    assert of_family("training") <= entered(trains, monkeypatch).keys()
    idle = trains.model_copy(update={"workloads": {}})
    assert of_family("training") & entered(idle, monkeypatch).keys() == set()


def test_each_rule_is_entered_once_for_a_design_of_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    machines = open_design(CASES / "VM038" / "fail.design.json")
    found = entered(machines, monkeypatch)
    assert of_family("machines") <= found.keys()
    assert set(found.values()) == {1}


# What rules ask of machines: which of them migration workloads move, and settings with their units.

DESIGN = open_design("vsphere-cluster-4")


def test_an_evacuation_moves_what_stands_on_its_hosts() -> None:
    """By the workload's own setting `hosts`, a selector: all four hosts hold every machine that has a place."""
    everywhere = WorkloadSpec(id="all", kind="evacuation", settings={"hosts": "hosts[*]/server"})
    first = WorkloadSpec(id="one", kind="evacuation", settings={"hosts": "hosts[0]/server"})
    context = MachineContext(DESIGN.model_copy(update={"workloads": {"all": everywhere, "one": first}}))
    assert context.placement is not None
    assert context.moved_by("all") == frozenset(context.placement.placed)
    there = {vm for vm, placed in context.placement.placed.items() if placed.host.path == "hosts[0]/server"}
    assert there
    assert context.moved_by("one") == there
    assert context.moved == context.moved_by("all")


def with_setting(name: str, value: object) -> tuple[MachineContext, VirtualMachine]:
    vm = next(iter(DESIGN.vms.values()))
    stated = with_changes(vm, settings={name: value})
    return MachineContext(DESIGN.model_copy(update={"vms": {**DESIGN.vms, vm.id: stated}})), stated


def test_settings_are_read_with_their_units() -> None:
    """64 GiB are 64 · 2^30 B; 30 % are 0.3; a count is a number without a unit."""
    for name, value, expected in (
        ("active_memory", "64 GiB", 64 * 2.0**30),
        ("cpu_load", "30 %", 0.3),
        ("tokens_held", 8192, 8192.0),
        ("no such setting", "5 s", None),
    ):
        context, vm = with_setting(name, value)
        assert context.amount(vm, name) == expected


@pytest.mark.parametrize(("name", "value"), [("active_memory", "much"), ("tokens_held", "many"), ("cpu_load", True)])
def test_a_setting_that_is_no_quantity_is_named(name: str, value: object) -> None:
    context, vm = with_setting(name, value)
    with pytest.raises(AnalysisError) as stated:
        context.amount(vm, name)
    assert stated.value.place == f"vms.{vm.id}.settings.{name}"


# Fixes reach members of groups: all of them where they are equivalent, one alone where it differs.

SERVER = open_design("su-h100-32")


def narrow(design: Design) -> list[str]:
    """Places of cards in slots too narrow for them."""
    return [f.where[-1] for f in check(design, chosen=["LNK001"]).findings]


def test_by_hand_a_slot_of_all_members() -> None:
    """The slot of NIC 3 has eight lanes in what 32 servers share: one finding for all, one edit of what they share."""
    design = ChangeLinks(("psw3--nic3",), {"lanes": 8}, within=("servers",)).apply(SERVER)
    (finding,) = check(design, chosen=["LNK001"]).findings
    fix = fix_of(design, finding)
    assert fix is not None
    assert "16 lanes in all 32 members" in fix.title
    mended = fix.edit.apply(design)
    assert narrow(mended) == []
    assert mended.groups["servers"].exceptions == {}
    assert mended.groups["servers"].content.links["psw3--nic3"].lanes == 16


def test_by_hand_a_slot_of_one_member() -> None:
    """Server 5 alone trained its slot at eight lanes: it differs from the 31 others, and only it is mended."""
    design = ChangeLinks(("psw3--nic3",), {"lanes": 8}, within=(("servers", 5),)).apply(SERVER)
    assert narrow(design) == ["servers[5]/nic3"]
    (finding,) = check(design, chosen=["LNK001"]).findings
    fix = fix_of(design, finding)
    assert fix is not None
    assert "in this member alone" in fix.title
    mended = fix.edit.apply(design)
    assert narrow(mended) == []
    before, after = design.groups["servers"], mended.groups["servers"]
    assert after.content == before.content
    assert after.member(5).links["psw3--nic3"].lanes == 16


def test_by_hand_a_link_slower_than_its_twin() -> None:
    """GPU 2 hangs at generation 4 in all servers, its seven twins at 5: it is drawn as they are, in all of them."""
    design = ChangeLinks(("psw2--gpu2",), {"generation": 4}, within=("servers",)).apply(SERVER)
    found = [f for f in check(design, chosen=["LNK003"]).findings if "psw2--gpu2" in f.where[-1]]
    assert found
    fix = fix_of(design, found[0])
    assert fix is not None
    mended = fix.edit.apply(design)
    assert mended.groups["servers"].content.links["psw2--gpu2"].generation == 5
    assert not check(mended, chosen=["LNK003"]).findings


# Waivers: what is accepted, for how long, and that it is stored in the design.

FAIL = Path(__file__).parents[2] / "rules" / "MEM001" / "fail.design.json"


TODAY = date(2026, 11, 22)


def waiver(**changes: object) -> Waiver:
    stated = {
        "id": "w",
        "code": "MEM001",
        "reason": "nothing is staged",
        "author": "the architect",
        "expires": "2026-11-22",
    }
    return Waiver.model_validate({**stated, **changes})


def codes(design: Design, day: date = TODAY) -> list[str]:
    return [f.code for f in check(design, today=day, chosen=["MEM001"]).findings]


def test_a_waived_finding_is_reported_apart_until_its_last_day() -> None:
    design = open_design(FAIL)
    assert codes(design) == ["MEM001"]
    accepted = AddWaivers((waiver(),)).apply(design)
    assert codes(accepted) == []
    (waived,) = check(accepted, today=TODAY, chosen=["MEM001"]).waived
    assert (waived.finding.code, waived.waiver.author) == ("MEM001", "the architect")
    assert codes(accepted, date(2026, 11, 23)) == ["MEM001", "WAIVER-EXPIRED"]
    assert codes(RemoveWaivers(("w",)).apply(accepted)) == ["MEM001"]


def test_a_waiver_covers_its_own_places_alone() -> None:
    design = open_design(FAIL)
    (found,) = check(design, today=TODAY, chosen=["MEM001"]).findings
    assert codes(AddWaivers((waiver(where=found.where),)).apply(design)) == []
    assert codes(AddWaivers((waiver(where=found.where[:1]),)).apply(design)) == ["MEM001"]
    assert codes(AddWaivers((waiver(code="MEM002"),)).apply(design)) == ["MEM001"]


def test_a_waiver_is_kept_in_the_file() -> None:
    design = AddWaivers((waiver(where=("memory0",)),)).apply(open_design(FAIL))
    assert loads(dumps(design)).design.waivers == design.waivers


@pytest.mark.parametrize("day", ["tomorrow", "2026-13-01", "22.11.2026", ""])
def test_a_last_day_is_a_day(day: str) -> None:
    with pytest.raises(ValidationError, match="2027-01-31"):
        waiver(expires=day)


@pytest.mark.parametrize("field", ["reason", "author"])
def test_a_waiver_says_who_and_why(field: str) -> None:
    with pytest.raises(ValidationError):
        waiver(**{field: ""})

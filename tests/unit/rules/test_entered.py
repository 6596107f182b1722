"""A rule is entered for designs that it concerns, and for no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from designer.design.document import Design
from designer.interchange.templates import open_design
from designer.rules import runner
from designer.rules.rule import Offence, Rule, rules

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

"""Every rule has a page, a design that passes and one that does not; flipping any of its conditions is noticed."""

from __future__ import annotations

import ast
import copy
import sys
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from designer.findings import Severity
from designer.interchange.templates import list_templates, open_design
from designer.rules import pages
from designer.rules.context import Context
from designer.rules.rule import Rule, rules
from designer.rules.runner import check, fix_of, offences

CASES = Path(__file__).parents[1] / "rules"


def design_of(code: str, which: str) -> Context:
    return Context(open_design(CASES / code / f"{which}.design.json"))


@pytest.mark.parametrize("code", rules())
def test_a_design_passes_and_one_does_not(code: str) -> None:
    rule = rules()[code]
    assert offences(rule, design_of(code, "pass")) == []
    found = offences(rule, design_of(code, "fail"))
    assert found
    assert all(f.code == code and f.where and f.remedy for f in found)
    assert len({f.key for f in found}) == len(found), "waivers tell findings apart by their places"


@pytest.mark.parametrize("code", rules())
def test_the_page_says_all_there_is_to_say(code: str) -> None:
    stated = pages.sections(rules()[code])
    assert rules()[code].page.startswith(f"{code}: ")
    assert [name for name in ("", *pages.SECTIONS) if len(stated.get(name, "")) < 15] == []
    name = rules()[code].check.__module__.rsplit(".", 1)[-1]
    assert rules()[code].text or name == f"{code.lower()}_{rules()[code].name.replace('-', '_')}"


def test_no_case_is_left_over() -> None:
    assert sorted(p.name for p in CASES.iterdir() if p.is_dir()) == sorted(rules())


def test_the_committed_pages_are_those_of_the_rules(checkout: Path) -> None:
    folder = checkout / "docs" / "rules"
    stale = [name for name, text in pages.pages().items() if (folder / name).read_text("utf-8") != text]
    assert stale == [], "run python -m designer.rules.pages"
    assert {p.name for p in folder.glob("*.md")} == set(pages.pages())


@pytest.mark.parametrize("template", [t.id for t in list_templates()])
def test_no_template_has_an_error(template: str) -> None:
    report = check(open_design(template))
    assert [f for f in report.findings if f.severity is Severity.ERROR or "not looked at" in f.text] == []


@pytest.mark.parametrize("code", [code for code, rule in rules().items() if rule.fix is not None])
def test_what_a_rule_offers_to_mend_is_mended(code: str) -> None:
    design = design_of(code, "fail").design
    for _ in range(50):
        found = check(design, chosen=[code]).findings
        if not found:
            break
        fix = fix_of(design, found[0])
        assert fix is not None
        assert fix.title
        design = fix.edit.apply(design)
    assert check(design, chosen=[code]).findings == ()


class _Flip(ast.NodeTransformer):
    """Turns the condition with one number around."""

    def __init__(self, number: int) -> None:
        self.number, self.seen = number, -1

    def _turned(self, test: ast.expr) -> ast.expr:
        self.seen += 1
        return ast.UnaryOp(ast.Not(), test) if self.seen == self.number else test

    def visit_If(self, node: ast.If) -> ast.AST:
        node.test = self._turned(node.test)
        return self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        node.ifs = [self._turned(test) for test in node.ifs]
        return self.generic_visit(node)


@cache
def conditions(rule: Rule) -> tuple[str, ast.Module, int]:
    file = sys.modules[rule.check.__module__].__file__
    assert file is not None
    tree = ast.parse(Path(file).read_text("utf-8"))
    nodes = [m for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "check" for m in ast.walk(n)]
    inside = sum(len(n.ifs) for n in nodes if isinstance(n, ast.comprehension))
    return file, tree, inside + sum(isinstance(n, ast.If) for n in nodes)


def mutants() -> Iterator[tuple[str, int]]:
    for code, rule in rules().items():
        for number in range(conditions(rule)[2]):
            yield code, number


@cache
def judged(code: str, which: str) -> tuple[Context, list[str]]:
    """A design of a rule, and what the rule finds in it."""
    context = design_of(code, which)
    return context, [f.text for f in offences(rules()[code], context)]


@pytest.mark.parametrize(("code", "number"), list(mutants()))
def test_a_flipped_condition_is_noticed(code: str, number: int) -> None:
    """With any condition of its check turned around the rule misses its offence, invents one, or breaks."""
    file, tree, _ = conditions(rules()[code])
    tree = copy.deepcopy(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "check":
            _Flip(number).visit(node)
    module = types.ModuleType("mutant")
    sys.modules["mutant"] = module
    exec(compile(ast.fix_missing_locations(tree), file, "exec"), module.__dict__)

    def noticed(which: str) -> bool:
        context, right = judged(code, which)
        try:
            return [f.text for f in offences(module.RULE, context)] != right
        except Exception:
            return True

    try:
        assert any(map(noticed, ("pass", "fail"))), "no design tells this condition from its opposite"
    finally:
        del sys.modules["mutant"]

"""Codes of findings stand in one table: each with a title and severities, each used, and nothing else used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from designer.finding_codes import CODES
from designer.findings import KINDS, Finding, Severity, register
from designer.rules import pages
from designer.rules.rule import rules
from tests.source_trees import DESIGNER, trees

pytestmark = pytest.mark.xdist_group("sources")

TABLE = DESIGNER / "finding_codes.py"
#: functions that make a finding or what becomes one, and the severity they mean where they take none
MAKERS = {
    "Finding": None,
    "Problem": None,
    "note": None,
    "_add_finding": None,
    "_fatal": "error",
    "_warn": "warning",
    "CannotPlace": "error",
    "Refusal": "error",
    "broken": "error",
}
_CODE = re.compile(r"[A-Z]{2,}[A-Z0-9]*(?:-[A-Z0-9]+)+")
#: texts of that form that are no codes
OTHER = {"UTF-8", "SR-IOV"}


@dataclass(frozen=True)
class Stated:
    """What one file says of findings."""

    file: str
    texts: frozenset[str]
    #: code and severity of every finding whose call spells both
    made: frozenset[tuple[str, str]]
    #: lines of findings whose code is put together
    joined: tuple[int, ...]


@cache
def stated() -> tuple[Stated, ...]:
    """Every file but the table, read once."""
    found: list[Stated] = []
    for path, tree in trees().items():
        if path != TABLE:
            file = str(path.relative_to(DESIGNER))
            found.append(Stated(file, frozenset(_texts(tree)), frozenset(_made(tree)), _joined(tree)))
    return tuple(found)


def _texts(tree: ast.AST) -> set[str]:
    return {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def _made(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Code and severity of every finding whose call spells both."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        if name not in MAKERS or not call.args or not isinstance(call.args[0], ast.Constant):
            continue
        severities = {
            n.attr.lower()
            for given in (*call.args[1:], *(k.value for k in call.keywords))
            for n in ast.walk(given)
            if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "Severity"
        } or {_usual(name, str(call.args[0].value))}
        yield from ((str(call.args[0].value), severity) for severity in severities)


def _usual(maker: str, code: str) -> str:
    """The severity of a finding whose call spells none; notes of importers are as severe as is usual for their code."""
    return CODES[code].severities[0] if maker == "note" and code in CODES else MAKERS[maker] or ""


def _joined(tree: ast.AST) -> tuple[int, ...]:
    return tuple(
        call.lineno
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.JoinedStr)
        if (call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")) == "Finding"
    )


def test_every_code_in_use_is_registered() -> None:
    known = set(CODES) | {code for rule in rules().values() for code in (rule.code, rule.stated_as)} | OTHER
    unknown = {
        f"{one.file}: {text}" for one in stated() for text in one.texts if _CODE.fullmatch(text) and text not in known
    }
    assert unknown == set(), "give them a line in designer/finding_codes.py"


def test_every_registered_code_is_in_use() -> None:
    used = {text for one in stated() for text in one.texts}
    assert set(CODES) - used == set()


def test_no_code_is_both_a_rule_and_in_the_table() -> None:
    assert set(CODES) & set(rules()) == set()


def test_findings_have_the_severities_of_their_codes() -> None:
    made = {(code, severity) for one in stated() for code, severity in one.made if severity and code in CODES}
    assert len({code for code, _ in made}) > 0.9 * len(CODES)
    assert {(c, s) for c, s in made if s not in CODES[c].severities} == set()


def test_no_code_is_put_together_while_the_program_runs() -> None:
    """Only a code spelled out can be found by the tests above, and by people."""
    assert [f"{one.file}:{line}" for one in stated() for line in one.joined] == []


@pytest.mark.parametrize("code", CODES)
def test_a_title_is_a_short_sentence_without_a_full_stop(code: str) -> None:
    title = CODES[code].title
    assert 12 <= len(title) <= 70
    assert not title.endswith(".")
    assert all(severity in set(Severity) for severity in CODES[code].severities)


def test_a_code_nobody_registered_is_refused() -> None:
    with pytest.raises(ValueError, match="code 'NO-SUCH' is not registered"):
        Finding("NO-SUCH", Severity.INFO, "")
    with pytest.raises(ValueError, match="severity"):
        Finding("DOC-SELF", Severity.INFO, "both ends are the same part")
    with pytest.raises(ValueError, match="means"):
        register("DOC-SELF", "Something else", (Severity.INFO,))
    assert Finding("DOC-SELF", Severity.ERROR, "").title == KINDS["DOC-SELF"].title


def test_rules_register_their_codes() -> None:
    assert set(rules()) <= set(KINDS)


def test_the_committed_page_is_that_of_the_table(checkout: Path) -> None:
    page = checkout / "docs" / "findings.md"
    assert page.read_text("utf-8") == pages.findings_page(), "run python -m designer.rules.pages"

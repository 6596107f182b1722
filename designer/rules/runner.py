"""Runs the rules of a profile on a design."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache

from designer.design.document import Design
from designer.design.integrity import examine
from designer.errors import DesignerError
from designer.findings import Finding, Severity
from designer.memo import Memo
from designer.registry import foreign_package
from designer.rules.context import Context
from designer.rules.rule import Fix, Profile, Rule, rules
from designer.rules.waivers import Waived, apart

#: one rule states at most so many offences
_MOST = 50


@dataclass(frozen=True, slots=True)
class Report:
    """What the rules say.

    Parameters
    ----------
    findings
        Findings that are not waived, worst first.
    waived
        What was accepted.
    """

    findings: tuple[Finding, ...]
    waived: tuple[Waived, ...] = ()


def profile_of(design: Design) -> Profile:
    """What a design looks meant for: virtual machines, a fabric, or neither."""
    if design.vms:
        return Profile.VSPHERE
    return Profile.SUPERPOD if design.groups and design.wirings else Profile.LAB


def check(
    design: Design,
    profile: Profile | str | None = None,
    *,
    today: date | None = None,
    chosen: Iterable[str] | None = None,
) -> Report:
    """What the rules say about a design, and what is wrong with the document itself.

    Problems of the document (``DOC-…``) belong to every profile and cannot be waived.

    Parameters
    ----------
    profile
        For what it is meant; by default what it looks like.
    today
        The day waivers are judged on.
    chosen
        Codes of the rules to run, without the document; all of the profile by default.

    Raises
    ------
    DesignerError
        If the design cannot be elaborated.
    """
    meant = Profile(profile) if profile is not None else profile_of(design)
    wanted = set(chosen) if chosen is not None else None
    context = _contexts(design)
    found: list[Finding] = []
    for rule in rules().values():
        if (meant in rule.profiles) if wanted is None else rule.code in wanted:
            found += offences(rule, context)
    order = list(Severity)
    stand, waived = apart(design, found, today or date.today())
    if wanted is None:
        stand = [*(problem.finding() for problem in examine(design)), *stand]
    return Report(tuple(sorted(stand, key=lambda f: order.index(f.severity))), tuple(waived))


def offences(rule: Rule, context: Context) -> list[Finding]:
    """What one rule finds; a design it cannot be asked about is reported, and stops no other rule."""
    found: list[Finding] = []
    if not rule.context.concerns(context.design):
        return found
    try:
        for offence in rule.check(context.seen_as(rule.context)):
            found.append(rule.finding(offence))
            if len(found) >= _MOST:
                break
    except DesignerError as error:
        found.append(Finding(rule.code, Severity.INFO, f"not looked at: {error.text}", (), error.remedy or ""))
    except Exception as error:
        package = foreign_package(rule.check)
        if not package:
            raise
        text = f"the rule failed with {type(error).__name__}: {error}"
        found.append(Finding(rule.code, Severity.WARNING, text, (), f"update or uninstall the package {package}"))
    return found


_contexts = Memo(Context, most=2)


def fix_of(design: Design, finding: Finding) -> Fix | None:
    """The edit that mends what a rule found; None where a person has to decide."""
    rule = rules().get(finding.code)
    return rule.fix(_contexts(design), finding) if rule is not None and rule.fix is not None else None


@cache
def named_in_analysis() -> Mapping[str, str]:
    """Codes under which analyses report what a rule reports as well, with the rule's."""
    return {rule.stated_as: rule.code for rule in rules().values() if rule.stated_as}

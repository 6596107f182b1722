"""What a rule is: a code, how bad its offence is, a check over a context, perhaps an edit that mends it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from designer.design.edits.parts import SetAttribute, SetValue
from designer.design.edits.together import Together
from designer.design.edits.vms import ChangeVms
from designer.fields import Quantity
from designer.findings import Finding, Severity, register
from designer.registry import discover, rooms
from designer.rules.context import Context
from designer.sources import Status

if TYPE_CHECKING:
    from designer.design.edit import Edit


class Profile(StrEnum):
    """What a design is meant for, which decides which rules apply."""

    VSPHERE = "vsphere"  #: hosts of virtual machines
    SUPERPOD = "superpod"  #: clusters with a rail-optimised fabric
    LAB = "lab"  #: single machines and experiments: no redundancy is asked for


#: rules that hold everywhere
EVERYWHERE = frozenset(Profile)
#: rules that hold where a design is to run a business
IN_PRODUCTION = frozenset({Profile.VSPHERE, Profile.SUPERPOD})


@dataclass(frozen=True, slots=True)
class Offence:
    """One place where a rule is broken.

    Parameters
    ----------
    severity
        Where it is another than the rule's.
    equal
        How many equal members of groups break it in the same way; `where` names the first.
    """

    text: str
    where: tuple[str, ...] = ()
    remedy: str = ""
    severity: Severity | None = None
    equal: int = 1


@dataclass(frozen=True, slots=True)
class Fix:
    """What a button says, and the edit it makes."""

    title: str
    edit: Edit


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Parameters
    ----------
    name
        The offence in a few words, with hyphens.
    stated_as
        Code under which an analysis states the same offence, so that no list shows it twice.
    fix
        The edit that mends an offence; None where a person has to decide.
    context
        How `check` looks at a design; a rule is not entered for designs that this does not concern.
    text
        The page of the rule; empty where it is the docstring of its file.
    """

    code: str
    name: str
    severity: Severity
    check: Callable[[Any], Iterable[Offence]]
    profiles: frozenset[Profile] = EVERYWHERE
    stated_as: str = ""
    fix: Callable[[Context, Finding], Fix | None] | None = None
    context: type[Context] = Context
    text: str = ""

    def __post_init__(self) -> None:
        # an offence may weigh more or less than usual, and a rule that could not look says so as information
        register(self.code, self.name.replace("-", " ").capitalize(), tuple(dict.fromkeys((self.severity, *Severity))))

    @property
    def page(self) -> str:
        """The page of the rule."""
        return self.text or sys.modules[self.check.__module__].__doc__ or ""

    def finding(self, offence: Offence) -> Finding:
        """An offence as a finding."""
        more = f" (and {offence.equal - 1:,} like it)" if offence.equal > 1 else ""
        return Finding(
            self.code, offence.severity or self.severity, f"{offence.text}{more}", offence.where, offence.remedy
        )


@cache
def rules() -> Mapping[str, Rule]:
    """All rules by code."""
    found: dict[str, Rule] = {}
    general = discover("designer.rules.general", "RULE", Rule, "code")
    for some in (general, rooms("designer.families", "rules", "RULE", Rule, "code")):
        for code, rule in some.items():
            if code in found:
                raise AssertionError(f"two rules are called {code}")
            found[code] = rule
    found = {**discover("", "", Rule, "code", group="designer.rules"), **found}
    return dict(sorted(found.items()))


def with_values(title: str, values: Mapping[str, str | int | bool]) -> Callable[[Context, Finding], Fix | None]:
    """A fix that gives values to the first part a finding names, where the drawing says something else of them."""

    def fix(context: Context, finding: Finding) -> Fix | None:
        within, part_id, block = context.stored(finding.where[0])
        part = block.parts.get(part_id)
        if part is None:
            return None
        edits: list[SetAttribute | SetValue] = []
        for name, value in values.items():
            if name in part.attributes:
                edits.append(SetAttribute((part_id,), name, None, within=within))
            quantity = Quantity(value=value, source="", status=Status.ASSUMED)
            edits.append(SetValue((part_id,), name, quantity, within=within))
        return Fix(f"{title}{context.words_for(within)}", Together(tuple(edits)))

    return fix


def with_settings(title: str, values: Mapping[str, bool | None]) -> Callable[[Context, Finding], Fix | None]:
    """A fix that changes settings of the machine a finding names, those it has; None takes one away."""

    def fix(context: Context, finding: Finding) -> Fix | None:
        vm = context.design.vms.get(finding.where[0])
        if vm is None:
            return None
        wanted = {name: value for name, value in vm.settings.items() if name not in values}
        wanted |= {name: value for name, value in values.items() if name in vm.settings and value is not None}
        return Fix(title, ChangeVms((vm.id,), {"settings": wanted}))

    return fix

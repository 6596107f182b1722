"""Fixes that several rules share: a value of a part changed, a setting of a machine changed or taken away."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from designer.design.edits.parts import SetAttribute, SetValue
from designer.design.edits.together import Together
from designer.design.edits.vms import ChangeVms
from designer.fields import Quantity
from designer.findings import Finding
from designer.rules.context import Context
from designer.rules.rule import Fix
from designer.sources import Status


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

"""XMP001: servers without an FPGA.

What it checks
    Servers, one by one, for an FPGA.
Why it matters
    It does not: this rule is an example.
How to fix
    Add an FPGA, or waive the rule.
Sources
    None.
Example
    Any server of the templates.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        if not machine.of("fpga"):
            yield Offence("the server has no FPGA", (machine.items[0].path,), "add an FPGA", equal=machine.times)


RULE = Rule("XMP001", "no-fpga", Severity.INFO, check)

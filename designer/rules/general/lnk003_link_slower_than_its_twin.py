"""LNK003: a PCIe link slower than the same link of an equal part.

What it checks
    PCIe links of parts of the same product in one design, where their rates are stated and not assumed.
Why it matters
    A riser that trained at half its lanes looks plausible alone and odd next to its twins: it is usually a fault.
How to fix
    Reseat the card, check the riser and the slot's bifurcation; where it is meant, waive it.
Sources
    PCI-SIG base specification (link training falls back to fewer lanes).
Example
    Seven of eight GPUs at Gen4 x16, the eighth at Gen4 x8.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.design.edits.links import ChangeLinks
from designer.design.peers import degraded_links, faster_twin, speed_text
from designer.findings import Finding, Severity
from designer.rules.context import Context
from designer.rules.rule import Fix, Offence, Rule


def check(context: Context) -> Iterator[Offence]:
    for found in degraded_links(context.design):
        if found.code == "LINK-DEGRADED":
            yield Offence(found.text, found.where, found.remedy)


def fix(context: Context, finding: Finding) -> Fix | None:
    """Draw the link as that of its twin, to see what mending it gains."""
    if not finding.where:
        return None
    within, link_id, block = context.stored(finding.where[-1])
    link = block.links.get(link_id)
    twin = faster_twin(context.design, finding.where[-1]) if link is not None else None
    if link is None or twin is None:
        return None
    names = ("generation", "lanes", "bandwidth_per_direction", "count")
    changes: dict[str, object] = {name: getattr(twin, name) for name in names}
    title = f"Draw it as its twin: {speed_text(twin)}{context.words_for(within)}"
    return Fix(title, ChangeLinks((link.id,), changes, within=within))


RULE = Rule("LNK003", "link-slower-than-its-twin", Severity.WARNING, check, stated_as="LINK-DEGRADED", fix=fix)

"""LNK001: a card in a slot with fewer lanes or an older generation than it has.

What it checks
    Every GPU, NIC, DPU and drive that states its PCIe generation and lanes against the link it hangs on.
Why it matters
    Host-to-device bandwidth halves with every halving of the lanes and with every generation less, and the money for
    the wider card is lost.
How to fix
    Use a slot as wide and as new as the card, or waive the finding where the card never needs the rate.
Sources
    PCI-SIG base specification (rate per lane and generation); `facts` of the part in its catalog file.
Example
    A Gen4 x16 NIC on a link drawn with 8 lanes: 15.75 GB/s of 31.5 GB/s.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.design.edits.links import ChangeLinks
from designer.findings import Finding, Severity
from designer.formulas.transfer.pcie_rate import pcie_rate
from designer.rules.context import Context, Joint, MachineClass, MachinePart
from designer.rules.rule import Fix, Offence, Rule
from designer.units import format_quantity

#: rates this close together are one
_TOLERANCE = 0.02
#: the widest slot there is: cards with more lanes have several hosts or a switch of their own
_WIDEST = 16


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        for item in machine.of("gpu", "nic", "dpu", "drive"):
            found = _narrow_slot(context, machine, item)
            if found is None:
                continue
            joint, able = found
            text = (
                f"{item.path} can take {format_quantity(able, 'rate')} over PCIe, its slot gives "
                f"{format_quantity(joint.rate, 'rate')}"
            )
            remedy = "use a wider or newer slot, or a smaller card"
            yield Offence(text, (joint.path, item.path), remedy, equal=machine.times)


def _narrow_slot(context: Context, machine: MachineClass, item: MachinePart) -> tuple[Joint, float] | None:
    """The slot of a card that is too narrow, and what the card can take [B/s]."""
    generation, lanes = (context.number(item.part, name) for name in ("pcie_generation", "pcie_lanes"))
    slots = machine.slots(item)
    if generation is None or lanes is None or len(slots) != 1 or lanes < 1 or generation < 1:
        return None
    able = float(pcie_rate(int(generation), min(int(lanes), _WIDEST)))
    return (slots[0], able) if slots[0].rate < able * (1 - _TOLERANCE) else None


def fix(context: Context, finding: Finding) -> Fix | None:
    """Draw the slot with the lanes of the card, where only lanes are missing."""
    if not finding.where:
        return None
    within, link_id, block = context.stored(finding.where[0])
    _, part_id, around = context.stored(finding.where[-1])
    link, part = block.links.get(link_id), around.parts.get(part_id)
    lanes = context.number(part, "pcie_lanes") if part is not None else None
    if link is None or lanes is None or link.lanes is None or link.lanes >= lanes:
        return None
    title = f"Draw the slot with {lanes:.0f} lanes{context.words_for(within)}"
    return Fix(title, ChangeLinks((link.id,), {"lanes": int(lanes)}, within=within))


RULE = Rule("LNK001", "card-in-narrow-slot", Severity.WARNING, check, fix=fix)

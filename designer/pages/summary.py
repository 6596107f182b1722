"""The page of a design: what is in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from designer.catalog.parttype import part_kinds
from designer.design.document import Design
from designer.present import numbers
from designer.present.blocks import Change, Column, Page, State, Table, Tone
from designer.present.words import link_words


def page_of_summary(design: Design, counts: Mapping[str, Any], file: str = "DESIGN") -> Page:
    """The page of the counts of a design.

    Parameters
    ----------
    counts
        As `designer.design.query.summarize` gives them: parts and links by kind, replicas multiplied.
    """
    parts: Mapping[str, int] = counts["parts"]
    links: Mapping[str, int] = counts["links"]
    kinds = part_kinds()
    servers, gpus, switches = (parts.get(kind, 0) for kind in ("server", "gpu", "switch"))
    words = [
        numbers.counted(n, one, many)
        for n, one, many in (
            (gpus, "GPU", "GPUs"),
            (servers, "server", "servers"),
            (switches, "network switch", "network switches"),
            (counts["vms"], "virtual machine", "virtual machines"),
        )
        if n
    ] or [numbers.counted(sum(parts.values()), "part")]
    head = f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
    workloads = len(design.workloads)
    head += f", with {numbers.counted(workloads, 'workload')}." if workloads else ", without a workload."
    mine = [(kinds[k].title if k in kinds else k, f"{n:,}") for k, n in parts.items()]
    other = [(link_words(k), f"{n:,}") for k, n in links.items()]
    length = max(len(mine), len(other))
    blank = ("", "")
    rows = tuple(
        (*(mine[k] if k < len(mine) else blank), *(other[k] if k < len(other) else blank)) for k in range(length)
    )
    heads = (Column("Parts"), Column("Number", True), Column("Links"), Column("Number", True))
    ask = [Change("What limits each workload", command=("analyze", file), tone=Tone.PLAIN)] if workloads else []
    return Page(
        design.title or design.name,
        State.ANSWERED,
        head,
        table=Table("", heads, rows),
        changes=(
            *ask,
            Change("What the design rules say", command=("check", file), tone=Tone.PLAIN),
        ),
        more="Workloads, groups and virtual machines",
    )

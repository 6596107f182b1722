"""The page of a design: what is in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from designer.catalog.partkind import Domain
from designer.catalog.parttype import link_kinds
from designer.design.document import Design, Link, Part, Wiring
from designer.design.peers import speed_text
from designer.design.query import count_links_by, count_parts_by
from designer.design.rates import raw_rate
from designer.present import numbers
from designer.present.blocks import Change, Column, Page, State, Table, Tone
from designer.present.words import link_words, part_kind_words
from designer.units import format_line_rate


def page_of_summary(design: Design, counts: Mapping[str, Any], file: str = "DESIGN") -> Page:
    """The page of the counts of a design.

    Parameters
    ----------
    counts
        As `designer.design.query.summarize` gives them: parts by kind, replicas multiplied.
    """
    parts: Mapping[str, int] = counts["parts"]
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
    ask = [Change("What limits each workload", command=("analyze", file), tone=Tone.PLAIN)] if workloads else []
    return Page(
        design.title or design.name,
        State.ANSWERED,
        head,
        table=contents_table(design),
        changes=(
            *ask,
            Change("What the design rules say", command=("check", file), tone=Tone.PLAIN),
        ),
        more="Workloads, groups and virtual machines",
    )


def contents_table(design: Design) -> Table:
    """How many parts there are of each product, and how many links of each speed; replicas multiplied.

    Raises
    ------
    DocumentError
        If a wiring cannot be joined.
    """

    def product(part: Part) -> tuple[str, str]:
        known = design.type_of(part)
        return part_kind_words(part.kind), known.title if known is not None else ""

    def speed(link: Link | Wiring) -> tuple[int, str, str]:
        known = link_kinds().get(link.kind)
        ends = (design.parts.get(link.a), design.parts.get(link.b))
        # one kind of link joins the domains of a socket, of every maker
        inside = link.kind == "infinity_fabric" and any(end is not None and end.kind == "numa" for end in ends)
        cable = known is not None and known.domain is Domain.NETWORK
        rate = format_line_rate(raw_rate(link)[0]) if cable else speed_text(link)
        which = rate if cable or rate.startswith("Gen") else f"{rate} each way"
        name = "On-die" if inside else link_words(link.kind)
        return known.order if known is not None else 0, f"{name} links", which

    parts = sorted(count_parts_by(design, product).items())
    rows = [(what, which, f"{n:,}") for (what, which), n in parts]
    rows += [(what, which, f"{n:,}") for (_, what, which), n in sorted(count_links_by(design, speed).items())]
    # what has no product is of least interest
    rows.sort(key=lambda row: not row[1])
    return Table("", (Column("What"), Column("Which"), Column("Count", True)), tuple(rows))

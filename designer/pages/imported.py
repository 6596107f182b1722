"""The page of an import: what the file holds, and what was guessed or dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from designer.design.document import Design
from designer.design.naming import in_names, several
from designer.findings import Finding, Severity
from designer.pages.summary import contents_table
from designer.present import numbers
from designer.present.blocks import Change, Page, State, Tone
from designer.present.words import continued, part_kind_words, plain, sentence

#: kinds of parts in the headline, and notes in full
_KINDS, _NOTES = 4, 3


def page_of_import(
    design: Design,
    parts: Mapping[str, int],
    findings: Sequence[Finding],
    source: str,
    output: str = "",
) -> Page:
    """The page of what was read.

    Parameters
    ----------
    parts
        Numbers of parts by kind.
    source, output
        The file that was read and the one that is written; empty for none.
    """
    names = [_count_text(n, part_kind_words(kind)) for kind, n in parts.items()]
    shown = names[:_KINDS]
    text = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)
    order = list(Severity)
    ranked = sorted(findings, key=lambda f: order.index(f.severity))
    notes = [sentence(plain(in_names(design, f.text))) for f in ranked[:_NOTES]]
    if len(ranked) > _NOTES:
        notes.append(f"{numbers.counted(len(ranked) - _NOTES, 'more note')}.")
    if output and design.workloads:
        change = Change("Find its bottleneck", command=("analyze", output), tone=Tone.PLAIN)
    elif output:
        change = Change("What the design rules say", command=("check", output), tone=Tone.PLAIN)
    else:
        change = Change("Keep it", command=("import", source, "-o", "machine.design.json"), tone=Tone.PLAIN)
    worst = ranked[0].severity if ranked else Severity.INFO
    return Page(
        f"Import of {design.title or design.name}",
        State.PARTLY if worst is Severity.ERROR else State.ANSWERED,
        f"The file holds {text or 'no parts'}.",
        table=contents_table(design),
        changes=(change,),
        remarks=tuple(notes),
        more="Every note, with places and remedies" if findings else "",
    )


def _count_text(n: int, name: str) -> str:
    one = continued(name)
    return numbers.counted(n, one, several(one))

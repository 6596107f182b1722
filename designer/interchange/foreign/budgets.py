"""What a file shows against what the catalog says of a type: machines have more ports than their type where that is so.

Simulated and trimmed dumps, boards of several chips and types taken for another do that. What was seen stands.
"""

from __future__ import annotations

from typing import Final

from designer.design.document import Part, with_changes
from designer.design.port_usage import Overfull, overfull
from designer.fields import Quantity
from designer.findings import Finding, Severity
from designer.interchange.foreign.importer import Imported
from designer.sources import Status

#: so many rounds: a part may have too few ports of several kinds
_ROUNDS: Final = 3
_PLACES: Final = 50


def believed(imported: Imported) -> Imported:
    """The import with as many ports and lanes at each part as the file shows links."""
    design, seen = imported.design, list[Overfull]()
    for _ in range(_ROUNDS):
        full = [one for one in overfull(design) if one.field and one.path in design.parts]
        if not full:
            break
        seen += full
        parts = dict(design.parts)
        for one in full:
            parts[one.path] = _with_count(parts[one.path], one)
        design = with_changes(design, parts=list(parts.values()))
    if not seen:
        return imported
    first = seen[0]
    text = (
        f"the file shows more than the catalog: {first.path} has {first.taken} {first.what}, its type {first.total}; "
        "what the file shows is believed"
    )
    places = tuple(dict.fromkeys(one.path for one in seen))[:_PLACES]
    remedy = "check the types of these parts"
    found = Finding("IMP-MORE-PORTS", Severity.WARNING, text, places, remedy)
    return Imported(design, (*imported.findings, found))


def _with_count(part: Part, full: Overfull) -> Part:
    quantity = Quantity(value=full.taken, status=Status.DERIVED)
    return with_changes(part, overrides={**part.overrides, full.field: quantity})

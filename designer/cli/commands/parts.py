"""``designer parts``: search the catalog; values with unit, source and how sure."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from designer.catalog.describe import describe
from designer.catalog.loader import load_catalog
from designer.catalog.parttype import part_kinds
from designer.cli.command import Command
from designer.cli.output import paragraph, print_json, table
from designer.cli.pages import add_page_options, print_page
from designer.errors import CatalogError
from designer.present.blocks import Change, Column, Page, State, Table, Tone

if TYPE_CHECKING:
    from collections.abc import Sequence


#: nothing of the catalog has a longer name
_LONGEST_QUERY: Final = 200
#: other parts of the same kind that a search found
_OTHERS: Final = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("query", nargs="?", default="", help="words to search for, a kind of part, or the id of one")
    parser.add_argument("--kind", help="only parts of this kind, for example gpu")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """List parts, or show one."""

    if len(options.query) > _LONGEST_QUERY:
        raise CatalogError(f"a search of {len(options.query):,} characters", remedy="search for a few words")
    catalog = load_catalog()
    if options.kind and options.kind not in part_kinds():
        raise CatalogError(f"there is no part kind {options.kind!r}", remedy=f"use one of {', '.join(part_kinds())}")
    # the name of a kind asks for all of that kind, not for the placeholder that is called the same
    whole = not options.kind and options.query in part_kinds()
    kind, query = (options.query, "") if whole else (options.kind, options.query)
    found = catalog.find(query, kind) if query else catalog.entries(kind)
    chosen = query if query in catalog else (catalog.resolve(query, kind) if query else None)
    if not found and chosen is None:
        near = ", ".join(catalog.nearest(options.kind, options.query, 3))
        raise CatalogError(
            f"no part matches {options.query!r}", remedy=f"did you mean {near}?" if near else "try fewer words"
        )
    if options.json:
        ids: dict[str, None] = dict.fromkeys([*([chosen] if chosen else []), *(e.id for e in found)])
        print_json([_as_dict(catalog.get(i)) for i in ids])
        return 0
    if chosen is not None or len(found) == 1:
        part = catalog.get(chosen or found[0].id)
        heads = ("value", "", "band", "how sure", "source")
        rows = [(r.title, r.text, r.band, str(r.status), r.source_title) for r in describe(part)]

        def in_full() -> None:
            print(f"{part.title}   {part.id}\n" + (paragraph("", part.note.strip()) + "\n" if part.note else ""))
            print(table(heads, rows))

        stated = [(title, text, band, status) for title, text, band, status, _ in rows]
        others = [e.id for e in found if e.id != part.id and e.kind == part.kind] if query != part.id else []
        print_page(lambda: _page(part.id, part.title, part.note, heads[:-1], stated, others=others), options, in_full)
        return 0
    heads, rows = ("id", "title", "vendor"), [(e.id, e.title, e.vendor) for e in found]

    def all_of_them() -> None:
        print(table(heads, rows))
        print(f"\n{len(found)} parts. One in full: designer parts ID")

    one = found[0].id
    print_page(lambda: _page("Catalog", f"{len(found):,} parts", "", heads, rows, one), options, all_of_them)
    return 0


def _page(
    subject: str,
    head: str,
    note: str,
    heads: Sequence[str],
    rows: Sequence[tuple[str, ...]],
    one: str = "",
    others: Sequence[str] = (),
) -> Page:
    """The first rows of a list or of a part's values; `one` is a part to show in full, `others` were found as well."""

    changes = [Change("One in full", command=("parts", one), tone=Tone.PLAIN)] if one else []
    changes += [Change("Also found", command=("parts", other), tone=Tone.PLAIN) for other in others[:_OTHERS]]
    columns = tuple(Column(head.capitalize()) for head in heads)
    return Page(
        subject,
        State.ANSWERED,
        f"{head}.",
        table=Table("", columns, tuple(rows)),
        changes=tuple(changes),
        remarks=(note.strip(),) if note else (),
        more="All of them" if one else "All values, with sources",
    )


def _as_dict(part: Any) -> dict[str, Any]:
    rows = {
        r.name: {
            "value": r.value if r.value is not None else r.text,
            "unit": r.unit,
            "text": r.text,
            "low": r.low,
            "high": r.high,
            "status": str(r.status),
            "source": r.source,
            "source_title": r.source_title,
            "note": r.note,
        }
        for r in describe(part)
    }
    return {
        "id": part.id,
        "kind": part.kind,
        "title": part.title,
        "vendor": part.vendor,
        "revision": part.revision,
        "values": rows,
    }


COMMAND = Command(
    "parts",
    "List catalog parts; show one with units, sources and how sure each value is.",
    "designer parts gpu/nvidia/h100-sxm5",
    add_arguments,
    run,
)

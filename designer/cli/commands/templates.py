"""``designer templates``: list templates, to start from."""

from __future__ import annotations

import argparse

from designer.cli.command import Command
from designer.cli.output import print_json, table
from designer.cli.pages import add_page_options, print_page
from designer.interchange.templates import list_templates
from designer.present import numbers
from designer.present.blocks import Change, Column, Page, State, Table, Tone


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("query", nargs="?", default="", help="only templates with these words in id, title or intent")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """List templates."""

    words = options.query.lower().split()
    found = [t for t in list_templates() if all(w in f"{t.id} {t.title} {t.intent}".lower() for w in words)]
    if options.json:
        print_json(
            [{"id": t.id, "title": t.title, "intent": t.intent, "gpus": t.gpus, "servers": t.servers} for t in found]
        )
        return 0
    heads = ("id", "gpus", "servers", "title")
    rows = [(t.id, f"{t.gpus:,}", f"{t.servers:,}", t.title) for t in found]

    def rest() -> None:
        print(table(heads, rows, (1, 2)))
        print(f"\n{len(found)} templates. Open one: designer gui ID   Analyse one: designer analyze ID")

    print_page(lambda: _page(rows), options, rest)
    return 0


def _page(rows: list[tuple[str, ...]]) -> Page:
    """The first templates, and how to see fewer."""

    columns = (Column("Id"), Column("GPUs", True), Column("Servers", True), Column("Title"))
    changes = [Change("Only those with a word", command=("templates", "h100"), tone=Tone.PLAIN)]
    if rows:
        changes.append(Change("Find its bottleneck", command=("analyze", rows[0][0]), tone=Tone.PLAIN))
    return Page(
        "Templates",
        State.ANSWERED if rows else State.NONE,
        f"{numbers.counted(len(rows), 'design')} to start from.",
        table=Table("", columns, tuple(rows)),
        changes=tuple(changes),
        more="All of them",
    )


COMMAND = Command(
    "templates", "List templates: id, title, intent, GPUs, servers.", "designer templates dgx", add_arguments, run
)

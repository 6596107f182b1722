"""``designer templates``: list templates, to start from."""

from __future__ import annotations

import argparse

from designer.cli.command import Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("query", nargs="?", default="", help="only templates with these words in id, title or intent")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(options: argparse.Namespace) -> int:
    """List templates."""
    from designer.cli.output import print_json, table
    from designer.interchange.templates import list_templates

    words = options.query.lower().split()
    found = [t for t in list_templates() if all(w in f"{t.id} {t.title} {t.intent}".lower() for w in words)]
    if options.json:
        print_json(
            [{"id": t.id, "title": t.title, "intent": t.intent, "gpus": t.gpus, "servers": t.servers} for t in found]
        )
        return 0
    print(
        table(
            ("id", "gpus", "servers", "title"),
            [(t.id, f"{t.gpus:,}", f"{t.servers:,}", t.title) for t in found],
            (1, 2),
        )
    )
    print(f"\n{len(found)} templates. Open one: designer gui ID   Analyse one: designer analyze ID")
    return 0


COMMAND = Command(
    "templates", "List templates: id, title, intent, GPUs, servers.", "designer templates dgx", add_arguments, run
)

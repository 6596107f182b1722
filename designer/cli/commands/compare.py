"""``designer compare``: two designs side by side, and why each number moved."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from designer.cli.command import Command
from designer.cli.design import add_overrides, add_workloads, with_only
from designer.cli.output import finding_dict, paragraph, print_findings, print_json, shown_file, table
from designer.cli.pages import add_page_options, print_page
from designer.decisions.comparing import change_text, compare, explained, shares_text
from designer.errors import FormatError
from designer.interchange.overrides import overridden, with_workloads
from designer.interchange.templates import open_any
from designer.testing.page import page_of_comparison
from designer.units import format_si

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from designer.decisions.comparing import Comparison, Moved


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("a", metavar="A", help="design file or template id")
    parser.add_argument("b", metavar="B", nargs="?", help="another; A itself, changed by --set, where it is left out")
    add_workloads(parser)
    add_overrides(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """Compare two designs; what --set and --workload-file change is B."""

    if options.b is None and not options.overrides:
        raise FormatError("there is nothing to compare with", place="B", remedy="name another design, or give --set")
    both = [
        with_workloads(open_any(name).design, options.workload_files) for name in (options.a, options.b or options.a)
    ]
    first, second = with_only(both[0], options.only), with_only(overridden(both[1], options.overrides), options.only)
    found = compare(first, second)
    if options.json:
        print_json(
            {
                "a": {"name": first.name, "file": shown_file(options.a)},
                "b": {"name": second.name, "file": shown_file(options.b or options.a)},
                "parts": {k: list(v) for k, v in found.parts.items()},
                "links": {k: list(v) for k, v in found.links.items()},
                "metrics": [
                    {
                        "workload": m.workload,
                        "name": m.name,
                        "unit": m.unit,
                        "a": m.before,
                        "b": m.after,
                        "change": m.change,
                        "why": explained(m),
                        "shares": dict(m.shares),
                    }
                    for m in found.metrics
                ],
                "changes": list(found.changes),
                "findings": {
                    "gone": [finding_dict(f) for f in found.gone],
                    "new": [finding_dict(f) for f in found.new],
                },
                "only_a": list(found.only_before),
                "only_b": list(found.only_after),
            }
        )
    else:
        files = (options.a, options.b or "B")
        print_page(lambda: page_of_comparison(found, first, second, files), options, lambda: _print(found))
    return 0


def _print(found: Comparison) -> None:
    import sys

    for title, counts in (("parts", found.parts), ("links", found.links)):
        rows = [(kind, f"{a:,}", f"{b:,}", f"{b - a:+,}") for kind, (a, b) in counts.items() if a != b]
        if rows:
            print(table((title, "A", "B", "change"), rows, (1, 2, 3)), end="\n\n")
    moved = [m for m in found.metrics if m.why or m.shares]
    if moved:
        rows = [
            (m.workload, m.name, format_si(m.before, m.unit), format_si(m.after, m.unit), change_text(m)) for m in moved
        ]
        print(table(("workload", "metric", "A", "B", "change"), rows, (2, 3, 4)), end="\n\n")
        for line in _reasons(moved):
            print(line)
        print()
    print(f"{len(found.metrics) - len(moved)} of {len(found.metrics)} metrics are the same")
    for words, only in (("A", found.only_before), ("B", found.only_after)):
        if only:
            print(f"only {words} has the workloads {', '.join(only)}")
    for words, findings in (("gone", found.gone), ("new", found.new)):
        if findings:
            print(f"\nfindings that are {words}:")
            print_findings(findings, sys.stdout)
    if found.folded:
        print("\nchanges:")
        for line in found.folded:
            print(paragraph("  ", line, "    "))


def _reasons(moved: Sequence[Moved]) -> Iterator[str]:
    """Why metrics moved: what bound them, said once for all of a workload, and what each group of changes did."""

    equal: dict[tuple[str, str], list[Moved]] = {}
    for one in moved:
        equal.setdefault((one.workload, one.why), []).append(one)
    for (workload, why), metrics in equal.items():
        groups = {tuple(m.shares) for m in metrics}
        alone = next(iter(groups)) if len(groups) == 1 else ()
        stated = "; ".join(t for t in (why, f"all of it by {alone[0]}" if len(alone) == 1 else "") if t)
        if stated:
            yield paragraph(f"{workload}: ", stated, "  ")
        if len(alone) != 1:
            yield from (paragraph("  ", f"{m.name}: {text}", "    ") for m in metrics if (text := shares_text(m)))


COMMAND = Command(
    "compare",
    "Two designs side by side: parts, links, metrics, findings, and why each number moved.",
    'designer compare hgx-h100-8 --set "links.*--gpu*.lanes=8"',
    add_arguments,
    run,
)

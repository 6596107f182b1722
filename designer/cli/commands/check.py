"""``designer check``: what the design rules say."""

from __future__ import annotations

import argparse

from designer.cli.command import Command
from designer.cli.design import add_design, opened
from designer.cli.output import finding_dict, print_findings, print_json, print_line, shown_file
from designer.cli.pages import add_page_options, print_page
from designer.errors import FormatError, raised_in
from designer.findings import Severity
from designer.pages.check import page_of_check
from designer.report.names import Naming

_MORE = (
    "A finding is accepted by a waiver in the design (designer waive): code, places, reason, author and last day.\n"
    "designer check --rule CODE prints the page of a rule.\n\n"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--rule", metavar="CODE", action=_Page, help="the page of a rule, without a design")
    add_design(parser)
    parser.add_argument(
        "--profile", choices=("vsphere", "superpod", "lab"), help="which rules: by default what the design looks like"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


class _Page(argparse.Action):
    """Prints a page and ends."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, option: str | None = None
    ) -> None:
        from designer.rules.rule import rules

        rule = rules().get(str(values).upper())
        if rule is None:
            raise FormatError(f"there is no rule {values!r}", place="--rule", remedy=f"there are {', '.join(rules())}")
        print(f"{rule.page.strip()}")
        parser.exit(0)


def run(options: argparse.Namespace) -> int:
    """Check a design."""
    from designer.rules.rule import rules
    from designer.rules.runner import check, named_in_analysis, profile_of

    loaded = opened(options)
    profile = options.profile or str(profile_of(loaded.design))
    with raised_in(file=options.design):
        report = check(loaded.design, profile)
    twice = named_in_analysis()
    known = set(report.findings)
    findings = [*(f for f in loaded.findings if f.code not in twice and f not in known), *report.findings]
    if options.json:
        waived = [
            {
                **finding_dict(w.finding),
                "waiver": w.waiver.id,
                "reason": w.waiver.reason,
                "author": w.waiver.author,
                "expires": w.waiver.expires,
            }
            for w in report.waived
        ]
        print_json(
            {
                "design": {"name": loaded.design.name, "file": shown_file(options.design)},
                "profile": profile,
                "rules": [c for c, r in rules().items() if profile in r.profiles],
                "findings": [finding_dict(f) for f in findings],
                "waived": waived,
            }
        )
    else:
        import sys

        count = sum(profile in r.profiles for r in rules().values())

        def rest() -> None:
            stated = {s: sum(f.severity is s for f in findings) for s in Severity}
            words = [
                f"{n} {s}{'s' if n != 1 else ''}"
                for s, n in zip(("error", "warning", "remark"), stated.values(), strict=True)
            ]
            name = loaded.design.title or loaded.design.name
            print_line(f"{name}: {count} rules of the profile {profile}, {', '.join(words)}")
            if report.waived:
                accepted = ", ".join(f"{w.finding.code} ({w.waiver.author})" for w in report.waived)
                print_line(f"{len(report.waived)} accepted: {accepted}")
            print_findings(findings, sys.stdout, Naming(loaded.design))

        print_page(
            lambda: page_of_check(
                loaded.design, findings, count, profile, options.design, len(report.waived), Naming(loaded.design)
            ),
            options,
            rest,
        )
    return 1 if any(f.severity is Severity.ERROR for f in findings) else 0


COMMAND = Command(
    "check",
    "What the design rules say: errors, warnings and remarks, each with what to do.",
    "designer check dgx-a100 --profile lab",
    add_arguments,
    run,
    _MORE,
)

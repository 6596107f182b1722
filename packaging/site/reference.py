"""Reference pages made from the program, and the front page from README.md."""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def pages() -> dict[str, str]:
    """Every made page by its name."""
    made = {
        "index.md": front(),
        "reference/cli.md": commands(),
        "reference/formulas.md": formulas(),
        "reference/workloads.md": workloads(),
        "reference/rules.md": rules(),
        "reference/schema.md": schema(),
        "reference/validation.md": validation(),
    }
    return {**made, **parts()}


def front() -> str:
    """README.md, with its links to docs/ as seen from there, and others as plain text."""
    text = (ROOT / "README.md").read_text("utf-8")
    text = re.sub(r"\]\(docs/rules/README\.md\)", "](reference/rules.md)", text)
    text = re.sub(r"\]\(docs/([^)]+)\)", r"](\1)", text)
    return re.sub(r"!?\[([^\]]*)\]\((?!https?:|#|[a-z-]+\.md|rules/|reference/|assets/)[^)]*\)", r"\1", text)


def validation() -> str:
    """How wrong predictions were: by area and by workload, from the records that are shipped."""
    import math

    from designer.report.chapters.validation import Record, areas, records, score
    from designer.workload.kind import workload_kinds

    def table(title: str, groups: dict[str, list[Record]]) -> list[str]:
        rows = [f"| {title} | publications and machines | points | off | in their 80 % band | worst |"]
        rows.append("|---|---|---|---|---|---|")
        for name, chosen in groups.items():
            found = score(chosen)
            if found is None:
                rows.append(f"| {name} | 0 | none | | | |")
                continue
            held = "–" if math.isnan(found.coverage) else f"{found.coverage:.0%}"
            off = f"{found.error:.1%} | {held} | {found.worst:.0%}"
            rows.append(f"| {name} | {found.groups} | {found.points} | {off} |")
        return [*rows, ""]

    every = records()
    by_area = {area: [r for r in every if r.area == area] for area in areas()}
    by_kind = {kind.title: [r for r in every if r.kind == name] for name, kind in workload_kinds().items()}
    by_type = {t: [r for r in every if t in r.accelerators] for t in sorted({t for r in every for t in r.accelerators})}
    lines = [
        "# Validation",
        "",
        "Published measurements beside the predictions for designs drawn like them. *Off*:"
        " |ln(predicted ÷ measured)|, the median of a publication or machine, then the mean over those.",
        "",
        "Many of the points were used to fit constants; on machines that were never seen errors are larger:"
        " see [accuracy](../accuracy.md).",
        "",
        "## By area",
        "",
        *table("area", by_area),
        "## By workload",
        "",
        "What has no points was never measured the whole way from a drawing.",
        "",
        *table("workload", by_kind),
        "## By accelerator",
        "",
        *table("accelerator", by_type),
    ]
    return "\n".join(lines)


def commands() -> str:
    """What every command prints as its help."""
    from designer.cli.main import commands as found

    lines = [
        "# Command line",
        "",
        "Exit codes: 0 done and all held; 1 done, but something does not hold; 2 cannot.",
        "",
    ]
    for name, module in found().items():
        command = importlib.import_module(module).COMMAND
        parser = argparse.ArgumentParser(
            prog=f"designer {name}",
            description=command.help,
            epilog=f"{command.more}example: {command.example}",
            formatter_class=functools.partial(argparse.RawDescriptionHelpFormatter, width=98),
        )
        command.add_arguments(parser)
        lines += [f"## {name}", "", command.help, "", "```text", parser.format_help().rstrip(), "```", ""]
    return "\n".join(lines)


def parts() -> dict[str, str]:
    """A list of all parts, and a page for each kind with every value, its band, status and source."""
    from designer.catalog.describe import describe
    from designer.catalog.loader import load_catalog
    from designer.catalog.parttype import part_kinds

    catalog = load_catalog()
    made: dict[str, str] = {}
    head = ["# Parts", "", "| kind | types |", "|---|---|"]
    for kind in part_kinds():
        entries = list(catalog.entries(kind))
        if not entries:
            continue
        head.append(f"| [{kind}](parts/{kind}.md) | {len(entries)} |")
        lines = [f"# {part_kinds()[kind].title}", ""]
        for entry in entries:
            part = catalog.get(entry.id)
            lines += [f"## {cell(part.title)}", "", f"`{part.id}`", ""]
            rows = [(r.title, r.text, r.band, str(r.status), r.source_title) for r in describe(part)]
            lines += table(("value", "", "band", "how sure", "source"), rows)
        made[f"reference/parts/{kind}.md"] = "\n".join(lines)
    return {"reference/parts.md": "\n".join([*head, ""]), **made}


def formulas() -> str:
    """Every formula: what it is, where it holds, where it is from."""
    from designer.catalog.sources import load_sources

    sources = load_sources()
    lines = ["# Formulas", ""]
    family = ""
    for module, formula in _formulas():
        parts = module.split(".")
        if (here := parts[2]) != family:
            family = here
            lines += [f"## {family.replace('_', ' ').capitalize()}", ""]
        lines += [f"### {cell(formula.title)}", "", f"`{module}` · holds: {cell(formula.valid_when)}", ""]
        said = (formula.function.__doc__ or "").strip().partition("\n\n")[0]
        lines += [cell(said), ""]
        lines += [f"- {cell(sources[key].title)}" for key in formula.sources if key in sources] + [""]
    return "\n".join(lines)


def _formulas() -> Iterator[tuple[str, Any]]:
    import designer.families
    import designer.formulas
    from designer.formulas.formula import Formula

    families = [f"designer.families.{info.name}.formulas" for info in pkgutil.iter_modules(designer.families.__path__)]
    packages = ["designer.formulas", *(name for name in families if find_spec(name) is not None)]
    for package in packages:
        for info in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            formula = getattr(importlib.import_module(info.name), "FORMULA", None)
            if isinstance(formula, Formula):
                yield info.name, formula


def workloads() -> str:
    """Kinds of workloads with their settings."""
    from designer.workload.kind import workload_kinds

    lines = ["# Workloads", ""]
    for kind in workload_kinds().values():
        lines += [f"## {cell(kind.title)}", "", f"`{kind.name}`", ""]
        rows = [
            (s.name, s.title, s.dimension, "" if s.default is None else str(s.default), s.help or ", ".join(s.choices))
            for s in kind.settings
        ]
        lines += table(("setting", "title", "dimension", "default", "help"), rows)
    return "\n".join(lines)


def rules() -> str:
    """The list of design rules, with links to their pages."""
    from designer.rules.pages import overview

    return re.sub(r"\]\(([A-Z]+\d+)\.md\)", r"](../rules/\1.md)", overview())


def schema() -> str:
    """The JSON schema of design files."""
    import designer

    folder = Path(designer.__file__).parent / "interchange" / "native" / "schema"
    lines = ["# File format", "", "Designs are JSON; every version has its schema.", ""]
    for file in sorted(folder.glob("*.json")):
        text = json.dumps(json.loads(file.read_text("utf-8")), indent=1, ensure_ascii=False)
        lines += [f"## Version {file.stem.removeprefix('v')}", "", "```json", text, "```", ""]
    return "\n".join(lines)


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """A table of Markdown and a blank line."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return [*lines, *(f"| {' | '.join(cell(c) for c in row)} |" for row in rows), ""]


def cell(text: str) -> str:
    """Text that a table and a heading take as text."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")

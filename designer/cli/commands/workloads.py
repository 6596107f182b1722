"""``designer workloads``: what can be run, with settings and metrics."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any, Final

from designer.cli.command import Command
from designer.cli.output import paragraph, print_json, table
from designer.errors import AnalysisError
from designer.spelling import did_you_mean, known_name
from designer.units import EXAMPLE
from designer.workload.kind import workload_kinds
from designer.workload.metrics import METRICS

if TYPE_CHECKING:
    from designer.workload.kind import Setting, WorkloadKind

#: settings in the example of a file
_SHOWN: Final = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("kind", nargs="?", default="", metavar="KIND", help="its settings and metrics")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(options: argparse.Namespace) -> int:
    """List workload kinds, or show one."""

    kinds = workload_kinds()
    name = known_name(options.kind, kinds)
    if options.kind and name is None:
        remedy = did_you_mean(options.kind, kinds, "see designer workloads")
        raise AnalysisError(f"there is no workload kind {options.kind!r}", remedy=remedy)
    shown = [kinds[name]] if name is not None else list(kinds.values())
    if options.json:
        print_json([as_document(kind) for kind in shown])
    elif options.kind:
        _print(shown[0])
    else:
        print(table(("kind", "title", "what it is"), [(k.name, k.title, k.help) for k in shown]))
        print("\nSettings and metrics of one: designer workloads KIND")
    return 0


def as_document(kind: WorkloadKind) -> dict[str, Any]:
    """The JSON that scripts rely on."""

    return {
        "name": kind.name,
        "title": kind.title,
        "help": kind.help,
        "settings": [
            {
                "name": s.name,
                "title": s.title,
                "dimension": s.dimension,
                "default": s.default,
                "choices": list(s.choices),
                "help": s.help,
            }
            for s in kind.settings
        ],
        "metrics": [{"name": name, "unit": METRICS[name].unit, "help": METRICS[name].help} for name in kind.metrics],
    }


def _print(kind: WorkloadKind) -> None:
    print(f"{kind.title}  ({kind.name})\n" + (paragraph("", kind.help) + "\n" if kind.help else ""))
    settings = [(s.name, _form(s), _default(s), ": ".join(t for t in (s.title, s.help) if t)) for s in kind.settings]
    print(table(("setting", "form", "default", "what it is"), settings))
    print()
    metrics = [(name, METRICS[name].unit, METRICS[name].help) for name in kind.metrics]
    print(table(("metric", "unit", "meaning"), metrics))
    given = {s.name: s.default or s.dimension for s in kind.settings if s.default is None or s.default}
    # as many settings as fit one line
    settings = dict(list(given.items())[:_SHOWN])
    print("\nIn a file, mine.json, for designer analyze DESIGN --workload-file mine.json:\n")
    print(json.dumps({"id": "mine", "kind": kind.name, "settings": settings}))


def _form(setting: Setting) -> str:
    if setting.choices:
        return " | ".join(setting.choices)
    example = EXAMPLE.get(setting.dimension)
    if example is not None:
        return f'{setting.dimension}, like "{example}"'
    return {"flag": "true | false", "count": "whole number"}.get(setting.dimension, setting.dimension)


def _default(setting: Setting) -> str:
    if setting.default is None:
        return "(needed)"
    return str(setting.default).lower() if isinstance(setting.default, bool) else str(setting.default)


COMMAND = Command(
    "workloads",
    "What can be run on a design: kinds of workload, their settings and the metrics they give.",
    "designer workloads training",
    add_arguments,
    run,
)

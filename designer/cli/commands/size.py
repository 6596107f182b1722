"""``designer size``: the smallest set of the drawn parts that serves a load within its limits."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from designer.cli.command import Command
from designer.cli.design import add_design

if TYPE_CHECKING:
    from designer.analysis.serving.sizing import Sized


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument(
        "--for", metavar="LOAD", dest="load", help="id of the serving workload; the only one by default"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(options: argparse.Namespace) -> int:
    """Find a size."""
    from designer.analysis.network import build_network
    from designer.analysis.serving.sizing import size_serving
    from designer.cli.design import opened
    from designer.cli.output import print_json, progress_bar, shown_file
    from designer.errors import DesignerError
    from designer.workload.kind import lower
    from designer.workload.serving import Serving

    loaded = opened(options)
    design = loaded.design
    place = ""
    try:
        chosen = _chosen(options.load, {k: w.kind for k, w in design.workloads.items()})
        spec, place = design.workloads[chosen], f"workloads.{chosen}"
        operation = lower(spec.kind, spec.settings, place)
        assert isinstance(operation, Serving)
        found = size_serving(build_network(design), operation, place, progress_bar())
    except DesignerError as error:
        raise error.at(file=options.design) from None
    if options.json:
        print_json({"design": {"name": design.name, "file": shown_file(options.design)}, **as_document(found)})
    else:
        _print(found)
    return 0 if found.best is not None else 1


def _chosen(asked: str | None, kinds: dict[str, str]) -> str:
    from designer.errors import AnalysisError

    serving = [name for name, kind in kinds.items() if kind == "serving"]
    if asked is None and len(serving) == 1:
        return serving[0]
    if asked not in serving:
        named = f"{asked!r} is no serving workload of the design" if asked else "say which serving workload is meant"
        known = ", ".join(serving) or "none: add one, for example with --workload-file"
        raise AnalysisError(named, place="--for", remedy=f"its serving workloads: {known}")
    return asked


def as_document(found: Sized) -> dict[str, Any]:
    """The JSON that scripts rely on."""
    rows = [
        {
            "tensor": c.tensor,
            "replicas": c.replicas or None,
            "accelerators": c.accelerators or None,
            "holds": c.holds,
            "why": c.why,
            "ttft": c.ttft if c.holds else None,
            "tpot": c.tpot if c.holds else None,
            "latency": c.latency if c.holds else None,
        }
        for c in found.candidates
    ]
    return {"drawn": found.drawn, "best": rows[0] if found.best else None, "candidates": rows}


def _print(found: Sized) -> None:
    from designer.analysis.serving.sizing import ways

    best = found.best
    if best is None:
        print("no way to serve this load within its limits on these parts:")
    else:
        drawn = f", {found.drawn} are drawn" if best.accelerators > found.drawn else ""
        print(f"{best.accelerators} accelerators: {best.replicas} replicas of {best.tensor}{drawn}; {best.why}\n")
    for line in ways(found.candidates):
        print(f"  {line}")


COMMAND = Command(
    "size",
    "the smallest set of the drawn parts that serves a load within its limits",
    "designer size cluster.design.json --for chat",
    add_arguments,
    run,
)

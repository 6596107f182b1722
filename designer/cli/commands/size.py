"""``designer size``: the smallest set of the drawn parts that serves a load within its limits."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Final

from designer.cli.command import Command
from designer.cli.decision_documents import requests_per_second, size_document
from designer.cli.design import add_design, opened
from designer.cli.output import print_json, print_line, progress_bar, shown_file
from designer.cli.pages import add_page_options, print_page
from designer.decisions.serving_size import size_serving
from designer.engine.network import build_network
from designer.errors import AnalysisError, FormatError, raised_in
from designer.families.serving.limits import largest_load
from designer.families.serving.split_search import best_split
from designer.families.serving.tasks import Serve
from designer.families.serving.widths import placed
from designer.interchange.scripting import swapped
from designer.pages.size import page_of_size
from designer.progress import Watch
from designer.report.settings import load_settings
from designer.units import format_quantity
from designer.workload.kind import task_of, workload_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from designer.decisions.serving_size import Sized
    from designer.design.document import WorkloadSpec
    from designer.engine.network import Network
    from designer.families.serving.deployment import Deployment, Limits, Serving
    from designer.families.serving.placement import Placement


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument(
        "--for", "--workload", metavar="LOAD", dest="load", help="id of the serving workload; the only one by default"
    )
    parser.add_argument(
        "--with",
        metavar="SETTING=VALUE",
        action="append",
        default=[],
        dest="given",
        help='of the load, for this run: "model=config.json", "rate=20 1/s", "ttft_limit=1 s"; without a serving '
        "workload in the design these make one",
    )
    parser.add_argument(
        "--largest", action="store_true", help="the largest load the drawn parts serve within the limits, instead"
    )
    parser.add_argument(
        "--search",
        metavar="WHAT",
        default="",
        help="what else to choose, with commas: engine, weights, cache, budget, slots; all for all of them; split for "
        "prompts and answers on accelerators of their own, with --largest in either role",
    )
    parser.add_argument(
        "--parts",
        metavar="PATTERN",
        action="append",
        default=[],
        help='try other accelerators of the catalog in place of those drawn: "gpu/nvidia/h*"; may be given again',
    )
    parser.add_argument(
        "--prices", metavar="CSV", help="your price list: of several parts the cheapest set, else watts"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """Find a size."""

    loaded = opened(options)
    design = loaded.design
    place = ""
    with raised_in(file=options.design):
        settings, place = _asked(options, {k: w for k, w in design.workloads.items() if w.kind == "serving"})
        served = task_of("serving", settings, place, Serve)
        assert served is not None
        operation = served.operation
        network = build_network(design)
        wide = tuple(piece.strip() for piece in options.search.split(",") if piece.strip())
        if options.largest:
            return _largest(network, operation, place, options.json, split="split" in wide)
        others = swapped(design, options.parts) if options.parts else {}
        networks = {name: build_network(other) for name, other in others.items()}
        cost = _cost(options.prices) if networks else None
        found = size_serving(network, operation, place, Watch(progress_bar()), wide, networks, cost)
    if options.json:
        print_json({"design": {"name": design.name, "file": shown_file(options.design)}, **size_document(found)})
    else:
        load = place.partition(".")[2]
        title = design.workloads[load].title if load else "this load"
        rate = requests_per_second(settings)
        print_page(
            lambda: page_of_size(found, design, title, rate, operation.limits, options.design, load),
            options,
            lambda: _print(found, operation.limits),
        )
    return 0 if found.best is not None else 1


def _cost(file: str | None) -> Callable[[Placement], float]:
    """What an accelerator costs: its price where a list is given, else the watts it may draw."""
    from pathlib import Path

    prices = load_settings(None, Path(file)).prices if file else None
    if prices is None:
        return lambda placement: placement.device.power or 1.0

    def price(placement: Placement) -> float:
        part = placement.network.net.part(int(placement.replicas.flat[0]))
        known = prices.get(part.type.lower()) or prices.get(placement.device.name.lower())
        if known is None:
            raise FormatError(f"the price list does not hold {part.type}", file=file, remedy="add it, or leave it out")
        return known.price

    return price


def _largest(network: Network, operation: Serving, place: str, as_json: bool, *, split: bool) -> int:
    """What the drawn parts serve within the limits."""

    document: dict[str, object]
    deployment = operation.deployment
    if deployment.prompts or split:
        both = replace(deployment, prompts=deployment.prompts or deployment.group)
        found = best_split(network, replace(operation, deployment=both), place, free=split)
        rate, words, why, chosen = found.rate, found.best.words, list(found.why), found.best.deployment
        replicas, width = chosen.replicas, chosen.tensor * max(1, chosen.data)
        document = {
            "prompt_replicas": chosen.prompt_replicas,
            "prompt_tensor": chosen.prompt_tensor,
            "prompt_group": chosen.prompts,
            "group": chosen.group,
        }
        why.append(f"settings: {_settings(deployment, chosen)}")
    else:
        placement = placed(network, operation, place)
        rate = largest_load(placement, operation)
        replicas, width = placement.replicas.shape
        words, document = f"{replicas} replicas of {width}", {}
        why = [finding.text for finding in placement.findings if finding.code == "SERVE-OPERATED"]
    if as_json:
        print_json({"requests_per_second": rate, "replicas": replicas, "tensor": width, **document, "why": why})
    elif rate > 0:
        print(f"{format_quantity(rate, 'frequency')} within the limits, by {words}")
        for text in why:
            print_line(f"  {text}", "    ")
    else:
        print("no load keeps the limits on these parts")
    return 0 if rate > 0 else 1


def _settings(asked: Deployment, chosen: Deployment) -> str:
    """What a deployment sets other than was asked for, as settings of its workload."""
    found: list[str] = []
    for field in fields(chosen):
        value = getattr(chosen, field.name)
        if value != getattr(asked, field.name):
            found.append(f"{'prompt_group' if field.name == 'prompts' else field.name}={value}")
    return ", ".join(found)


def _asked(options: argparse.Namespace, serving: Mapping[str, WorkloadSpec]) -> tuple[dict[str, object], str]:
    """Settings of the load, and where they are placed."""

    given: dict[str, object] = {}
    for text in options.given:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise AnalysisError(f"{text!r} is no SETTING=VALUE", place="--with", remedy="such as --with 'rate=20 1/s'")
        given[name.strip()] = _typed(name.strip(), value.strip())
    for name in _LOOKED_FOR & given.keys():
        print_line(f"note: {name} is what is looked for: the one given is not kept to", stream=sys.stderr)
    asked: str | None = options.load
    if asked is None and not serving and given:
        return given, "--with"
    if asked is None and len(serving) == 1:
        asked = next(iter(serving))
    if asked is None or asked not in serving:
        named = f"{asked!r} is no serving workload of the design" if asked else "say which serving workload is meant"
        known = ", ".join(serving) or "none: give the load by --with, for example --with model=llama-3-70b"
        other = "; designer analyze --workload answers other kinds, storage sizing among them" if asked else ""
        raise AnalysisError(named, place="--for", remedy=f"its serving workloads: {known}{other}")
    return {**serving[asked].settings, **given}, f"workloads.{asked}"


#: settings that the search chooses
_LOOKED_FOR: Final = frozenset({"tensor", "replicas"})


def _typed(name: str, value: str) -> object:
    """A value as its setting wants it: counts and flags are no text."""

    known = {s.name: s.dimension for s in workload_kinds()["serving"].settings}
    if known.get(name) == "count" and value.isdecimal():
        return int(value)
    if known.get(name) == "flag" and value in ("true", "false"):
        return value == "true"
    return value


def _print(found: Sized, limits: Limits) -> None:
    best = found.best
    if best is None:
        print("no way to serve this load within its limits on these parts:")
    else:
        drawn = f", {found.drawn} are drawn" if best.accelerators > found.drawn else ""
        chosen = f" with {best.choice}" if best.choice else ""
        print_line(f"{best.needed}: {best.replicated} of {best.tensor}{chosen}{drawn}; {best.why}", "  ")
        times = [(best.ttft, limits.ttft, "first token"), (best.latency, limits.latency, "answer")]
        stated = [
            f"{what} {format_quantity(value, 'duration')}"
            + (f" (limit {format_quantity(most, 'duration')})" if most else "")
            for value, most, what in times
        ]
        each = format_quantity(best.tpot, "duration")
        print_line(
            f"  within which {limits.share:.0%} of requests have their {', their '.join(stated)}; {each} a token",
            "    ",
        )
        for bottleneck in found.binding:
            print_line(f"  bottleneck: {bottleneck.label}: {bottleneck.why}", "    ")
        print()
    for candidate in found.candidates:
        print_line(f"  {candidate.words}", "    ")
    for stated in found.findings:
        print_line(f"{stated.severity}: {stated.code}: {stated.text} — {stated.remedy}", stream=sys.stderr)


COMMAND = Command(
    "size",
    "the smallest set of the drawn parts that serves a load within its limits",
    "designer size cluster.design.json --for chat",
    add_arguments,
    run,
)

"""``designer summary``: what is in a design."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from designer.cli.command import Command
from designer.cli.design import add_design, opened
from designer.cli.documents import ids_of
from designer.cli.output import print_findings, print_json, print_line, shown_file, table
from designer.cli.pages import add_page_options, print_page
from designer.design.query import summarize
from designer.engine.machines.placement import place_vms
from designer.engine.network import build_network
from designer.pages.summary import page_of_summary

if TYPE_CHECKING:
    from designer.design.document import Design
    from designer.findings import Finding


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument("--ids", action="store_true", help="every part, link and group with its id")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """Count parts and links after elaboration."""

    loaded = opened(options)
    summary = summarize(loaded.design, shown_file(options.design))
    if options.ids:
        summary["ids"] = dict(ids_of(loaded.design, ""))
    machines, broken = _machines(loaded.design)
    if machines:
        summary["virtual_machines"] = machines
    if options.json:
        print_json(summary)
    else:

        def rest() -> None:
            for line in (loaded.design.title or loaded.design.name, loaded.design.intent):
                if line:
                    print_line(line)
            print()
            print(table(("parts", "count"), [(k, f"{n:,}") for k, n in summary["parts"].items()], (1,)), end="\n\n")
            print(table(("links", "count"), [(k, f"{n:,}") for k, n in summary["links"].items()], (1,)), end="\n\n")
            workloads = ", ".join(summary["workloads"]) or "none"
            counts = (("group", summary["groups"]), ("virtual machine", summary["vms"]))
            words = [f"{n:,} {what}{'s' if n != 1 else ''}" for what, n in counts]
            print_line(f"{', '.join(words)}, workloads: {workloads}")
            if options.ids:
                rows = [(id, what["what"], what["kind"], what["type"]) for id, what in summary["ids"].items()]
                print("\n" + table(("id", "what", "kind", "type, ends or number"), rows))
            if machines:
                headings = ("id", "machine", "host", "sockets", "vCPUs", "memory", "devices", "compute", "GPU memory")
                rows = [
                    (
                        m["id"],
                        m["name"],
                        m["host"] or "–",
                        ", ".join(str(s) for s in m["sockets"]),
                        str(m["vcpus"]),
                        m["memory"],
                        ", ".join(d["shown"] for d in m["devices"]),
                        ", ".join(f"{d['compute_share']:.0%}" for d in m["devices"] if d["gpu"]),
                        ", ".join(f"{d['memory_share']:.0%}" for d in m["devices"] if d["gpu"]),
                    )
                    for m in machines
                ]
                print("\n" + table(headings, rows, (4, 5)))

        print_page(lambda: page_of_summary(loaded.design, summary, options.design), options, rest)
    print_findings([*loaded.findings, *broken])
    return 0


def _machines(design: Design) -> tuple[list[dict[str, Any]], Sequence[Finding]]:
    """The virtual machines where they are placed, and the rules they break."""
    if not design.vms:
        return [], ()

    placement = place_vms(build_network(design))
    rows: list[dict[str, Any]] = []
    for vm in design.vms.values():
        placed = placement.placed.get(vm.id)
        pairs = zip(placed.devices, placement.shares[vm.id], strict=True) if placed is not None else ()
        rows.append(
            {
                "id": vm.id,
                "name": vm.label,
                "host": placed.host.path if placed is not None else None,
                "sockets": list(placed.sockets) if placed is not None else [],
                "vcpus": vm.vcpus,
                "memory": vm.memory,
                "devices": [
                    {
                        "kind": d.kind,
                        "part": d.part,
                        "profile": d.profile,
                        "shown": d.shown,
                        "placement": d.start,
                        "gpu": d.gpu is not None,
                        "compute_share": share.compute,
                        "memory_share": share.memory,
                        "bandwidth_share": share.bandwidth,
                    }
                    for d, share in pairs
                ],
                "nvlinks_cut": len(placement.cut[vm.id].pairs) if vm.id in placement.cut else 0,
            }
        )
    return rows, placement.findings


COMMAND = Command(
    "summary",
    "What is in a design: parts and links by kind, replicas multiplied.",
    "designer summary dgx-a100 --json",
    add_arguments,
    run,
)

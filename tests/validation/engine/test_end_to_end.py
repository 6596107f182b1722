"""Published measurements against whole designs: drawn, routed, allocated, estimated. See README.md for the table."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from designer.analysis.study import analyze
from designer.design.document import Block, Design, Group, Part, Wiring, WorkloadSpec, replaced, with_changes
from designer.formulas.scoring import Scored, Sided, band_score, group_medians, macro_mean, point_error
from designer.interchange.templates import open_design
from designer.sources import Estimate

pytestmark = pytest.mark.xdist_group("end to end")

FOLDER = Path(__file__).parents[1]
#: thresholds of a publisher are lower bounds that a healthy server passes by at most this factor
SLACK = 1.15

#: what a family of cases was measured on: template, servers, GPUs (all by default)
COLLECTIVES: Final[dict[str, tuple[str, int, str]]] = {
    "aws-p5-1n-": ("hgx-h100-8", 1, "gpus"),
    "aws-p4de-2n-": ("aws-p4d", 2, "gpus"),
    "stas-a100-8-": ("hgx-a100-8", 1, "gpus"),
    "stas-h200-8": ("hgx-h200-8", 1, "gpus"),
    "stas-h200-4gpu-": ("hgx-h200-8", 1, "gpu{0-3}"),
    "stas-h200-5gpu-": ("hgx-h200-8", 1, "gpu{0-4}"),
    "stas-h200-6gpu-": ("hgx-h200-8", 1, "gpu{0-5}"),
    "stas-h200-7gpu-": ("hgx-h200-8", 1, "gpu{0-6}"),
    "llmcompass-4a100": ("dell-xe8545", 1, "gpus"),
    "vidur-a100-dgx-2w2-": ("dgx-a100", 1, "gpu{0-1}"),
    "vidur-a100-dgx-4w4-": ("dgx-a100", 1, "gpu{0-3}"),
    "vidur-a100-dgx-8w8-": ("dgx-a100", 1, "gpus"),
    "vidur-h100-dgx-2w2-": ("dgx-h100", 1, "gpu{0-1}"),
    "vidur-h100-dgx-4w4-": ("dgx-h100", 1, "gpu{0-3}"),
    "vidur-h100-dgx-8w8-": ("dgx-h100", 1, "gpus"),
    "vidur-h100-dgx-2w1-": ("dgx-h100", 2, "gpu0"),
    "nccltests178-2gpu-": ("azure-ncv4-a100-pcie", 1, "gpu{0-1}"),
    "nccltests178-3gpu-": ("azure-ncv4-a100-pcie", 1, "gpu{0-2}"),
    "nccltests212-": ("hgx-h100-8", 1, "gpus"),
    "nccltests149-apollo-": ("hpe-xl675d-gen10plus", 1, "gpus"),
    "azure-ndv2-": ("azure-ndv2-v100", 1, "gpus"),
    "azure-nc96ads-": ("azure-ncv4-a100-pcie", 1, "gpus"),
    "azure-nc48ads-": ("azure-ncv4-a100-pcie", 1, "gpu{0-1}"),
    "azure-nd96-": ("azure-ndv4-a100", 1, "gpus"),
    "azure-nd-h100-": ("azure-ndv5-h100", 1, "gpus"),
}
#: template, servers, from, to, both ways at once
TRANSFERS: Final[dict[str, tuple[str, int, str, str, bool]]] = {
    "nvbandwidth-readme-d2d": ("dgx-a100", 1, "gpu0", "gpu1", False),
    "nvbandwidth-readme-h2d": ("dgx-a100", 1, "memory0", "gpu0", False),
    "stas-h200-h2d": ("hgx-h200-8", 1, "memory0", "gpu0", False),
    "stas-h200-d2h": ("hgx-h200-8", 1, "gpu0", "memory0", False),
    "stas-h200-d2d-uni": ("hgx-h200-8", 1, "gpu0", "gpu1", False),
    "stas-h200-d2d-duplex": ("hgx-h200-8", 1, "gpu0", "gpu1", True),
    "stas-a100-p2p": ("hgx-a100-8", 1, "gpu0", "gpu1", False),
    "stas-h100-p2p": ("hgx-h100-8", 1, "gpu0", "gpu1", False),
    "bam54-v100": ("dgx1-v100", 1, "memory0", "gpu0", False),
    "bam54-a100": ("dgx-a100", 1, "memory0", "gpu0", False),
    "dell-v100-pair": ("dgx1-v100", 1, "gpu0", "gpu3", False),
    "nccltests290-ndr": ("hgx-h100-8", 2, "gpu0", "gpu0", False),
}


def servers(template: str, n: int) -> Design:
    """One server of a template, or some of them around one switch, all compute NICs cabled."""
    design = open_design(template)
    if n == 1:
        return design
    content = Block(parts=design.parts, links=design.links, groups=design.groups, wirings=design.wirings)
    net = {"kind": "infiniband", "bandwidth_per_direction": "400 Gb/s"}
    if template == "aws-p4d":
        net = {"kind": "ethernet", "bandwidth_per_direction": "100 Gb/s", "attributes": {"technology": "EFA"}}
    return Design(
        name="servers",
        part_types=design.part_types,
        sources=design.sources,
        parts={"sw": Part(id="sw", kind="switch")},
        groups={"s": Group(id="s", replicas=n, content=content)},
        wirings={"net": Wiring.model_validate({"id": "net", "pattern": "mesh", "a": "s[*]/nic*", "b": "sw", **net})},
    )


def metric(design: Design, kind: str, name: str, **settings: Any) -> Estimate:
    asked = WorkloadSpec(id="asked", kind=kind, settings=settings)
    found = analyze(with_changes(design, workloads=replaced({}, [asked])), curves=False)
    return found.workloads[0].metrics[name]


def chosen(n: int, gpus: str) -> str:
    return f"s[*]/{gpus}" if n > 1 and gpus != "gpus" else gpus


def algorithm(case: dict[str, Any]) -> str:
    """What the publisher forced: an algorithm, or no reduction in the switch."""
    off = "nvls-off" in case["id"]
    return "ring" if off else {"ring": "ring", "nvls": "in-switch"}.get(case.get("algorithm", ""), "auto")


def collectives() -> Iterator[tuple[str, Scored]]:
    for case in json.loads((FOLDER / "collectives" / "cases.json").read_text("utf-8")):
        family = max((f for f in COLLECTIVES if case["id"].startswith(f)), key=len, default=None)
        if family is None:
            continue
        template, n, gpus = COLLECTIVES[family]
        situation = case["situation"]
        bottleneck = case["metric"].endswith("lower_bound")
        found = metric(
            servers(template, n),
            "collective",
            "communication_time" if case["metric"] == "time" else "bus_bandwidth",
            collective=situation["kind"],
            group=chosen(n, gpus),
            size=f"{situation['message']} B",
            algorithm=algorithm(case),
        )
        sided, slack = (Sided.LOWER, SLACK) if bottleneck else (Sided.BOTH, math.inf)
        yield case["id"], Scored(case["group"], found.value, case["value"], found.low, found.high, sided, slack)


def transfers() -> Iterator[tuple[str, Scored]]:
    for case in json.loads((FOLDER / "transfers" / "cases.json").read_text("utf-8")):
        if case["id"] not in TRANSFERS:
            continue
        template, n, source, target, both = TRANSFERS[case["id"]]
        ends = {"from": source, "to": target} if n == 1 else {"from": f"s[0]/{source}", "to": f"s[1]/{target}"}
        found = metric(servers(template, n), "transfer", "rate", **ends, both_ways=both)
        half = 2.0 if both else 1.0
        yield (
            case["id"],
            Scored(case["group"], found.value / half, case["value"], found.low / half, found.high / half),
        )


@cache
def points() -> dict[str, dict[str, Scored]]:
    """The cases of each area, predicted."""
    return {"collective": dict(collectives()), "transfer": dict(transfers())}


def every() -> dict[str, Scored]:
    return {name: point for area in points().values() for name, point in area.items()}


def test_all_cases_with_a_template_are_here():
    assert len(points()["collective"]) == 69
    assert len(points()["transfer"]) == len(TRANSFERS) == 12


def test_no_point_is_far_off():
    """Small messages measure the launch of a benchmark as much as the machine.

    The furthest of the others are 8 MiB over EFA on two p4de, whose step is a compromise between four publications.
    """
    small = ("-8b", "-1024b", "-32kib", "-1mib")
    errors = {name: point_error(point) for name, point in every().items()}
    assert {name: e for name, e in errors.items() if e >= (1.0 if name.endswith(small) else 0.36)} == {}


@pytest.mark.parametrize(("area", "limit"), [("collective", 0.05), ("transfer", 0.015)])
def test_mean_over_sources(area: str, limit: float):
    assert macro_mean(points()[area].values()) < limit
    assert max(group_medians(points()[area].values()).values()) < 0.11


def test_bands_hold_at_least_as_often_as_they_say():
    score = band_score(every().values())
    assert score.coverage >= 0.8
    # machines of one kind differ by 4 %, which every band of a collective holds
    assert score.width < 0.14


def test_bottlenecks_hold():
    """But for one machine, whose template says that its pairs sit on two sockets."""
    broken = {name for name, p in every().items() if p.sided is not Sided.BOTH and point_error(p) > 0}
    assert broken <= {"azure-nc96ads-threshold-all-reduce-8gib"}
    assert all(point_error(every()[name]) < 0.13 for name in broken)

"""Migration without what one publication measured: ``python -m tests.validation.migration.left_out``.

Constants that are read off the publication fall back on what is known without it: defaults the hypervisor documents,
the same quantity of another monitor, release or compression, or that nothing limits there. Constants that others
support as well stay.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from statistics import mean, median
from typing import Any
from unittest.mock import patch

from designer.families.machines.formulas import _esxi, kvm_bandwidth, vgpu_stun, vmotion_streams
from designer.families.machines.formulas._qemu import ZERO_SCAN
from designer.families.machines.formulas.kvm_bandwidth import Compression, Monitor, Transport
from designer.formulas.collectives import NetworkKind
from designer.formulas.collectives import _constants as collectives
from designer.formulas.scoring import Scored, Sided, band_score, group_medians, log_error
from designer.sources import Constant, Estimate
from tests.validation.migration import test_migration_cases as cases
from tests.validation.migration.test_migration_cases import CASES, scored


def _unlimited(of: Constant) -> Constant:
    return replace(of, value=1e15, low=1e15, high=1e15)


def _after(rate: Constant) -> Constant:
    """A rate with the copy over a link of 32 Gb/s after it."""
    copy = collectives.NETWORK[NetworkKind.INFINIBAND].value * _QDR
    value, low, high = (1 / (1 / copy + 1 / each) for each in (rate.value, rate.low, rate.high))
    return replace(rate, value=value, low=low, high=high)


#: InfiniBand QDR after its line code [B/s]
_QDR = 4e9
_RATIO, _COMPRESSED = kvm_bandwidth.RATIO, kvm_bandwidth.COMPRESSED
_ZLIB, _ZSTD, _QATZIP = Compression.ZLIB, Compression.ZSTD, Compression.QATZIP
_U3 = vgpu_stun.VOLTA_67_START, vgpu_stun.VOLTA_67_RATE
_EACH = vmotion_streams.EACH_STREAM
#: publication → what its constants are replaced with, by module and name
WITHOUT: Mapping[str, tuple[tuple[Any, str, Any], ...]] = {
    # ESXi plans 15 Gb/s a stream
    "vmware-vmotion-kb": (
        (vmotion_streams, "FIRST_STREAM", replace(vmotion_streams.FIRST_STREAM, value=0.0, low=0.0, high=0.0)),
        (vmotion_streams, "EACH_STREAM", replace(_esxi.STREAM_PLANNED, low=_EACH.low, high=_esxi.STREAM_PLANNED.value)),
    ),
    # the documented table of the release before, usual and worst alike
    "vmware-vgpu-v100": (
        (vgpu_stun, "EXPECTED_70_START", _U3[0]),
        (vgpu_stun, "EXPECTED_70_RATE", _U3[1]),
        (vgpu_stun, "WORST_70_START", _U3[0]),
        (vgpu_stun, "WORST_70_RATE", _U3[1]),
    ),
    # a connection of the other monitor
    "cloud-hypervisor/pr7669": ((kvm_bandwidth, "CHANNEL_CLOUD_HYPERVISOR", kvm_bandwidth.CHANNEL_QEMU),),
    # what collectives get of InfiniBand; pinning and registering touch pages as any thread does for the first time
    "qemu-rdma": (
        (kvm_bandwidth, "RDMA_SHARE", collectives.NETWORK[NetworkKind.INFINIBAND]),
        (kvm_bandwidth, "RDMA_REGISTERING", _after(kvm_bandwidth.POPULATION)),
        (kvm_bandwidth, "RDMA_PINNING", kvm_bandwidth.POPULATION),
    ),
    # the other publication's compression, as well as its cores do it
    "qemu-mtc-2015": (
        (kvm_bandwidth, "RATIO", {**_RATIO, _ZLIB: _RATIO[_ZSTD]}),
        (kvm_bandwidth, "COMPRESSED", {**_COMPRESSED, _ZLIB: _COMPRESSED[_ZSTD]}),
        (cases, "_HANDED", Estimate(ZERO_SCAN.value, ZERO_SCAN.low, ZERO_SCAN.high, "B/s")),
    ),
    "qemu-qatzip-doc": (
        (kvm_bandwidth, "RATIO", {**_RATIO, _ZSTD: _RATIO[_ZLIB], _QATZIP: _RATIO[_ZLIB]}),
        (
            kvm_bandwidth,
            "COMPRESSED",
            {
                **_COMPRESSED,
                _ZSTD: _unlimited(_COMPRESSED[_ZSTD]),
                _QATZIP: _unlimited(_COMPRESSED[_QATZIP]),
            },
        ),
    ),
}


_CHANNEL = kvm_bandwidth._CHANNEL  # pyright: ignore[reportPrivateUsage]
#: hypervisor, transport or engine → what its constants are replaced with, whoever published them
WITHOUT_KIND: Mapping[str, tuple[tuple[Any, str, Any], ...]] = {
    "cloud-hypervisor": WITHOUT["cloud-hypervisor/pr7669"],
    # one connection of the other monitor
    "qemu": ((kvm_bandwidth, "_CHANNEL", {**_CHANNEL, Monitor.QEMU: kvm_bandwidth.CHANNEL_CLOUD_HYPERVISOR}),),
    "rdma": WITHOUT["qemu-rdma"],
    "rdma, all memory pinned": WITHOUT["qemu-rdma"],
    # another engine
    "zlib": WITHOUT["qemu-mtc-2015"][:2],
    "zstd": (
        (kvm_bandwidth, "RATIO", {**_RATIO, _ZSTD: _RATIO[_ZLIB]}),
        (kvm_bandwidth, "COMPRESSED", {**_COMPRESSED, _ZSTD: _COMPRESSED[_QATZIP]}),
    ),
    "qatzip": (
        (kvm_bandwidth, "RATIO", {**_RATIO, _QATZIP: _RATIO[_ZSTD]}),
        (kvm_bandwidth, "COMPRESSED", {**_COMPRESSED, _QATZIP: _COMPRESSED[_ZSTD]}),
    ),
}


def _combination(case: Mapping[str, Any]) -> tuple[Monitor, Transport, Compression] | None:
    """What a KVM case combines, None of another hypervisor."""
    if case["model"] != "kvm":
        return None
    named = case.get("monitor", "qemu"), case.get("transport", "tcp"), case.get("compression", "none")
    return Monitor(named[0]), Transport(named[1]), Compression(named[2])


def _predicted(case: Mapping[str, Any], replaced: Sequence[tuple[Any, str, Any]], without: Sequence[Any]) -> Scored:
    """A case without some constants; combinations that only these cases measured are measured no more."""
    left = {_combination(other) for other in CASES if other not in without}
    gone = {_combination(other) for other in without} - left
    with ExitStack() as stack:
        for module, name, value in replaced:
            stack.enter_context(patch.object(module, name, value))
        stack.enter_context(patch.object(kvm_bandwidth, "MEASURED", kvm_bandwidth.MEASURED - gone))
        return scored(dict(case))


def points() -> list[Scored]:
    """Every case predicted without the publication it is from."""
    return [
        _predicted(case, WITHOUT.get(case["group"], ()), [other for other in CASES if other["group"] == case["group"]])
        for case in CASES
    ]


def by_kind() -> Mapping[str, list[Scored]]:
    """Cases of each hypervisor, transport and engine, predicted without what is known of it."""
    found: dict[str, list[Scored]] = {}
    for kind, replaced in WITHOUT_KIND.items():
        mine = [case for case in CASES if kind in {str(each) for each in _combination(case) or ()}]
        found[kind] = [_predicted(case, replaced, mine) for case in mine]
    return found


def errors() -> Mapping[str, float]:
    """Median error of every publication, left out."""
    return group_medians(points())


def coverages() -> Mapping[str, float]:
    """Share of the points of every publication, left out, that lie in their bands."""
    groups: dict[str, list[Scored]] = {}
    for point in points():
        if point.sided is Sided.BOTH:
            groups.setdefault(point.group, []).append(point)
    return {group: band_score(each).coverage for group, each in groups.items()}


if __name__ == "__main__":
    medians, held = errors(), coverages()
    for group, error in medians.items():
        bands = f", bands hold {held[group]:.0%}" if group in held else ""
        sys.stdout.write(f"{group}: {error:.1%}{bands}\n")
    for kind, scores in by_kind().items():
        score = band_score(scores)
        error = median(log_error(each.predicted, each.measured) for each in scores)
        sys.stdout.write(f"{kind}: {error:.1%}, bands hold {score.coverage:.0%} of {len(scores)}\n")
    sys.stdout.write(f"mean: {mean(medians.values()):.1%}, bands hold {mean(held.values()):.0%}\n")

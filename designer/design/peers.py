"""Compares equal parts of a design: a link that is slower than the same link of its twins is probably degraded.

A riser that trained at half its lanes, or a GPU that lost an NVLink, looks plausible alone and odd beside its twins.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from designer.catalog.parttype import Capability, part_kinds
from designer.design.document import Design, Link, Part, Wiring
from designer.design.elaborate import Int, Netlist, elaborate
from designer.design.rates import raw_rate
from designer.findings import Finding, Severity
from designer.sources import Status
from designer.units import format_quantity


@dataclass(frozen=True, slots=True)
class _Seen:
    """One PCIe link of one part, as compared with its twins."""

    part: int
    link: int
    rate: float


def degraded_links(design: Design) -> tuple[Finding, ...]:
    """Findings about links that are slower or fewer than those of equal parts in the same design.

    Equal are parts of the same kind with the same type, or the same PCI vendor and device. PCIe links are compared by
    raw rate, links to NVSwitches by their number. Assumed rates prove nothing and are left out.
    """
    net = elaborate(design)
    return (*_slow_pcie(net), *_missing_nvlinks(design, net))


def faster_twin(design: Design, path: str) -> Link | Wiring | None:
    """The link of an equal part that makes the link at `path` look degraded; None where it does not."""
    net = elaborate(design)
    for slow, best in _slow_pairs(net):
        if net.link_path(slow.link) == path:
            return net.link(best.link)
    return None


def _slow_pcie(net: Netlist) -> list[Finding]:
    return [_slow_finding(net, slow, best) for slow, best in _slow_pairs(net)]


def _slow_pairs(net: Netlist) -> list[tuple[_Seen, _Seen]]:
    """Links slower than the fastest of their twins, each with that one."""
    twins: dict[tuple[str, str], list[_Seen]] = defaultdict(list)
    for a, b, link_def, first in _distinct(net):
        link = net.link_defs[link_def]
        rate, status = raw_rate(link)
        if link.kind != "pcie" or status is Status.ASSUMED:
            continue
        for part_def, end in ((a, net.link_a), (b, net.link_b)):
            key = _twin_key(net.part_defs[part_def])
            if key is not None:
                twins[key].append(_Seen(int(end[first]), first, rate * link.count))
    found: list[tuple[_Seen, _Seen]] = []
    for seen in twins.values():
        best = max(seen, key=lambda s: s.rate)
        found += [(slow, best) for slow in seen if slow.rate < best.rate * 0.75 and slow.part != best.part]
    return found


def _slow_finding(net: Netlist, slow: _Seen, best: _Seen) -> Finding:
    slow_link, best_link = net.link(slow.link), net.link(best.link)
    return Finding(
        "LINK-DEGRADED",
        Severity.WARNING,
        f"{net.path(slow.part)} is connected at {speed_text(slow_link)}, its twin {net.path(best.part)} at "
        f"{speed_text(best_link)}",
        (net.path(slow.part), net.link_path(slow.link)),
        "check riser, slot and cable, or the idle state in which the speed was read",
    )


def _missing_nvlinks(design: Design, net: Netlist) -> list[Finding]:
    """Parts with fewer links to NVSwitches than their twins."""
    kinds = [p.kind for p in net.part_defs]
    switch = np.array([k == "nvswitch" for k in kinds], dtype=bool)
    nvlink = np.array([link.kind == "nvlink" for link in net.link_defs], dtype=bool)
    if not switch.any() or not nvlink.any():
        return []
    counts = np.array([link.count for link in net.link_defs], dtype=np.int64)[net.link_def]
    chosen = nvlink[net.link_def] & (switch[net.part_def[net.link_a]] != switch[net.part_def[net.link_b]])
    total = np.zeros(net.n_parts, dtype=np.int64)
    for end in (net.link_a, net.link_b):
        np.add.at(total, end[chosen], counts[chosen])
    twins: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index in np.flatnonzero(total):
        key = _twin_key(net.part(int(index)))
        if key is not None:
            twins[key].append(int(index))
    found: list[Finding] = []
    for indices in twins.values():
        best = max(indices, key=lambda i: int(total[i]))
        found += [_missing_finding(net, index, best, total) for index in indices if total[index] < total[best]]
    return found


def _missing_finding(net: Netlist, index: int, best: int, total: Int) -> Finding:
    return Finding(
        "NVLINK-MISSING",
        Severity.WARNING,
        f"{net.path(index)} has {total[index]} NVLinks to the switches, its twin {net.path(best)} has {total[best]}",
        (net.path(index),),
        "check the state of its NVLinks",
    )


def _distinct(net: Netlist) -> list[tuple[int, int, int, int]]:
    """Each different (part, part, link) definition once, with the number of its first link."""
    if not len(net.link_def):
        return []
    rows = np.stack([net.part_def[net.link_a], net.part_def[net.link_b], net.link_def], axis=1)
    _, first = np.unique(rows, axis=0, return_index=True)
    return [(*(int(v) for v in rows[i]), int(i)) for i in sorted(first.tolist())]  # type: ignore[misc]


def _twin_key(part: Part) -> tuple[str, str] | None:
    """What makes parts comparable: kind and product; None for parts that only pass traffic on, and unknown products."""
    kind = part_kinds().get(part.kind)
    if kind is None or Capability.SWITCH in kind.capabilities:
        return None
    ids = (part.attributes.get("vendor", ""), part.attributes.get("device", ""))
    product = part.type or ":".join(ids) if part.type or all(ids) else part.attributes.get("product", "")
    return (part.kind, product) if product else None


def speed_text(link: Link | Wiring) -> str:
    """Generation and lanes of a link where they tell its speed, else its rate."""
    if link.generation is not None and link.lanes is not None and link.bandwidth_per_direction is None:
        return f"Gen{link.generation} x{link.lanes}"
    return format_quantity(raw_rate(link)[0], "rate")

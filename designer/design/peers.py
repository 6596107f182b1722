"""Compares equal parts of a design: a link that is slower than the same link of its twins is probably degraded.

A riser that trained at half its lanes, or a GPU that lost an NVLink, looks plausible alone and odd next to its twins.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

import numpy as np

from designer.catalog.parttype import Capability, part_kinds
from designer.design.document import Design, Link, Part, Wiring
from designer.design.elaborate import Int, Netlist, distinct_links, elaborate
from designer.design.rates import raw_rate
from designer.design.shapes import Shape
from designer.findings import Finding, Severity
from designer.memo import memo
from designer.sources import Status
from designer.units import format_quantity

#: shapes of which the links to NVSwitches are known
SHAPES_LIMIT: Final = 64


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
    for a, b, link_def, first in _distinct_definitions(net):
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
    switch = np.array([p.kind == "nvswitch" for p in net.part_defs], dtype=bool)
    counts = np.array([link.count if link.kind == "nvlink" else 0 for link in net.link_defs], dtype=np.int64)
    if not switch.any() or not counts.any():
        return []
    joined = _joined_to_switches(net.shape, switch.tobytes(), counts.tobytes())
    twins: dict[tuple[str, str], list[_Joined]] = defaultdict(list)
    for one in joined:
        key = _twin_key(net.part_defs[one.definition])
        if key is not None:
            twins[key].append(one)
    found: list[Finding] = []
    for equal in twins.values():
        most = max(one.most for one in equal)
        if all(one.least == most for one in equal):
            continue
        best = min(one.first_of_most for one in equal if one.most == most)
        total = _switch_links(net.shape, switch.tobytes(), counts.tobytes())
        chosen = np.isin(net.part_def, [one.definition for one in equal]) & (total > 0) & (total < most)
        found += [_missing_finding(net, int(index), best, total) for index in np.flatnonzero(chosen)]
    return found


@dataclass(frozen=True, slots=True)
class _Joined:
    """How many links to NVSwitches parts of one definition have, of those that have any."""

    definition: int
    least: int
    most: int
    first_of_most: int


@memo(most=SHAPES_LIMIT, each=2)
def _joined_to_switches(shape: Shape, switch: bytes, counts: bytes) -> tuple[_Joined, ...]:
    """The definitions of parts joined to NVSwitches, in the order of their first parts.

    Parameters
    ----------
    switch, counts
        Of definitions: which parts are NVSwitches, and how many NVLinks a link is.
    """
    part_def = elaborate(shape.block).part_def
    total = _switch_links(shape, switch, counts)
    parts = np.flatnonzero(total)
    definitions, first, of = np.unique(part_def[parts], return_index=True, return_inverse=True)
    most, least = np.zeros(len(first), dtype=np.int64), np.full(len(first), np.iinfo(np.int64).max)
    np.maximum.at(most, of, total[parts])
    np.minimum.at(least, of, total[parts])
    top = np.full(len(first), len(part_def))
    np.minimum.at(top, of, np.where(total[parts] == most[of], parts, len(part_def)))
    order = np.argsort(first)
    columns = (c[order].tolist() for c in (definitions, least, most, top))
    return tuple(_Joined(*one) for one in zip(*columns, strict=True))


def _switch_links(shape: Shape, switch: bytes, counts: bytes) -> Int:
    """How many NVLinks to the other kind each NVSwitch, and each part joined to one, has. : (n_parts,)"""
    net = elaborate(shape.block)
    links = np.flatnonzero(np.frombuffer(counts, dtype=np.int64)[net.link_def])
    a, b = net.link_a[links], net.link_b[links]
    is_switch = np.frombuffer(switch, dtype=bool)[net.part_def]
    chosen = is_switch[a] != is_switch[b]
    weight = np.tile(np.frombuffer(counts, dtype=np.int64)[net.link_def[links[chosen]]], 2)
    ends = np.concatenate([a[chosen], b[chosen]])
    return np.bincount(ends, weight, net.n_parts).astype(np.int64)


def _missing_finding(net: Netlist, index: int, best: int, total: Int) -> Finding:
    return Finding(
        "NVLINK-MISSING",
        Severity.WARNING,
        f"{net.path(index)} has {total[index]} NVLinks to the switches, its twin {net.path(best)} has {total[best]}",
        (net.path(index),),
        "check the state of its NVLinks",
    )


def _distinct_definitions(net: Netlist) -> list[tuple[int, int, int, int]]:
    """Each different (part, part, link) definition once, with the number of its first link."""
    first = distinct_links(net)[0]
    columns = (net.part_def[net.link_a[first]], net.part_def[net.link_b[first]], net.link_def[first], first)
    return list(zip(*(c.tolist() for c in columns), strict=True))


def _twin_key(part: Part) -> tuple[str, str] | None:
    """What makes parts comparable: kind and product; None for parts that only pass traffic on, and unknown products."""
    kind = part_kinds().get(part.kind)
    if kind is None or Capability.SWITCH in kind.capabilities:
        return None
    ids = (part.attributes.get("vendor", ""), part.attributes.get("device", ""))
    product = part.type or ":".join(ids) if part.type or all(ids) else part.attributes.get("product", "")
    return (part.kind, product) if product else None


def speed_text(link: Link | Wiring) -> str:
    """Generation and lanes of a link where they state its speed, else its rate."""
    if link.generation is not None and link.lanes is not None and link.bandwidth_per_direction is None:
        return f"Gen{link.generation} x{link.lanes}"
    return format_quantity(raw_rate(link)[0], "rate")

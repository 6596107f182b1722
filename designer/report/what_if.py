"""Purchases tried out: a bottleneck of the drawing is widened in the document, and the design is analysed again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from designer.analysis.network import build_network
from designer.analysis.results import Analysis, WorkloadResult
from designer.analysis.study import analyze
from designer.catalog.parttype import Domain, link_kinds, value_of
from designer.design.channels import channel_number
from designer.design.document import Block, Design, Group, Link, Part, Wiring, with_changes
from designer.design.elaborate import elaborate
from designer.design.rates import raw_rate
from designer.errors import DesignerError
from designer.fields import Quantity
from designer.report.subject import WhatIf, short
from designer.report.wording import line_rate, quantity
from designer.sources import Status
from designer.units import DIMENSIONS, write

#: rates of a part that a faster one would have
_RATES: Final = ("read_bandwidth", "write_bandwidth", "client_read_bandwidth", "client_write_bandwidth")
_CARD: Final = ("bandwidth_per_direction", "port_bandwidth_per_direction")
#: so many purchases are tried, and one that is expected to bring nothing
MOST: Final = 4


@dataclass(frozen=True, slots=True)
class Candidate:
    """An edit worth a trial: what it is called, and the things of the document that get twice the capacity."""

    what: str
    detail: str
    links: frozenset[int]
    parts: frozenset[int]
    workload: str


def tried(
    design: Design,
    analysis: Analysis,
    *,
    progress: Callable[[float, str], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    most: int = MOST,
) -> list[WhatIf]:
    """Purchases with what they bring, best first; those that concern no workload are left out."""
    if not analysis.workloads:
        # nothing runs, so nothing can be faster
        return []
    found: list[WhatIf] = []
    every, idle = _candidates(design, analysis)
    chosen = [*every[: most - 1], *idle] if most > 1 else every[:1]
    before = {w.id: w for w in analysis.workloads}
    for n, candidate in enumerate(chosen):
        if progress is not None:
            progress(n / len(chosen), candidate.what)
        try:
            edited = _edited(design, candidate)
            after = analyze(edited, list(before), curves=False, cancelled=cancelled)
        except DesignerError as error:
            if cancelled is not None and cancelled():
                raise
            del error
            continue
        found.append(WhatIf(candidate.what, candidate.detail, before, {w.id: w for w in after.workloads}))
    return sorted(found, key=lambda w: -max(w.gain(k) for k in w.before))


def _candidates(design: Design, analysis: Analysis) -> tuple[list[Candidate], list[Candidate]]:
    """What binds some workload and is drawn, then the network nobody is bound by: worth nothing, and worth saying."""
    found: dict[tuple[str, str], Candidate] = {}
    goals = sorted(analysis.workloads, key=lambda w: (w.kind in ("transfer", "collective"), w.kind == "collective"))
    for result in goals:
        candidate = _candidate(design, result)
        if candidate is None:
            continue
        # what reads alike is one purchase of them all, though one workload is bound by a few of its links only
        known = found.get((candidate.what, candidate.detail))
        if known is not None:
            candidate = replace(known, links=known.links | candidate.links, parts=known.parts | candidate.parts)
        found[candidate.what, candidate.detail] = candidate
    widest = _idle_network(design, {k for c in found.values() for k in c.links})
    return list(found.values()), [widest] if widest is not None else []


def _candidate(design: Design, result: WorkloadResult) -> Candidate | None:
    """What binds a workload and is drawn, as one purchase."""
    network = build_network(design)
    net = network.net
    links: set[int] = set()
    parts: set[int] = set()
    name = ""
    for bottleneck in result.binding:
        if bottleneck.what == "channel":
            number = channel_number(net, bottleneck.id)
            if number is not None and _bought(net.link_defs[int(net.link_def[number // 2])]):
                links.add(int(net.link_def[number // 2]))
                name = name or short(bottleneck)
        elif bottleneck.what == "part" and "(memory bandwidth)" not in bottleneck.label:
            try:
                parts.add(int(net.part_def[net.index_of(bottleneck.id)]))
            except DesignerError:
                continue
            name = name or bottleneck.label.replace("(media)", "").strip()
    if not links and not parts:
        return None
    if links:
        # definitions alike, such as the same link at each of eight GPUs, are one purchase
        alike = {(net.link_defs[k].kind, raw_rate(net.link_defs[k])[0], net.link_defs[k].count) for k in links}
        first = net.link_defs[min(links)]
        rate = raw_rate(first)[0]
        domain = link_kinds().get(first.kind)
        network_link = domain is not None and domain.domain is Domain.NETWORK
        each = line_rate(rate) if network_link else quantity(rate, "B/s")
        twice = line_rate(2 * rate) if network_link else quantity(2 * rate, "B/s")
        detail = f"{each} → {twice} a link" if len(alike) == 1 else "twice the rate of each link"
        return Candidate(f"Twice the rate of {name}", detail, frozenset(links), frozenset(), result.id)
    part = net.part_defs[min(parts)]
    now = next((v for r in _RATES if (v := _number(design, part, r)) is not None), None)
    if now is None:
        return None
    return Candidate(
        f"Twice the throughput of {name}",
        f"{quantity(now, 'B/s')} → {quantity(2 * now, 'B/s')}",
        frozenset(),
        frozenset(parts),
        result.id,
    )


def _bought(link: Link | Wiring) -> bool:
    """True if a faster one can be bought: links among accelerators come with the accelerators."""
    kind = link_kinds().get(link.kind)
    return kind is not None and kind.domain is not Domain.ACCELERATOR


def _idle_network(design: Design, taken: set[int]) -> Candidate | None:
    """The network with most links among those that bind nothing."""
    net = elaborate(design)
    kinds = link_kinds()
    counts: dict[int, int] = {}
    for k in net.link_def.tolist() if net.n_links < 100_000 else net.link_def[:100_000].tolist():
        counts[k] = counts.get(k, 0) + 1
    best = [
        (n * net.link_defs[k].count, k)
        for k, n in counts.items()
        if k not in taken and (d := kinds.get(net.link_defs[k].kind)) is not None and d.domain is Domain.NETWORK
    ]
    if not best:
        return None
    k = max(best)[1]
    definition = net.link_defs[k]
    first = int((net.link_def == k).argmax())
    from designer.report.inventory import group_name, inventory

    stock = inventory(design)
    name = f"{group_name(stock, int(net.link_a[first]))} → {group_name(stock, int(net.link_b[first]))}"
    rate = raw_rate(definition)[0]
    return Candidate(
        f"Twice the rate of {name}",
        f"{line_rate(rate)} → {line_rate(2 * rate)} a link",
        frozenset({k}),
        frozenset(),
        "",
    )


def _number(design: Design, part: Part, name: str) -> float | None:
    told = design.quantity(part, name)
    return value_of(part.kind, name, told) if told is not None else None


def _edited(design: Design, candidate: Candidate) -> Design:
    """The design with twice the capacity there; definitions are found by identity, in groups as well."""
    net = elaborate(design)
    links = {id(net.link_defs[k]) for k in candidate.links}
    parts = {id(net.part_defs[k]) for k in candidate.parts}
    kinds = link_kinds()
    for k in candidate.links:
        kind = kinds.get(net.link_defs[k].kind)
        if kind is not None and kind.domain is Domain.NETWORK:
            # a faster link takes faster cards: both ends agree on what both can do
            cards = {int(d) for side in (net.link_a, net.link_b) for d in net.part_def[side[net.link_def == k]]}
            parts |= {id(net.part_defs[c]) for c in cards if net.part_defs[c].kind in ("nic", "dpu")}

    def changed(block: Block) -> dict[str, object]:
        changes: dict[str, object] = {}
        if any(id(link) in links for link in block.links.values()):
            changes["links"] = [_wider(link) if id(link) in links else link for link in block.links.values()]
        if any(id(w) in links for w in block.wirings.values()):
            changes["wirings"] = [_wider(w) if id(w) in links else w for w in block.wirings.values()]
        if any(id(part) in parts for part in block.parts.values()):
            changes["parts"] = [_faster(design, p) if id(p) in parts else p for p in block.parts.values()]
        groups = {g.id: new for g in block.groups.values() if (new := _group(g)) is not g}
        if groups:
            changes["groups"] = [groups.get(g.id, g) for g in block.groups.values()]
        return changes

    def _group(group: Group) -> Group:
        inner = changed(group.content)
        members = {k: with_changes(b, **c) for k, b in group.exceptions.items() if (c := changed(b))}
        if not inner and not members:
            return group
        content = with_changes(group.content, **inner) if inner else group.content
        return with_changes(group, content=content, exceptions={**group.exceptions, **members})

    # promises are judged by the report, not here
    return with_changes(design, assertions=[], **changed(design))


def _wider(link: Link | Wiring) -> Link | Wiring:
    rate, _ = raw_rate(link)
    changes: dict[str, object] = {"bandwidth_per_direction": write(2 * rate, "rate")}
    return with_changes(link, **changes)


def _faster(design: Design, part: Part) -> Part:
    overrides = dict(part.overrides)
    for name in _RATES if part.kind in ("storage", "drive", "memory") else _CARD if part.kind in ("nic", "dpu") else ():
        told = design.quantity(part, name)
        if told is None:
            continue
        value = value_of(part.kind, name, told)
        if value is None:
            continue
        assert DIMENSIONS["rate"] == "B/s"
        overrides[name] = Quantity(value=write(2 * value, "rate"), status=Status.ASSUMED)
    return with_changes(part, overrides=overrides)

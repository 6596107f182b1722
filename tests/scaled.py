"""Designs with one resource scaled, and the times that more of a resource must not lengthen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from designer.analysis.study import analyze
from designer.catalog.parttype import part_kinds
from designer.design.document import Block, Design, Group, Link, LinkValues, Wiring
from designer.design.rates import raw_rate
from designer.engine.results import WorkloadResult
from designer.errors import DesignerError
from designer.fields import Quantity
from designer.workload.metrics import Better, better

FACTORS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
#: answers in these units are times and rates, which must not become worse
_UNITS: Final = frozenset({"s", "B/s", "1/s"})
#: times that may grow with more of something, by kind of workload, and why
EXCEPTIONS: Final[Mapping[tuple[str, str], str]] = {
    ("training", "communication_time"): "the part that computing does not hide: faster computing hides less",
    ("training", "input_stall"): "waiting for samples: a step that computes faster waits longer, and is over sooner",
    ("serving", "tokens_per_second"): "what arrives is answered: a rate of the load, cut where the run ends",
    ("serving", "requests_per_second"): "the same",
    ("serving", "goodput"): "the same, of those in time",
}
#: relative sampling error of answers read from some thousand requests of a run: a faster step ends at other times, so
#: other requests share a batch, and the slowest of them are others
_SAMPLED: Final[Mapping[str, float]] = {"serving": 0.03}
_SURE: Final = frozenset({"cold_start_time", "rolling_update_time"})
#: resources of which there is no more by themselves, by kind of workload: processors that serve state their FLOP/s for
#: all cores, so more cores are smaller ones, which products fill worse
_NO_MORE: Final = frozenset({("serving", "cores")})
#: rounding of sums in another order
TOLERANCE: Final = 1e-9
#: fields of parts that are resources: of each dimension all, and of counts those that add up. More multiprocessors at
#: the same FLOP/s are smaller ones, which products fill worse: they are no more of anything.
_DIMENSIONS: Final = {"rate": "B/s", "flops": "FLOP/s", "frequency": "Hz", "power": "W"}
_COUNTS: Final = frozenset({"cores", "memory_channels"})


@dataclass(frozen=True, slots=True)
class Resource:
    """One number of a design that there can be more of.

    Parameters
    ----------
    way
        Groups around it, from the design inward.
    item
        Id of a part, link or wiring; of a part type where ``what`` is ``type``.
    field
        The name of its value.
    """

    what: str
    way: tuple[str, ...]
    item: str
    field: str

    def __str__(self) -> str:
        return f"{'/'.join((*self.way, self.item))}.{self.field}"


def resources(design: Design) -> list[Resource]:
    """Every rate, count and clock: of all parts of a type, of the first part of a kind, and of every link
    equivalent."""
    found: list[Resource] = []
    used = {part.type for _, block in _blocks(design) for part in block.parts.values()}
    for name, one in design.part_types.items():
        if name in used:
            found += [Resource("type", (), name, f) for f in _fields(one.kind, one.values)]
    for way, block in _blocks(design):
        seen: set[object] = set()
        for part in block.parts.values():
            values = design.part_types[part.type].values if part.type in design.part_types else {}
            if (part.kind, part.type) not in seen:
                seen.add((part.kind, part.type))
                found += [Resource("part", way, part.id, f) for f in _fields(part.kind, {**values, **part.overrides})]
        for one in (*block.links.values(), *block.wirings.values()):
            what = "link" if isinstance(one, Link) else "wiring"
            ends = [_kind_at(block, end) for end in (one.a, one.b)]
            equal = (one.kind, one.count, one.bandwidth_per_direction, one.lanes, one.generation, *ends)
            if equal in seen:
                continue
            seen.add(equal)
            found += [Resource(what, way, one.id, field) for field in ("count", "bandwidth_per_direction")]
            # and of all such links together
            found += [Resource(f"{what}s", way, one.id, field) for field in ("count", "bandwidth_per_direction")]
    return found


def scaled(design: Design, resource: Resource, factor: float) -> Design | None:
    """The design with that many times as much of a resource; None where a count would be no whole number."""
    if resource.what == "type":
        one = design.part_types[resource.item]
        quantity = _times(one.kind, resource.field, one.values[resource.field], factor)
        if quantity is None:
            return None
        changed = one.model_copy(update={"values": {**one.values, resource.field: quantity}})
        return design.model_copy(update={"part_types": {**design.part_types, resource.item: changed}})
    block: Block = design
    for name in resource.way:
        block = block.groups[name].content
    if resource.what == "part":
        part = block.parts[resource.item]
        given = design.quantity(part, resource.field)
        quantity = _times(part.kind, resource.field, given, factor) if given is not None else None
        if quantity is None:
            return None
        changed_part = part.model_copy(update={"overrides": {**part.overrides, resource.field: quantity}})
        return _put(design, resource.way, {"parts": {**block.parts, part.id: changed_part}})
    links = block.wirings if resource.what.startswith("wiring") else block.links
    first = links[resource.item]
    chosen = [first]
    if resource.what.endswith("s"):
        chosen = [one for one in links.values() if _equal(block, one, first)]
    changed_links: dict[str, LinkValues] = dict(links)
    for one in chosen:
        if resource.field == "count":
            count = one.count * factor
            if count != int(count) or count < 1:
                return None
            changed_links[one.id] = one.model_copy(update={"count": int(count)})
        else:
            rate = f"{raw_rate(one)[0] * factor:.17g} B/s"
            changed_links[one.id] = one.model_copy(update={"bandwidth_per_direction": rate})
    return _put(design, resource.way, {"wirings" if resource.what.startswith("wiring") else "links": changed_links})


def _equal(block: Block, one: Link | Wiring, other: Link | Wiring) -> bool:
    ends = [tuple(_kind_at(block, end) for end in (link.a, link.b)) for link in (one, other)]
    values = [(w.kind, w.count, w.bandwidth_per_direction, w.lanes, w.generation) for w in (one, other)]
    return ends[0] == ends[1] and values[0] == values[1]


def _kind_at(block: Block, path: str) -> str:
    return block.parts[path].kind if path in block.parts else path.rpartition("/")[2].rstrip("0123456789")


def _blocks(design: Design) -> Iterator[tuple[tuple[str, ...], Block]]:
    todo: list[tuple[tuple[str, ...], Block]] = [((), design)]
    while todo:
        way, block = todo.pop()
        yield way, block
        todo += [((*way, name), group.content) for name, group in block.groups.items()]


def _fields(kind: str, values: object) -> list[str]:
    assert isinstance(values, dict) or hasattr(values, "keys")
    found = part_kinds().get(kind)
    return [
        f.name
        for f in (found.fields if found is not None else ())
        if f.name in values and (f.dimension in _DIMENSIONS or f.name in _COUNTS)  # type: ignore[operator]
    ]


def _times(kind: str, field: str, quantity: Quantity, factor: float) -> Quantity | None:
    dimension = next(f.dimension for f in part_kinds()[kind].fields if f.name == field)
    value = quantity.si(dimension) * factor
    if dimension == "count":
        return quantity.model_copy(update={"value": int(value)}) if value == int(value) and value >= 1 else None
    spelled = f"{value:.17g} {_DIMENSIONS[dimension]}"
    return quantity.model_copy(update={"value": spelled, "low": None, "high": None})


def _put(design: Design, way: tuple[str, ...], update: dict[str, object]) -> Design:
    def inner(block: Block, left: tuple[str, ...]) -> Block:
        if not left:
            return block.model_copy(update=update)
        group: Group = block.groups[left[0]]
        changed = group.model_copy(update={"content": inner(group.content, left[1:])})
        return block.model_copy(update={"groups": {**block.groups, left[0]: changed}})

    found = inner(design, way)
    assert isinstance(found, Design)
    return found


@dataclass(frozen=True, slots=True)
class Worse:
    """A metric that became worse with more of a resource."""

    workload: str
    resource: str
    factors: tuple[float, float]
    metric: str
    before: float
    after: float


def worse_with_more(
    design: Design, workload: str, chosen: Sequence[Resource], factors: Sequence[float] = FACTORS
) -> list[Worse]:
    """Times that grow and rates that fall where a design has more of one resource, each against the next smaller."""
    kind = design.workloads[workload].kind
    found: list[Worse] = []
    for resource in chosen:
        if (kind, resource.field) in _NO_MORE:
            continue
        last: tuple[float, WorkloadResult] | None = None
        for factor in factors:
            changed = scaled(design, resource, factor)
            if changed is None:
                continue
            try:
                result = analyze(changed, [workload], curves=False).workloads[0]
            except DesignerError:
                # a value that its field or a formula refuses, such as a power limit below what a part idles at
                continue
            if last is not None:
                names = (last[0], factor)
                pairs = _worse(last[1], result, kind)
                found += [Worse(workload, str(resource), names, m, before, after) for m, before, after in pairs]
            last = (factor, result)
    return found


def _worse(before: WorkloadResult, after: WorkloadResult, kind: str) -> Iterator[tuple[str, float, float]]:
    for name, estimate in before.metrics.items():
        if name not in after.metrics or estimate.unit not in _UNITS or (kind, name) in EXCEPTIONS:
            continue
        was, now = estimate.value, after.metrics[name].value
        direction = better(name, kind)
        grown = now - was if direction is Better.LESS else was - now if direction is Better.MORE else 0.0
        sampled = estimate.unit == "s" and name not in _SURE
        if grown > max(TOLERANCE, _SAMPLED.get(kind, 0.0) if sampled else 0.0) * abs(was):
            yield name, was, now

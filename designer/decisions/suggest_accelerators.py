"""Edits that might help a workload whose accelerators bind: faster ones, more machines of them, another layout."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import Capability, PartType, part_kinds
from designer.decisions.suggest_candidates import Candidate, Prices
from designer.decisions.suggest_cost import Cost
from designer.design.address import Address, block_at, split_path, where_stored
from designer.design.document import Block, Design, WorkloadSpec
from designer.design.edit import Edit
from designer.design.edits.groups import SetReplicas
from designer.design.edits.parts import SetType, SetValue
from designer.design.edits.together import Together
from designer.design.edits.workloads import ChangeWorkload
from designer.engine.network import Network
from designer.engine.results import WorkloadResult
from designer.engine.routes.selection import resolve
from designer.errors import DesignerError
from designer.plain_text import counted

#: what a better accelerator has more of, and none of it less
_RATES: Final = ("flops_bf16", "flops_fp8", "flops_fp32", "memory_bandwidth")
#: so many better types are tried, the nearest first
_TYPES_LIMIT: Final = 3
#: what two accelerators have to have in common so that one can replace the other
_SOCKET: Final = ("form", "nvlink_generation", "nvlink_links", "xgmi_links", "gpus_per_board")
#: accelerators that share a model
_WIDTHS: Final = (1, 2, 4, 8)
_SERVED: Final = "serving"


def accelerator_candidates(
    network: Network, spec: WorkloadSpec, result: WorkloadResult, prices: Prices
) -> list[Candidate]:
    """What might help where accelerators bind, now or next; nothing where they do not."""
    numbers: dict[int, None] = {}
    for bottleneck in (*result.binding, *result.next):
        if bottleneck.what in ("part", "compute"):
            try:
                number = network.net.index_of(bottleneck.id)
            except DesignerError:
                continue
            if Capability.ACCELERATE in network.kind(number).capabilities:
                numbers.setdefault(number)
    found: dict[str, Candidate] = {}
    for number in numbers:
        for one in (*_faster_type(network, number, prices), *_more_machines(network, number, prices)):
            found.setdefault(one.title, one)
    if numbers:
        for one in _layouts(network, spec):
            found.setdefault(one.title, one)
    return [one for one in found.values() if _applies(network.design, one)]


def _applies(design: Design, candidate: Candidate) -> bool:
    try:
        return candidate.edit.apply(design) is not design
    except DesignerError:
        return False


def _stored_block(design: Design, path: str) -> tuple[Address, str, Block]:
    within, name = split_path(path)
    found = where_stored(design, within)
    return found, name, block_at(design, found)


def _faster_type(network: Network, number: int, prices: Prices) -> Iterator[Candidate]:
    """A type that fits the same socket and is faster, for all accelerators of the block that have the same."""
    net, design = network.net, network.design
    part = net.part(number)
    old = design.type_of(part)
    if old is None:
        return
    within, _, block = _stored_block(design, net.path(number))
    ids = tuple(p.id for p in block.parts.values() if p.kind == part.kind and p.type == part.type)
    wanted = {id(block.parts[i]) for i in ids}
    times = int(np.isin(net.part_def, [k for k, d in enumerate(net.part_defs) if id(d) in wanted]).sum())
    catalog = load_catalog()
    better = [
        other
        for type_id in catalog.ids()
        if type_id.startswith(f"{part.kind}/") and _is_better(old, other := catalog.get(type_id))
    ]
    better.sort(
        key=lambda other: (other.number("flops_bf16") or 0.0, other.number("memory_bandwidth") or 0.0, other.id)
    )
    for other in better[:_TYPES_LIMIT]:
        watts = ((other.number("power_per_part") or 0.0) - (old.number("power_per_part") or 0.0)) * times
        held = {name: [i for i in ids if name in block.parts[i].overrides] for name in _RATES}
        freed = [SetValue(tuple(which), name, None, within=within) for name, which in held.items() if which]
        swap: Edit = SetType(ids, other.id, other, within=within)
        title = f"swap {len(ids)} × {part.kind} for {other.title}"
        named = f"replace {counted(times, part_kinds()[part.kind].title)} by {other.title}"
        edit = Together((swap, *freed), f"{named[:1].upper()}{named[1:]}") if freed else swap
        cost = Cost.of(prices.by_part, prices.of(other, times), times, max(0.0, watts))
        yield Candidate(title, f"type:{within}{ids}", edit, cost, named)


def _is_better(old: PartType, other: PartType) -> bool:
    """Whether a type goes where another was and is nowhere slower and somewhere faster."""
    if other.id == old.id or any(_text(old, name) != _text(other, name) for name in _SOCKET):
        return False
    if old.id.split("/")[1] != other.id.split("/")[1]:
        return False  # kernels of another maker are not those that were estimated
    pairs = [(old.number(name) or 0.0, other.number(name) or 0.0) for name in (*_RATES, "memory_capacity")]
    return all(b >= a for a, b in pairs) and any(b > a * 1.05 for a, b in pairs[:-1])


def _text(part_type: PartType, name: str) -> str:
    quantity = part_type.values.get(name)
    return "" if quantity is None else str(quantity.value)


def _more_machines(network: Network, number: int, prices: Prices) -> Iterator[Candidate]:
    """One more machine, or twice as many, of the group that the accelerators are in."""
    net, design = network.net, network.design
    within, _ = split_path(net.path(number))
    if not within:
        return
    *outer, (group_id, _) = within
    place = where_stored(design, tuple(outer))
    group = block_at(design, place).groups[group_id]
    inside = [k for k, d in enumerate(net.part_defs) if d.id in group.content.parts and d is group.content.parts[d.id]]
    each = max(1, group.replicas)
    watts = sum(
        (kind.number("power_per_part") or 0.0) * int((net.part_def == k).sum())
        for k in inside
        if (kind := design.type_of(net.part_defs[k])) is not None
    )
    ends = int((np.isin(net.part_def[net.link_a], inside) ^ np.isin(net.part_def[net.link_b], inside)).sum())
    server = next((design.type_of(p) for p in group.content.parts.values() if p.kind == "server"), None)
    for more in sorted({1, each}):
        cost = Cost.of(prices.by_part, prices.of(server, more), max(1, ends * more // each), watts * more / each)
        title = f"{more} more of {group.label}, {each + more} in all"
        yield Candidate(title, f"replicas:{place}{group_id}", SetReplicas(group_id, each + more, within=place), cost)


def _layouts(network: Network, spec: WorkloadSpec) -> Iterator[Candidate]:
    """A served model on more accelerators for each copy, or on fewer, which makes more copies."""
    if spec.kind != _SERVED:
        return
    for name, group in (("tensor", "group"), ("prompt_tensor", "prompt_group")):
        selector = str(spec.settings.get(group, "gpus" if name == "tensor" else ""))
        if not selector:
            continue
        most = len(resolve(network, selector, f"workloads.{spec.id}.{group}"))
        has = int(str(spec.settings.get(name, 0)))
        for width in _WIDTHS:
            if width != has and width <= most:
                settings = {**spec.settings, name: width}
                edit = ChangeWorkload(spec.id, {"settings": settings})
                what = "prompts" if name != "tensor" else "the model"
                title = f"split {what} over {width} GPUs each" if width > 1 else f"run {what} on one GPU each"
                yield Candidate(title, f"layout:{name}", edit, Cost())

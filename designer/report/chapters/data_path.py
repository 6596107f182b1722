"""Data path: every hop between the stores and the accelerators, which of them limits, and which comes next."""

from __future__ import annotations

import numpy as np

from designer.design.channels import channel_number
from designer.engine.results import WorkloadResult
from designer.errors import DocumentError
from designer.present.words import part_words
from designer.report.chapter import ChapterKind
from designer.report.charts.hops import Hop, hops
from designer.report.document import Chapter, Drawing, rich
from designer.report.inventory import Inventory, group_name
from designer.report.pages import answer_chapter
from designer.report.subject import Context, Subject
from designer.report.wording import counted, line_rate, quantity, sentence
from designer.sources import Status


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where nothing moves."""
    result = _selected_flows(subject)
    if result is None:
        return None
    path = _hops(subject, result)
    if not path:
        return None
    demand = _demand(subject, result)
    drawn = Drawing(
        hops(path, demand),
        f"Capacity of each hop of {result.title}, and the load on it",
        note=rich(
            "Upright mark: achievable. Outline: raw rate, dashed where assumed. The scale is logarithmic: read the"
            f" marks, not the lengths. One path represents {counted(result.n_flows, 'flow')} like it."
        ),
    )
    moves = subject.of_kind("transfer")
    moves = [result, *(w for w in moves if w is not result)]
    question = "Which hop limits the data, and which comes next?"
    return answer_chapter(context, subject, "data-path", "Data path", question, moves, first=[drawn])


def _selected_flows(subject: Subject) -> WorkloadResult | None:
    moves = [w for w in subject.of_kind("transfer") if w.n_flows]
    return next((w for w in moves if "storage" in w.id), next(iter(moves), None))


def _hops(subject: Subject, result: WorkloadResult) -> list[Hop]:
    """Hops of the first flow that has a path: equivalent links are side by side as one hop, over the whole design."""
    flow = next((f for f in list(result.flows[:8]) if f.via), None)
    loads = subject.analysis.loads.get(result.id)
    if flow is None or loads is None:
        return []
    network, stock = subject.network, subject.stock
    net = network.net
    channels = [n for c in flow.via if (n := channel_number(net, c)) is not None]
    ordered = list(dict.fromkeys(channels))
    bottleneck = {channel_number(net, b.id) for b in result.binding if b.what == "channel"}
    bottleneck_parts = {b.id for b in result.binding if b.what == "part"}
    following = {channel_number(net, b.id) for b in result.next if b.what == "channel"}
    hops: list[Hop] = []
    first = _number(subject, flow.source)
    store = _store(subject, first, result, bottleneck_parts) if first is not None else None
    if store is not None:
        hops.append(store)
    # every channel that plays the same part in some other flow belongs to the hop
    roles: dict[tuple[str, str, str], list[int]] = {}
    for channel in ordered:
        key = _role(stock, network.ends(channel), net.link(channel >> 1).kind)
        roles.setdefault(key, []).append(channel)
    order = list(roles)
    carried, used = loads.load, loads.utilization
    loaded = np.flatnonzero(carried > 0)
    stride = len(loaded) // 60_000 + 1
    every: dict[tuple[str, str, str], list[int]] = {}
    wanted = set(order)
    for channel in loaded[::stride].tolist():
        key = _role(stock, network.ends(channel), net.link(channel >> 1).kind)
        if key in wanted:
            every.setdefault(key, []).append(channel)
    for key in order:
        group = np.array(every.get(key) or roles[key])
        # links in a row, such as those of switches below switches, carry the same bytes one after the other;
        # ways side by side, such as those a fabric spreads a flow over, share them
        row = _in_a_row([network.ends(c) for c in roles[key]])
        times_drawn = stride if key in every else 1
        load = float(carried[group].sum()) * times_drawn / row
        use = used[group]
        carry = np.where(use > 0, carried[group] / np.maximum(use, 1e-12), network.rate[group >> 1])
        raw = float(network.rate[group >> 1].sum()) * times_drawn / row
        achievable = float(carry.sum()) * times_drawn / row
        fullest = float(used[np.array(roles[key])].max())
        if row > 1 and fullest > 0:
            # the narrowest of them is what the row carries
            achievable = load / fullest
        achievable = min(achievable, raw)
        cables = int(network.count[group >> 1].sum()) * times_drawn
        each = raw * row / max(1, cables)
        kind = key[2]
        status = network.quantity_status(int(group[0]) >> 1)
        state = "binds" if bottleneck & set(group.tolist()) else "next" if following & set(group.tolist()) else ""
        rate = line_rate(each) if kind in ("ethernet", "infiniband", "fabric") else quantity(each, "B/s")
        hops.append(
            Hop(
                f"{sentence(key[0])} → {key[1]}",
                f"{cables:,} × {rate}" + (f", {row} in a row" if row > 1 else ""),
                achievable,
                raw,
                load,
                status in (Status.ASSUMED, Status.UNVERIFIED),
                state,
            )
        )
    return hops[:12]


def _in_a_row(ends: list[tuple[int, int]]) -> int:
    """How many of these links one byte passes: the longest chain in which each begins where the one before ends."""
    following: dict[int, list[int]] = {}
    for start, end in ends:
        following.setdefault(start, []).append(end)
    reached = {start for start, _ in ends}
    for passed in range(len(ends)):
        reached = {end for start in reached for end in following.get(start, ())}
        if not reached:
            return max(1, passed)
    return max(1, len(ends))


def _number(subject: Subject, path: str) -> int | None:
    """Number of the part at a path; None where it names no single part."""
    try:
        return subject.network.net.index_of(path)
    except DocumentError:
        return None


def _store(subject: Subject, part: int, result: WorkloadResult, bottleneck: set[str]) -> Hop | None:
    network, net = subject.network, subject.network.net
    resource = int(network.part_resource[part])
    if resource < 0:
        return None
    kind = net.part(part).kind
    own = net.part(part).type
    same = np.array([i for i, p in enumerate(net.part_defs) if p.kind == kind and p.type == own])
    equal = np.flatnonzero(np.isin(net.part_def, same)).tolist()
    resources = network.part_resource[equal]
    capacity = float(network.capacity[resources[resources >= 0]].sum())
    if capacity <= 0:
        return None
    rate = result.metrics.get("rate")
    load = rate.value if rate is not None else 0.0
    state = "binds" if any(net.path(i) in bottleneck for i in equal[:4000]) else ""
    label = subject.stock.title(net.part(part))
    following = {b.id for b in result.next if b.what == "part"}
    if not state and any(net.path(i) in following for i in equal[:4000]):
        state = "next"
    return Hop(
        f"{sentence(part_words(subject.design, net.path(part)))}, media",
        f"{counted(len(equal))} × {label}",
        capacity,
        capacity,
        min(load, capacity),
        False,
        state,
    )


def _role(stock: Inventory, ends: tuple[int, int], kind: str) -> tuple[str, str, str]:
    return _name(stock, ends[0]), _name(stock, ends[1]), kind


def _name(stock: Inventory, part: int) -> str:
    """What plays a role in a path: a part inside a unit by its kind, a unit by its group."""
    if int(stock.unit[part]) == part:
        return group_name(stock, part)
    return part_words(stock.design, stock.net.path(part))


def _demand(subject: Subject, result: WorkloadResult) -> tuple[str, float, float, float] | None:
    """What the hungriest training could use, over all accelerators."""
    if "storage" not in result.id:
        return None
    found = None
    for w in subject.of_kind("training"):
        need = w.metrics.get("training_rate_per_gpu")
        got = w.metrics.get("data_rate_per_gpu")
        if need is None or got is None:
            continue
        n = (
            result.metrics["rate"].value / max(result.metrics["data_rate_per_gpu"].value, 1e-9)
            if "data_rate_per_gpu" in result.metrics
            else 1
        )
        value = (w.title, need.value * n, need.low * n, need.high * n)
        if found is None or value[1] > found[1]:
            found = value
    return found if found is not None and found[1] > result.metrics["rate"].value * 0.02 else None


CHAPTER = ChapterKind("data-path", "Data path", 30, of_design=build)

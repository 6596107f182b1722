"""Serving: every replica computes on its devices and joins them over their links, as its engine goes on.

What a step takes is the step model's, with all replicas at work; alone on the clock nothing is added to it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from designer.engine.costs.move import flows_of
from designer.engine.costs.pricing import Cost, CostKind, Expansion, Priced, Prices, Settled, alone, on_engines
from designer.engine.machines.guests import machines_at
from designer.engine.network import Network
from designer.engine.transfers import evaluate_transfer
from designer.families.collective.activities import Activity
from designer.families.collective.communicator import Communicator, make_concurrent
from designer.families.collective.costs import occupied
from designer.families.serving.alone import Following, able_of, answered, follows_load, leg_of
from designer.families.serving.answers import SOURCES, enough, factors_of, most_of, operating, saturated
from designer.families.serving.clocked import Engines, Fetching, Handing, Loading
from designer.families.serving.clocked_split import SplitEngines
from designer.families.serving.deployment import Serving
from designer.families.serving.engine_state import Requests
from designer.families.serving.formulas.start import ONE_READER, START, START_EAGER
from designer.families.serving.load import offered
from designer.families.serving.metrics import costs_of_run
from designer.families.serving.placement import Placement
from designer.families.serving.replica import Tasks, exchanges
from designer.families.serving.sharing import one_each
from designer.families.serving.split import hand_over_overhead, place_split, sent_in, serve_split
from designer.families.serving.spreads import first_extra, step_spread
from designer.families.serving.starting import engine_start, loading_ways, start_engines
from designer.families.serving.tasks import Serve
from designer.families.serving.tiers import fetching, stored
from designer.families.serving.widths import placed
from designer.findings import Finding
from designer.workload.kind import listed
from designer.workload.program.tasks import Move, Task

Int = npt.NDArray[np.int64]

#: costs of this group are off together: steps of an engine, whatever they spend their time on
_GROUP = "serving"


def price(prices: Prices, task: Serve, place: str) -> Expansion:
    """The engines of a served model.

    Raises
    ------
    AnalysisError
        If the model does not fit the drawing, or a load cannot be read.
    """
    asked = task.operation
    if asked.deployment.prompts:
        return _split(prices, task, place)
    leg = leg_of(prices.network, asked, place)
    limited = replace(asked, limits=leg.within(asked.limits)) if leg is not None else asked
    placement = placed(prices.network, limited, place, prices.running)
    if _shares(prices, asked, place):
        placement = one_each(placement)
    placement, sent, tier, stated = stored(placement, asked)
    placement, chosen = operating(placement, limited, sent.requests)
    load = asked.load
    if load.reuse and sent.requests.cached:
        share = sum(sent.requests.cached) / sum(sent.requests.prompt)
        load = replace(load, prefix=share, reuse="")
    spread = step_spread(placement)
    findings: list[Finding] = [*placement.findings, *stated, *chosen]
    too_much = False
    rate = offered(load, sent.requests, len(placement.replicas))
    if rate:
        most = most_of(placement, sent.requests, spread, None)[0]
        too_much = rate > most
        if too_much:
            count = len(placement.replicas)
            more = enough(rate * count, most, placement)
            findings.append(saturated(rate * count, most * count, "the replicas together", more))
    tasks = [_replica(prices, placement, k, spread, place) for k in range(len(placement.replicas))]
    loading = _load_weights(prices, [placement], asked, place) if task.cold else None
    fetches = [_fetch(prices, placement, asked, k, place) for k in range(len(tasks))] if tier is not None else []
    extra = first_extra(placement)
    path = placement.release.overheads.path

    pace: tuple[float, float] | None = None
    if follows_load(asked) and not too_much:
        pace = _rate_and_cold_start(placement, replace(asked, load=load), sent.requests, spread, place)
        tier, fetches = None, []

    def make() -> Engines:
        made = Engines(
            placement,
            load,
            sent.first if pace is None else 0,
            tasks,
            loading,
            path,
            extra,
            saturated=too_much,
            tier=tier,
            fetches=fetches,
            following=Following(*pace, len(tasks)) if pace is not None else None,
        )
        made.leg = leg.time if leg is not None else None
        if asked.accelerator_price or asked.energy_price:
            made.costs = partial(costs_of_run, asked, placement, placement.accelerators)
        return made

    settle = None if task.cold else partial(_settle, prices.network, asked, place)
    return Expansion(make, tuple(make().tasks), tuple(findings), _holds(placement), settle=settle)


def _rate_and_cold_start(
    placement: Placement, asked: Serving, requests: Requests, spread: float, place: str
) -> tuple[float, float]:
    """Requests a second that a replica takes when it follows the load [1/s], and its cold start [s]."""
    able = able_of(placement, asked, most_of(placement, requests, spread, None)[0])
    if not asked.storage:
        return able, engine_start(asked.deployment)
    return able, start_engines([placement], asked.storage, asked.readers, place, peers=asked.peers).time.value


def _settle(
    network: Network, asked: Serving, place: str, explained: bool, cancelled: Callable[[], bool] | None
) -> Settled:
    """Engines that have all to themselves need no clock: their scheduler is their run."""
    found = answered(network, asked, place, explained=explained, cancelled=cancelled)
    return Settled(found.metrics, found.binding, found.next, found.findings)


def _shares(prices: Prices, asked: Serving, place: str) -> bool:
    """True if other served models are on its GPUs, by its own word or by theirs."""
    name = place.removeprefix("workloads.")
    specs = prices.network.design.workloads.values()
    named = [listed(str(spec.settings.get("beside", ""))) for spec in specs if spec.kind == "serving"]
    return bool(asked.beside) or any(name in each for each in named)


def _split(prices: Prices, task: Serve, place: str) -> Expansion:
    """Engines for prompts, engines for answers, and the hand-over between them."""
    asked, network = task.operation, prices.network
    answers, prompts = place_split(network, asked, place, prices.running)
    served = serve_split(network, asked, place)
    load = served.serving.load
    spread = served.spread
    reading = [_replica(prices, prompts, k, spread, f"{place} prompts") for k in range(len(prompts.replicas))]
    saying = [_replica(prices, answers, k, spread, f"{place} answers") for k in range(len(answers.replicas))]
    pairs = {(k % len(reading), k % len(saying)) for k in range(math.lcm(len(reading), len(saying)))}
    handing = {pair: _hand_over_transfer(prices, prompts, answers, pair, place) for pair in sorted(pairs)}
    extra = first_extra(answers)
    loading = _load_weights(prices, [answers, prompts], asked, place) if task.cold else None

    leg = leg_of(network, asked, place)

    def make() -> SplitEngines:
        made = SplitEngines(
            prompts,
            answers,
            load,
            (reading, saying),
            handing,
            loading,
            extra,
            saturated=served.saturated,
        )
        made.leg = leg.time if leg is not None else None
        if asked.accelerator_price or asked.energy_price:
            made.costs = partial(costs_of_run, asked, answers, answers.accelerators + prompts.accelerators)
        return made

    held = Counter(_holds(prompts)) + Counter(_holds(answers))
    findings = (*answers.findings, *served.findings)
    settle = None if task.cold else partial(_settle, network, asked, place)
    return Expansion(make, tuple(make().tasks), findings, dict(held), settle=settle)


def _hand_over_transfer(
    prices: Prices, prompts: Placement, answers: Placement, pair: tuple[int, int], place: str
) -> Handing:
    """From one replica that reads to one that answers: every device pulls what it holds, from all in equal parts."""
    network = prices.network

    def paths(parts: Sequence[int]) -> str:
        return ",".join(network.net.path(p) for p in parts)

    source, target = prompts.replicas[pair[0]].tolist(), answers.replicas[pair[1]].tolist()
    asked = Move(paths(source), paths(target), pairing="striped")
    answer = evaluate_transfer(network, asked, place)
    ends = answer.traffic.target[answer.rate > 0]
    share = 1 / np.bincount(ends, minlength=network.net.n_parts)[ends]
    cost = flows_of(prices, answer, share, f"pull:{place}")
    # what is in machines that are paused is neither read nor written
    names = [
        name
        for one, parts in ((prompts, source), (answers, target))
        for name in dict.fromkeys(machines_at(one.network, parts, one.guest).values())
    ]
    speeds = [prices.table.machine(name, (place, "pull", pair)) for name in dict.fromkeys(names)]
    whole = float(answer.rate[answer.rate > 0].sum())
    cost = _with_uses(cost, [(row, speed, 1 / whole) for row in range(cost.n_works) for speed in speeds])

    return Handing(
        Priced(cost),
        answers.steps.kv.held,
        lambda tokens: hand_over_overhead(prompts, answers, tokens),
        lambda tokens: sent_in(prompts, tokens),
        float((share / answer.rate[answer.rate > 0]).max()),
    )


def _fetch(prices: Prices, placement: Placement, asked: Serving, which: int, place: str) -> Fetching:
    """Keys and values from beyond the GPU to every device of a replica."""
    network = prices.network
    answer = evaluate_transfer(network, fetching(placement, asked.tiers, [which]), place)
    each = placement.steps.kv.token
    amount = np.full(int((answer.rate > 0).sum()), each)
    slowest = float(answer.rate[answer.rate > 0].min())
    return Fetching(Priced(flows_of(prices, answer, amount, f"fetch:{asked.tiers}")), each / slowest)


def _replica(prices: Prices, placement: Placement, which: int, spread: float, place: str) -> Tasks:
    """A second of computing on the devices of a replica, and one of joining them."""
    parts = placement.replicas[which].tolist()
    machines = machines_at(placement.network, parts, placement.guest)
    speeds = {name: prices.table.machine(name, (place, which)) for name in dict.fromkeys(machines.values())}
    low, high = factors_of(placement, spread)
    compute = _compute_second(prices, placement, which, parts, place, low, high)
    crowd = Counter(machines.values())
    rows = [(row, speeds[machines[part]], 1 / crowd[machines[part]]) for row, part in enumerate(parts) if machines]
    compute = _with_uses(compute, rows)

    def joined(group: Communicator | None) -> Priced | None:
        if group is None:
            return None
        uses, weight = occupied(placement.network, [group])
        uses = uses.with_all(speeds.values())
        return Priced(alone(1.0, uses=uses, weight=weight, low=low, high=high, group=_GROUP, sources=SOURCES))

    near, apart = _joining_transfers(placement, which, place)
    return Tasks(Priced(compute), joined(near), tuple(speeds.values()), joined(apart))


def _joining_transfers(placement: Placement, which: int, place: str) -> tuple[Communicator | None, Communicator | None]:
    """What joins those of a replica that share heads, and what its stages or its groups of attention send over.

    Heads are joined inside every group that shares them, so only over the links between its devices; a stage hands
    values on from each of its devices to the same one of the next, over the NICs of these two.
    """
    whole, split = placement.group, placement.split
    if whole is None:
        return None, None
    replicas, network = placement.replicas, placement.network
    near = None
    if split.tensor > 1:
        near = _own_groups(network, replicas[which].reshape(-1, split.tensor), placement.peers or whole, place)
    if not exchanges(split):
        return near, None
    if split.data > 1:
        return near, _own_groups(network, replicas[which][None], whole, place)
    lines = replicas.reshape(-1, split.pipeline, split.tensor).transpose(0, 2, 1)
    together = make_concurrent(network, lines.reshape(-1, split.pipeline), f"{place}.group")[0]
    return near, _own_groups(network, lines[which], together, place)


def _own_groups(network: Network, groups: Int, together: Communicator, place: str) -> Communicator:
    """Groups of one replica at once, as fast as they are while those of all replicas work."""
    # all hops of groups that work at once are one activity, whichever of them states it
    one = make_concurrent(network, groups, f"{place}.group")[0]
    return replace(
        one,
        inside=_slower_activity(one.inside, together.inside),
        between=_slower_activity(one.between, together.between),
    )


def _slower_activity(mine: Activity | None, shared: Activity | None) -> Activity | None:
    return replace(mine, rate=min(mine.rate, shared.rate)) if mine is not None and shared is not None else mine


def _compute_second(
    prices: Prices, placement: Placement, which: int, parts: Sequence[int], place: str, low: float, high: float
) -> Cost:
    """One second on the engine of every device of a replica."""
    cut, n = placement.cut, len(parts)
    turns: list[tuple[int, int]] = []
    if cut is not None and cut.turns > 1:
        engines = np.full(n, -1)
        turns = [(row, prices.table.turns(part)) for row, part in enumerate(parts)]
    elif cut is not None and cut.each > 1:
        engines = np.array([prices.table.engine([part], f"{place} {which}") for part in parts])
    else:
        engines, turns = on_engines(prices, parts, placement.guest)
    cost = Cost(
        np.zeros(n + 1, dtype=np.int64),
        np.empty(0, dtype=np.int64),
        np.empty(0),
        np.ones(n),
        np.ones(n),
        np.ones(n),
        np.zeros(n),
        engines,
        low,
        high,
        _GROUP,
        "s",
        SOURCES,
    )
    return _with_uses(cost, [(row, resource, 1.0) for row, resource in turns])


def _with_uses(cost: Cost, rows: Sequence[tuple[int, int, float]]) -> Cost:
    """A cost whose works use more: work, resource, and use per unit."""
    if not rows:
        return cost
    known = [list(zip(cost.resource[a:b].tolist(), cost.usage[a:b].tolist(), strict=True)) for a, b in _cuts(cost)]
    for row, resource, usage in rows:
        known[row].append((resource, usage))
    ptr = np.concatenate([[0], np.cumsum([len(each) for each in known])]).astype(np.int64)
    resource = np.array([r for each in known for r, _ in each], dtype=np.int64)
    return replace(cost, ptr=ptr, resource=resource, usage=np.array([u for each in known for _, u in each]))


def _cuts(cost: Cost) -> list[tuple[int, int]]:
    return list(zip(cost.ptr[:-1].tolist(), cost.ptr[1:].tolist(), strict=True))


def _load_weights(prices: Prices, placements: Sequence[Placement], asked: Serving, place: str) -> Loading:
    """Weights from where they lie to every server, and on to its devices; the slower of the two counts.

    Raises
    ------
    AnalysisError
        If nothing holds the weights, or there is no way.
    """
    ways = loading_ways(placements, asked.storage, asked.readers, place, peers=asked.peers)
    moves: list[tuple[str, Task]] = []
    steps = [("read weights", asked.storage, ways.readers)]
    if len(ways.readers) < len(ways.hosts):
        # one server reads, the others have them from the one before while it still reads
        steps += [(f"hand weights to server {k}", a, (b,)) for k, (a, b) in enumerate(pairwise(ways.hosts), 2)]
    for name, source, targets in steps:
        moves.append((name, _brought(prices, source, targets, ways.stored, asked.readers * ONE_READER.value, place)))
    copied = _brought(prices, ",".join(ways.hosts), ways.devices, ways.held, math.inf, place)
    moves.append(("copy weights", copied))
    graph = any(placement.deployment.graph for placement in placements)
    return Loading(tuple(moves), (START if graph else START_EAGER).value)


def _brought(prices: Prices, source: str, targets: Sequence[str], size: float, most: float, place: str) -> Priced:
    """So many bytes to each target, from all its sources in proportion to what each gives; at a rate at most [B/s]."""
    answer = evaluate_transfer(prices.network, Move(source, ",".join(targets)), place)
    alive = answer.rate > 0
    target = answer.traffic.target[alive]
    rate = answer.rate[alive]
    whole = np.zeros(prices.network.net.n_parts)
    np.add.at(whole, target, rate)
    share = rate / whole[target]
    cost = flows_of(prices, answer, size * share, f"weights:{source}")
    return Priced(replace(cost, cap=np.minimum(cost.cap, most * share)))


def _holds(placement: Placement) -> dict[int, float]:
    """Memory of each device that engines claim [B]."""
    held = placement.device.memory * placement.scheduling.memory_share
    return {part: held * count for part, count in Counter(placement.replicas.ravel().tolist()).items()}


COST = CostKind(Serve, price)

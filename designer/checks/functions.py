"""The functions of the language, one after the other: rates, counts, findings, losses, ends of bands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from designer.checks.arithmetic import at_end, finite
from designer.checks.syntax import Call, CheckError
from designer.checks.values import NONE, Found, Measure, Several, Truth, Word, combine, unit_of
from designer.checks.world import Job, Loss, World, bottleneck_text, matches
from designer.design.channels import channel_number
from designer.finding_codes import CODES
from designer.rules.rule import rules
from designer.spelling import did_you_mean


@dataclass(frozen=True, slots=True)
class Counts:
    """``parts`` or ``links``: how many there are of each kind."""

    what: str


@dataclass(frozen=True, slots=True)
class Thing:
    """A part or link by its path."""

    path: str


@dataclass(frozen=True, slots=True)
class Missing:
    """``any leaf``."""

    pattern: str


Value = Measure | Several | Found | Truth | Word | Job | Loss | Counts | Thing | Missing


class Context(Protocol):
    """What a function may ask of the evaluator that calls it."""

    world: World
    load: float | None

    def word(self, arguments: Sequence[Value], index: int, tree: Call) -> str:
        """A text argument."""
        ...

    def one(self, value: Value, at: int) -> Measure:
        """A value as one number."""
        ...

    def metric(self, tree: Call) -> Measure:
        """A metric of a workload, or of one machine."""
        ...


Function = Callable[[Context, Call, list[Value]], Value]
_PERCENTILES: Final = ("p50", "p90", "p95", "p99")


def one_of(world: World) -> str:
    """The workloads there are, as a remedy."""
    return f"name one of {', '.join(world.design.workloads) or 'none'}"


def _several(flows: Sequence[Measure], whole: str, name: str, at: int) -> Several:
    if not flows:
        raise CheckError("there is nothing of that kind", at, "check the path against the outline")
    return Several(tuple(flows), whole, name)


def _rate(context: Context, tree: Call, arguments: list[Value]) -> Value:
    """``rate("storage -> gpu[*]")``: all flows at once; with a second text those of that workload."""
    way = context.word(arguments, 0, tree)
    if "->" not in way:
        return context.metric(tree)
    at_once = context.word(arguments, 1, tree) if len(arguments) > 1 else ""
    flows = context.world.flows(way, at_once)
    source, _, target = (piece.strip() for piece in way.partition("->"))
    result = context.world.result(at_once) if at_once else context.world.transfer(source, target)
    binds, mend = bottleneck_text(result.binding)
    unit = unit_of("rate")
    made = [Measure(f.rate, f.low, f.high, unit, f"{f.source} -> {f.target}", binds, mend) for f in flows]
    return _several(made, "sum", way, tree.at)


def _passes(context: Context, tree: Call, arguments: list[Value]) -> Value:
    """``passes("gpu0 -> nic0", "upi")``: whether a flow goes over a kind of link, or by a part or link of that name."""
    way, wanted = context.word(arguments, 0, tree), context.word(arguments, 1, tree)
    net = context.world.network.net
    over: list[str] = []
    for flow in context.world.flows(way):
        for channel in flow.via:
            path = channel.rsplit(":", 1)[0]
            number = channel_number(net, channel)
            link = net.link(number >> 1) if number is not None else None
            ends = (int(net.link_a[number >> 1]), int(net.link_b[number >> 1])) if number is not None else ()
            names = {path, *(net.path(e) for e in ends), *([link.kind] if link is not None else [])}
            if any(matches(n, wanted) for n in names):
                over.append(path)
    got = Measure.exact(float(len(over)), NONE, f"{way} over {over[0]}" if over else way)
    return Truth(bool(over), (got,), f"{way} passes {wanted}")


def _oversubscription(context: Context, tree: Call, arguments: list[Value]) -> Value:
    """``oversubscription("leaf")``: rate from below over rate up, of each switch that has switches above it."""
    pattern = context.word(arguments, 0, tree)
    rows = context.world.tiers(pattern)
    made = [Measure.exact(float(t.down[k] / t.up[k]), NONE, path) for path, t, k in rows if t.up[k] > 0]
    if rows and not made:
        return Several((Measure.exact(0.0, NONE, f"{rows[0][0]} has no switch above it"),), "max", pattern)
    if not rows:
        known = sorted({t.name for t in context.world.context.tiers})
        raise CheckError(f"no switch is called {pattern!r}", tree.at, f"tiers: {', '.join(known) or 'none'}; or a path")
    return Several(tuple(made), "max", pattern)


def _survives(context: Context, tree: Call, arguments: list[Value]) -> Value:
    """``survives(any leaf)``: the design without each of some parts in turn."""
    given = arguments[0] if arguments else None
    if isinstance(given, Missing | Word):
        pattern = given.pattern if isinstance(given, Missing) else given.text
        context.world.losses(pattern)
        return Loss(pattern)
    raise CheckError("survives needs parts to take away", tree.at, 'survives(any leaf), survives(any "hosts[*]/nic0")')


def _percentile(context: Context, tree: Call, arguments: list[Value]) -> Value:
    """``p95(ttft, "chat")``."""
    name, about = context.word(arguments, 0, tree), context.word(arguments, 1, tree)
    jobs = context.world.jobs(about)
    if len(jobs) != 1:
        raise CheckError(f"there is no one workload {about!r}", tree.at, one_of(context.world))
    metrics = {**context.world.result(jobs[0]).metrics, **context.world.result(jobs[0], context.load).metrics}
    wanted = [f"{name}_{tree.name}", f"{tree.name}_{name}"]
    found = next((w for w in wanted if w in metrics), None)
    if found is None:
        raise CheckError(f"{jobs[0]!r} tells no {wanted[0]}", tree.at, f"it tells {', '.join(metrics)}")
    return context.world.metric(jobs[0], found, context.load)


def _none(context: Context, tree: Call, arguments: list[Value]) -> Value:
    """``none(findings.error)``: there is no such finding."""
    given = arguments[0] if len(arguments) == 1 else None
    if not isinstance(given, Found):
        raise CheckError("none needs findings", tree.at, "none(findings.error)")
    count = Measure.exact(float(len(given.findings)), NONE)
    return Truth(not given.findings, (count,), "none", given.findings)


def _findings(context: Context, tree: Call, arguments: list[Value]) -> Value:
    """``findings("NET002")``: those of some codes."""
    codes = {context.word(arguments, k, tree) for k in range(len(arguments))}
    for code in sorted(codes):
        # of a code that nothing has there would be none for ever
        if code not in CODES and code not in rules():
            remedy = did_you_mean(code, (*rules(), *CODES), "docs/findings.md lists them")
            raise CheckError(f"no finding has the code {code!r}", tree.at, remedy)
    return Found(tuple(f for f in context.world.findings if f.code in codes))


def _count(context: Context, tree: Call, arguments: list[Value]) -> Value:
    """``count("gpu")``, ``count(findings.error)``: how many."""
    given = arguments[0] if len(arguments) == 1 else None
    if isinstance(given, Found):
        return Measure.exact(float(len(given.findings)), NONE)
    if isinstance(given, Several):
        return Measure.exact(float(len(given.items)))
    name = context.word(arguments, 0, tree)
    parts = context.world.counts("parts")
    if name in parts:
        return Measure.exact(float(parts[name]))
    links = context.world.counts("links")
    if name in links:
        return Measure.exact(float(links[name]))
    from designer.catalog.parttype import link_kinds, part_kinds

    if name in part_kinds() or name in link_kinds():
        return Measure.exact(0.0)
    chosen = context.world.network.net.select(name).flat
    return Measure.exact(float(len(chosen)))


def _workload(context: Context, tree: Call, arguments: list[Value]) -> Value:
    """``workload("h2d")``: for ids that are no words."""
    name = context.word(arguments, 0, tree)
    jobs = context.world.jobs(name)
    if len(jobs) != 1:
        raise CheckError(f"there is no one workload {name!r}", tree.at, one_of(context.world))
    return Job(jobs[0])


def _thing(context: Context, tree: Call, arguments: list[Value]) -> Value:
    """``part("gpu0").memory_capacity``, ``link("cpu0--gpu0").rate``."""
    return Thing(context.word(arguments, 0, tree))


def _curve(context: Context, tree: Call, arguments: list[Value]) -> Value:
    """``curve("evacuate", "transferred").max``: a series of a workload, over time or sizes."""
    about, name = context.word(arguments, 0, tree), context.word(arguments, 1, tree)
    jobs = context.world.jobs(about)
    curves = context.world.result(jobs[0], context.load).curves if len(jobs) == 1 else {}
    for group, lines in curves.items():
        for line in lines:
            if name in (line.name, group) and line.y:
                low, high = line.low or line.y, line.high or line.y
                rows = zip(line.x, line.y, low, high, strict=True)
                items = [Measure(y, a, b, NONE, f"{line.name} at {x:.4g}") for x, y, a, b in rows]
                return Several(tuple(items), "max", name)
    known = sorted({*curves, *(line.name for lines in curves.values() for line in lines)})
    raise CheckError(f"{about!r} has no series {name!r}", tree.at, f"it has {', '.join(known) or 'none'}")


def _end(which: str) -> Function:
    def function(context: Context, tree: Call, arguments: list[Value]) -> Value:
        """``low(x)``, ``high(x)``: an end of the band."""
        if len(arguments) != 1:
            raise CheckError(f"{tree.name} takes one measure", tree.at, f"{tree.name}(…)")
        given = arguments[0]
        if isinstance(given, Several):
            return replace(given, items=tuple(at_end(m, which) for m in given.items))
        return at_end(context.one(given, tree.at), which)

    return function


def _extreme(how: str) -> Function:
    def function(context: Context, tree: Call, arguments: list[Value]) -> Value:
        """``min``, ``max``, ``sum``, ``mean`` of a list or of several measures."""
        items: list[Measure] = []
        for given in arguments:
            items += given.items if isinstance(given, Several) else [context.one(given, tree.at)]
        if not items or any(m.unit != items[0].unit for m in items):
            raise CheckError(f"{tree.name} needs measures of one unit", tree.at, f"{tree.name}(a, b)")
        return finite(combine(how, tuple(items), tree.name), tree.at)

    return function


#: the functions of the language; metrics are functions as well
FUNCTIONS: Final[Mapping[str, Function]] = {
    "rate": _rate,
    "passes": _passes,
    "oversubscription": _oversubscription,
    "survives": _survives,
    "none": _none,
    "findings": _findings,
    "count": _count,
    "workload": _workload,
    "part": _thing,
    "link": _thing,
    "curve": _curve,
    "low": _end("low"),
    "high": _end("high"),
    **dict.fromkeys(_PERCENTILES, _percentile),
    **{name: _extreme(name) for name in ("min", "max", "sum", "mean")},
}

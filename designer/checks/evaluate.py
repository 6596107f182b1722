"""Promises worked out on a world: every tree ends in a value or in one error with its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from designer.catalog.parttype import link_kinds, part_kinds
from designer.checks.syntax import Amount, AnyOf, Call, CheckError, Comparison, Member, Name, Pair, Sign, Text, Tree
from designer.checks.values import (
    NONE,
    Found,
    Measure,
    Several,
    Truth,
    Word,
    at_end,
    calculated,
    closest,
    combine,
    finite,
    holds,
    spelled,
    unit_of,
)
from designer.checks.world import Job, Loss, World, bottleneck_text, matches
from designer.design.channels import channel_number
from designer.errors import DesignerError
from designer.finding_codes import CODES
from designer.findings import Severity
from designer.rules.rule import rules
from designer.spelling import did_you_mean
from designer.workload.metrics import METRICS


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


def _several_flows(flows: Sequence[Measure], whole: str, name: str, at: int) -> Several:
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
    return _several_flows(made, "sum", way, tree.at)


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
        raise CheckError(f"{jobs[0]!r} has no {wanted[0]}", tree.at, f"it has {', '.join(metrics)}")
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


def _value_of_item(context: Context, tree: Call, arguments: list[Value]) -> Value:
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
    "part": _value_of_item,
    "link": _value_of_item,
    "curve": _curve,
    "low": _end("low"),
    "high": _end("high"),
    **dict.fromkeys(_PERCENTILES, _percentile),
    **{name: _extreme(name) for name in ("min", "max", "sum", "mean")},
}


#: how much of the band towards its bad end must hold
_PLAIN, _PROBABLE, _CERTAIN = 0.0, 0.5, 1.0
_HOW: Final = {"min": "min", "max": "max", "sum": "sum", "mean": "mean", "worst": "max"}


class Evaluator:
    """Works out trees on one world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.strict = _PLAIN
        self.load: float | None = None

    def truth(self, tree: Tree) -> Truth:
        """Whether a promise holds."""
        found = self.value(tree)
        if isinstance(found, Truth):
            return found
        raise CheckError("this is no promise, it says nothing that holds or not", tree.at, "compare it: … <= 10 s")

    def value(self, tree: Tree) -> Value:
        """What a tree represents."""
        try:
            return self._value(tree)
        except CheckError:
            raise
        except DesignerError as error:
            raise CheckError(error.text, tree.at, error.remedy or "") from None

    def _value(self, tree: Tree) -> Value:
        match tree:
            case Amount():
                return Measure.exact(tree.value, unit_of(tree.dimension))
            case Text():
                return Word(tree.text)
            case AnyOf():
                return Missing(tree.text)
            case Name():
                return self._name(tree)
            case Call():
                return self._call(tree)
            case Member():
                return self._member(tree)
            case Sign():
                return self._sign(tree)
            case Pair():
                return self._pair(tree)
            case Comparison():
                return self._comparison(tree)

    # names

    def _name(self, tree: Name) -> Value:
        if tree.name == "findings":
            return Found(self.world.findings)
        if tree.name in ("parts", "links"):
            return Counts(tree.name)
        jobs = self.world.jobs(tree.name)
        if len(jobs) == 1:
            return Job(jobs[0])
        if tree.name in METRICS or tree.name in _SERVED:
            return Word(tree.name, True)
        if jobs:
            raise CheckError(
                f"{len(jobs)} workloads are of the kind {tree.name}",
                tree.at,
                f"name one: workload({', '.join(map(repr, jobs))})",
            )
        known = ", ".join((*self.world.design.workloads, "findings", "parts", "links"))
        hyphened = next((w for w in self.world.design.workloads if w.startswith(f"{tree.name}-")), None)
        mend = f'write workload("{hyphened}"), a minus subtracts' if hyphened else f"there are {known}"
        raise CheckError(f"there is no {tree.name!r}", tree.at, mend)

    def _member(self, tree: Member) -> Value:
        of, name = self.value(tree.of), tree.name
        match of:
            case Found():
                if name not in list(Severity):
                    raise CheckError(f"findings have no {name!r}", tree.at, f"use {', '.join(Severity)}")
                return Found(tuple(f for f in of.findings if f.severity == name))
            case Counts():
                return Measure.exact(float(self._count_items(of.what, name, tree.at)))
            case Job():
                return self.world.metric(of.id, name, self.load)
            case Thing():
                return self.world.value(of.path, name)
            case Loss():
                return self._loss(of, name, tree.at)
            case Several():
                if name == "count":
                    return Measure.exact(float(len(of.items)))
                if name in ("first", "last"):
                    return of.items[0 if name == "first" else -1]
                if name in _HOW:
                    return combine(_HOW[name], of.items, of.name)
                known = ", ".join((*_HOW, "count", "first", "last"))
                raise CheckError(f"a list has no {name!r}", tree.at, f"use {known}")
            case _:
                raise CheckError(
                    f"this has no {name!r}", tree.at, "only workloads, findings, parts and lists have parts"
                )

    def _count_items(self, what: str, kind: str, at: int) -> int:
        """How many parts or links of a kind: of a kind nobody knows none would be right for ever."""
        counts = self.world.counts(what)
        known = {*counts, *(part_kinds() if what == "parts" else link_kinds())}
        if kind not in known:
            remedy = did_you_mean(kind, sorted(known), f"the design has {', '.join(counts)}")
            raise CheckError(f"{what} have no kind {kind!r}", at, remedy)
        return counts.get(kind, 0)

    def _loss(self, of: Loss, name: str, at: int) -> Value:
        world = self.world
        if not of.job:
            if name == "slowdown":
                jobs = list(world.design.workloads)
                if not jobs:
                    raise CheckError("the design has no workload", at, "add one")
                worst = [world.slowdown(of.pattern, job).one for job in jobs]
                return Several(tuple(worst), "max", of.pattern)
            jobs = world.jobs(name)
            if len(jobs) != 1:
                raise CheckError(f"there is no one workload {name!r}", at, one_of(world))
            return Loss(of.pattern, jobs[0])
        if name == "slowdown":
            return world.slowdown(of.pattern, of.job)
        items: list[Measure] = []
        whole = world.metric(of.job, name)
        for path in world.losses(of.pattern):
            result = world.lost(path, of.job).after.result
            if result is None or name not in result.metrics:
                raise CheckError(f"{of.job} cannot run without {path}", at, "ask for its slowdown")
            m = result.metrics[name]
            items.append(Measure(m.value, m.low, m.high, whole.unit, path, whole.binds, whole.mend))
        return Several(tuple(items), "max", of.pattern)

    # operators

    def _sign(self, tree: Sign) -> Value:
        if tree.operator == "not":
            found = self.truth(tree.of)
            return replace(found, holds=not found.holds, expected=f"not {found.expected}")
        of = self.one(self.value(tree.of), tree.at)
        return replace(of, value=-of.value, low=-of.high, high=-of.low)

    def _pair(self, tree: Pair) -> Value:
        if tree.operator in ("and", "or"):
            left, right = self.truth(tree.left), self.truth(tree.right)
            holds = (left.holds and right.holds) if tree.operator == "and" else (left.holds or right.holds)
            # what is shown is what decides
            shown = [t for t in (left, right) if t.holds is holds] or [left, right]
            got = tuple(m for t in shown for m in t.got)
            findings = tuple(f for t in shown for f in t.findings)
            return Truth(holds, got, f" {tree.operator} ".join(t.expected for t in shown), findings)
        left, right = self.one(self.value(tree.left), tree.at), self.one(self.value(tree.right), tree.at)
        return calculated(tree.operator, left, right, tree.at)

    def _comparison(self, tree: Comparison) -> Truth:
        load, self.load = self.load, tree.load.value if tree.load is not None else self.load
        try:
            left, right = self.value(tree.left), self.one(self.value(tree.right), tree.right.at)
        finally:
            self.load = load
        if isinstance(left, Truth | Found):
            raise CheckError("this cannot be compared with a number", tree.left.at, "compare a metric, rate or count")
        if tree.each:
            items = left.items if isinstance(left, Several) else (self.one(left, tree.left.at),)
        else:
            items = (self.one(left, tree.left.at),)
        for item in items:
            if item.unit != right.unit:
                raise CheckError(
                    f"compares {spelled(item.unit)} with {spelled(right.unit)}",
                    tree.at,
                    f"give the right side the unit of the left, {_example(item)}",
                )
        broken = tuple(item for item in items if not holds(tree.operator, item, right, self.strict))
        asked = {_PLAIN: "", _PROBABLE: "probably ", _CERTAIN: "certainly "}[self.strict]
        expected = f"{asked}{tree.operator} {_shown_value(tree.right, right)}{' each' * tree.each}"
        return Truth(not broken, broken or closest(tree.operator, items), expected)

    def one(self, value: Value, at: int) -> Measure:
        """A value as one number."""
        if isinstance(value, Several):
            return value.one
        if isinstance(value, Word) and value.is_name:
            return self.metric(Call(at, value.text, ()))
        if isinstance(value, Measure):
            return value
        if isinstance(value, Found):
            return Measure.exact(float(len(value.findings)))
        raise CheckError("a number is expected here", at, "name a metric, a rate or a count")

    # functions

    def _call(self, tree: Call) -> Value:
        name = tree.name
        if name in ("certainly", "probably"):
            return self._judge_band_end(tree, _CERTAIN if name == "certainly" else _PROBABLE)
        function = FUNCTIONS.get(name)
        if function is not None:
            return function(self, tree, [self.value(a) for a in tree.arguments])
        if name in METRICS or name in _SERVED:
            return self.metric(tree)
        known = sorted({*FUNCTIONS, "certainly", "probably"})
        remedy = did_you_mean(name, [*known, *METRICS], f"use {', '.join(known)} or a metric")
        raise CheckError(f"there is no function {name!r}", tree.at, remedy)

    def _judge_band_end(self, tree: Call, strict: float) -> Truth:
        if len(tree.arguments) != 1:
            raise CheckError(f"{tree.name} takes one promise", tree.at, f"{tree.name}(… <= 10 s)")
        before, self.strict = self.strict, strict
        try:
            return self.truth(tree.arguments[0])
        finally:
            self.strict = before

    def metric(self, tree: Call) -> Measure:
        """``stun_time("vm-7")``: of a workload, or of one machine of a workload that moves it."""
        arguments = [self.value(a) for a in tree.arguments]
        if not arguments:
            found = [w for w in self.world.design.workloads if tree.name in self.world.result(w, self.load).metrics]
            if len(found) != 1:
                raise CheckError(f"{len(found)} workloads have {tree.name}", tree.at, f'name one: {tree.name}("…")')
            return self.world.metric(found[0], tree.name, self.load)
        about = self.word(arguments, 0, tree)
        jobs = self.world.jobs(about)
        if len(jobs) == 1:
            return self.world.metric(jobs[0], tree.name, self.load)
        row = self.world.row(about, tree.name) if not jobs else None
        if row is None:
            known = ", ".join((*self.world.design.workloads, *self.world.design.vms)) or "none"
            mend = f"workloads and machines: {known}"
            if ">" in about:
                ends = (end.strip(" -=") for end in about.split(">", 1))
                mend = f'write {tree.name}("{" -> ".join(ends)}")'
            raise CheckError(f"{tree.name} is not known of {about!r}", tree.at, mend)
        return row

    def word(self, arguments: Sequence[Value], index: int, tree: Call) -> str:
        """A text argument."""
        given = arguments[index] if index < len(arguments) else None
        if isinstance(given, Word):
            return given.text
        if isinstance(given, Job):
            return given.id
        raise CheckError(f"{tree.name} needs a text in quotes", tree.at, f'{tree.name}("…")')


#: metrics of serving, which its workloads bring along
_SERVED: Final = frozenset(
    {
        "ttft",
        "tpot",
        "latency",
        "latency_p50",
        "latency_p95",
        "latency_p99",
        "requests_per_second",
        "tokens_per_second",
        "cold_start_time",
    }
)


def _shown_value(tree: Tree, value: Measure) -> str:
    return tree.text.strip() if isinstance(tree, Amount) else value.shown


def _example(measure: Measure) -> str:
    return f"such as {measure.shown}"

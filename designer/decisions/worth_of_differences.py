"""What differences between two drawings of one machine cost its workloads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from designer.analysis.study import analyze
from designer.decisions.as_built import Comparison, Differences
from designer.design.document import Design, Link, LinkValues, Wiring, with_changes
from designer.design.elaborate import Netlist
from designer.engine.account.worth import share_of, worth_of
from designer.errors import AnalysisError, DesignerError, ExchangeError
from designer.sources import Estimate
from designer.units import format_quantity

#: wirings of more cables stay as they are
_CABLES_LIMIT: Final = 20_000
_VALUES: Final = tuple(LinkValues.model_fields)


def built_design(designed: Design, found: Differences) -> Design:
    """`designed` without the cables that are missing, with those that lead elsewhere, and slow ones at their rate.

    Wirings with a difference become single links; everything else stays the same object.

    Raises
    ------
    ExchangeError
        If a cable with a difference is drawn inside a group, or its wiring has too many cables to draw one by one.
    """
    net = found.plan.net
    touched = {i for pair in (*found.missing, *found.slow) for i in found.plan.links.get(pair, ())}
    names = {_top(net, designed, i) for i in touched}
    single: dict[str, list[int]] = defaultdict(list)
    for i in range(net.n_links):
        definition = net.link_defs[int(net.link_def[i])]
        if definition.id in names and (designed.wirings.get(definition.id) or designed.links.get(definition.id)):
            single[definition.id].append(i)
    if sum(map(len, single.values())) > _CABLES_LIMIT:
        raise ExchangeError(
            f"the wirings with differences have more than {_CABLES_LIMIT:,} cables", remedy="compare a smaller design"
        )
    plan = _Changes(net, found)
    links = {k: v for k, v in designed.links.items() if k not in single}
    for name, numbers in single.items():
        for n, i in enumerate(numbers):
            for link in plan.links(i, f"{name}.{n}" if name in designed.wirings else name):
                links[link.id] = link
    wirings = {k: v for k, v in designed.wirings.items() if k not in single}
    return with_changes(designed, links=links, wirings=wirings, title=f"{designed.title or designed.name}, as built")


def _top(net: Netlist, designed: Design, i: int) -> str:
    name = net.link_defs[int(net.link_def[i])].id
    if name not in designed.wirings and name not in designed.links:
        raise ExchangeError(
            f"the cables {name!r} are drawn inside a group", remedy="draw groups apart, or compare without prices"
        )
    return name


class _Changes:
    """Links of a design with the differences spread over them, first over the first."""

    def __init__(self, net: Netlist, found: Differences) -> None:
        self.net = net
        self.gone: dict[int, int] = {}
        self.slow: dict[int, tuple[int, float]] = {}
        self.moved: dict[int, list[tuple[int, int]]] = defaultdict(list)
        left = dict(found.missing)
        for pair in found.missing:
            for i in found.plan.links.get(pair, ()):
                take = min(left[pair], net.link(i).count)
                if take:
                    self.gone[i] = take
                    left[pair] -= take
        for shared, meant, got in found.moved:
            pair = (shared, meant) if shared <= meant else (meant, shared)
            free = next((i for i in found.plan.links.get(pair, ()) if len(self.moved[i]) < self.gone.get(i, 0)), None)
            if free is not None:
                self.moved[free].append((meant, got))
        for pair, (count, rate) in found.slow.items():
            rest = count
            for i in found.plan.links.get(pair, ()):
                take = min(rest, net.link(i).count - self.gone.get(i, 0))
                if take > 0:
                    self.slow[i] = (take, rate)
                    rest -= take

    def links(self, i: int, name: str) -> list[Link]:
        """What became of one bundle of cables."""
        definition = self.net.link(i)
        slow, rate = self.slow.get(i, (0, 0.0))
        sound = definition.count - self.gone.get(i, 0) - slow
        ends = (self.net.path(int(self.net.link_a[i])), self.net.path(int(self.net.link_b[i])))
        found = [self._link(name, definition, ends, {"count": sound})] if sound else []
        if slow:
            slower = {"count": slow, "bandwidth_per_direction": format_quantity(rate, "rate")}
            found.append(self._link(f"{name}-slow", definition, ends, slower))
        for k, (meant, got) in enumerate(self.moved.get(i, ())):
            elsewhere = tuple(self._replaced_end(end, meant, got) for end in ends)
            if elsewhere != ends:
                found.append(self._link(f"{name}-moved{k}", definition, (elsewhere[0], elsewhere[1]), {"count": 1}))
        return found

    def _replaced_end(self, end: str, meant: int, got: int) -> str:
        """Where an end leads that was to lead to a node: to the other node, where it is one that cables end at."""
        target = self.net.path(got)
        return target if end == self.net.path(meant) and self.net.part(got).kind == "switch" else end

    @staticmethod
    def _link(name: str, definition: Link | Wiring, ends: tuple[str, str], changes: Mapping[str, object]) -> Link:
        values = {field: getattr(definition, field) for field in _VALUES}
        return Link.model_validate({**values, **changes, "id": name, "a": ends[0], "b": ends[1]})


@dataclass(frozen=True, slots=True)
class Cost:
    """A workload before and after.

    Parameters
    ----------
    share
        What is left of its throughput; 0 where it cannot run, and `why`.
    """

    workload: str
    title: str
    metric: str
    before: Estimate
    after: Estimate | None
    share: float
    why: str = ""


def costs(designed: Design, built: Design, workloads: Sequence[str] | None = None) -> list[Cost]:
    """The workloads of a design on what was built, each by the metric of how much it gets done.

    Workloads that cannot run on the design itself are left out.

    Raises
    ------
    AnalysisError
        If there is no such workload.
    """
    found: list[Cost] = []
    for spec in designed.workloads if workloads is None else workloads:
        before = analyze(designed, [spec]).workloads[0]
        try:
            metric = worth_of(before)
        except AnalysisError:
            continue
        title = designed.workloads[spec].title or spec
        try:
            after = analyze(built, [spec]).workloads[0]
        except AnalysisError as error:
            found.append(Cost(spec, title, metric, before.metrics[metric], None, 0.0, error.text))
            continue
        share = share_of(before, after)
        found.append(Cost(spec, title, metric, before.metrics[metric], after.metrics.get(metric), share))
    return found


def priced(designed: Design, found: Comparison) -> tuple[list[Cost], str]:
    """What differences of a fabric as built cost all workloads; a sentence where that is not known."""
    if not (found.differences.missing or found.differences.slow) or not designed.workloads:
        return [], ""
    try:
        return costs(designed, built_design(designed, found.differences)), ""
    except DesignerError as error:
        return [], error.text

"""Collectives: time and what binds it from the program; bandwidths, hops, loads and a sweep over sizes next to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from designer.engine.account.bottlenecks import sort_of
from designer.engine.clock.jobs import job_of
from designer.engine.clock.measures import answer as alone
from designer.engine.costs import Prices
from designer.engine.machines.guest import Guest
from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, Rows, Step, WorkloadResult
from designer.families.collective.evaluation import (
    asked_group,
    better_choice,
    flows_of,
    loads_of,
    role_findings,
    size_sweep,
    spreads_of,
    time_of,
    unused_switches,
)
from designer.formulas.collectives import CollectiveTime
from designer.formulas.collectives.collective_time import sources_of
from designer.sources import Estimate
from designer.workload.program import Collective, Program


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Time and bandwidths of a collective."""
    task = program.first(Collective)
    assert task is not None
    found = alone(Prices(network), job_of(program, question.place), explained=question.explained)
    asked = asked_group(network, task, question.place)
    group, spreads, time = asked.group, spreads_of(asked.group), time_of(asked, task)
    sources = (*sources_of(time.algorithm), *(("assumed-spread",) if any(spreads) else ()))
    note = f"{time.algorithm}, {time.protocol}"
    taken = replace(found.metrics["communication_time"], sources=sources, note=note)
    binding, after = found.bottlenecks(program) if question.explained else ((), ())
    findings = (
        (*asked.stated, *role_findings(group), *unused_switches(group, task), *better_choice(task, time))
        if question.explained
        else ()
    )
    result = question.result(
        {"communication_time": taken, **_bandwidths(time, sources, note), **_in_machine(asked.guest)},
        binding,
        after,
        Rows(lambda: flows_of(group, time)),
        group.n_legs,
        findings,
        {"size-sweep": size_sweep(asked, task, spreads)} if question.curves else {},
        steps=[Step("collective", found.why.value, found.why.parts(found.words, lambda one: sort_of(network, one)))]
        if question.explained
        else [],
    )
    return result, loads_of(group, time, network)


def _bandwidths(time: CollectiveTime, sources: tuple[str, ...], note: str) -> Mapping[str, Estimate]:
    """As nccl-tests prints them."""
    ratio = time.algorithm_bandwidth / time.bus_bandwidth if time.bus_bandwidth else 1.0
    ends = {
        "bus_bandwidth": (time.bus_bandwidth, time.bus_low, time.bus_high),
        "algorithm_bandwidth": (time.algorithm_bandwidth, time.bus_low * ratio, time.bus_high * ratio),
    }
    return {name: Estimate(*values, "B/s", sources, note) for name, values in ends.items()}


def _in_machine(guest: Guest | None) -> Mapping[str, Estimate]:
    """Shares that a collective in virtual machines depends on."""
    if guest is None:
        return {}
    lines = guest.metrics()
    names = (
        ("compute_share", "nic_share", "virtualization_factor")
        if guest.turns
        else ("nic_share", "virtualization_factor")
    )
    return {name: lines[name] for name in names if name in lines}

"""What users of served models feel while the machines those run in move: both run on the clock, with and without."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from designer.engine.clock.interruptions import Cause, Interruption, interruptions
from designer.engine.clock.jobs import Job, job_of
from designer.engine.clock.player import play
from designer.engine.costs import Prices
from designer.engine.machines.guest import Work
from designer.engine.machines.guests import guest_of
from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import Column, Table
from designer.engine.routes.selection import resolve
from designer.families.machines.formulas.vmotion_precopy import BANDWIDTH_SPREAD
from designer.families.machines.moves import Moves
from designer.families.machines.operations import Migrate, Migration
from designer.families.serving.answers import SOURCES
from designer.families.serving.deployment import Serving
from designer.families.serving.request_log import logs_of
from designer.families.serving.tasks import Serve
from designer.families.serving.user_impact import Felt, felt
from designer.findings import Finding, Severity
from designer.sources import Constant, Estimate, Status
from designer.units import format_quantity
from designer.workload.kind import task_of
from designer.workload.program import Program, Step

#: served before machines move, and after, so that there is something to compare with
BEFORE: Final = Constant(20.0, 5.0, 60.0, "assumed-serving", Status.ASSUMED, "s", "an engine is full long before")
AFTER: Final = Constant(20.0, 5.0, 60.0, "assumed-serving", Status.ASSUMED, "s", "what piled up is answered by then")
#: more requests than this are not looked at while one asks for a migration
REQUESTS_LIMIT: Final = 20_000
_LEAST_LIMIT: Final = 10
_METRICS: Final = {"ttft_p95": "ttft_p95_while_moving", "itl_p95": "itl_p95_while_moving"}


@dataclass(frozen=True, slots=True)
class Users:
    """What users of the served models of a design feel of a migration."""

    felt: tuple[Felt, ...]
    findings: tuple[Finding, ...]
    stood: tuple[Interruption, ...] = ()

    def metrics(self, moves: Moves) -> Mapping[str, Estimate]:
        """Of the model whose users wait longest."""
        if not self.felt:
            return {}
        worst = max(self.felt, key=lambda one: one.during.get("ttft_p95", 0.0))
        stuns = [m.migration.downtime for m in moves.moved if m.migration is not None]
        # waiting is as long as the pause is, and that is known no better
        low = min((s.low / s.value for s in stuns if s.value > 0), default=BANDWIDTH_SPREAD.low)
        high = max((s.high / s.value for s in stuns if s.value > 0), default=BANDWIDTH_SPREAD.high)
        sources = tuple(dict.fromkeys([*SOURCES, *(key for stun in stuns for key in stun.sources)]))
        found: dict[str, Estimate] = {}
        for name, stated in _METRICS.items():
            value = worst.during.get(name)
            if value is not None:
                usual = worst.without.get(name, value)
                note = f"{worst.workload}, {format_quantity(usual, 'duration')} where nothing moves"
                ends = min(usual, value) * low, value * high
                found[stated] = Estimate(value, max(ends[0], value * low), ends[1], "s", sources, note)
        return found

    def table(self) -> Table:
        """A row a model and percentile."""
        columns = (
            Column("served"),
            Column("percentile"),
            Column("while it moves", "s"),
            Column("otherwise", "s"),
            Column("requests"),
        )
        rows = [
            (one.workload, name, value, one.without.get(name), one.requests)
            for one in self.felt
            for name, value in one.during.items()
        ]
        return Table("What users feel", columns, tuple(rows))

    def is_paused(self) -> Table:
        """A row for each time a served model is paused, from when the first machine sets out."""
        columns = (Column("served"), Column("machine"), Column("from", "s"), Column("for", "s"))
        rows = [(one.program, one.what, one.begin - BEFORE.value, one.end - one.begin) for one in self.stood]
        return Table("Served models that stand still", columns, tuple(rows))


def users_of(network: Network, operation: Migration, moves: Moves, question: Question) -> Users:
    """What users feel of moves, by served model that runs in a machine that moves; nobody where none does."""
    moved = {each.going.name for each in moves.moved if each.migration is not None}
    served = _served_models(network, moved) if moved else {}
    if not served:
        return Users((), ())
    begin = BEFORE.value
    until = begin + moves.time.value + AFTER.value
    many = {name: asked.load.rate * until for name, asked in served.items()}
    busy = [name for name, count in many.items() if count > REQUESTS_LIMIT]
    findings: list[Finding] = []
    if busy:
        text = f"{', '.join(busy)} runs in what moves; what its users feel takes a simulation of {until:.0f} s"
        findings.append(Finding("MIGRATE-FELT", Severity.INFO, text, (), "run both: designer simulate"))
    jobs = [_job(name, Serve(asked), 0.0) for name, asked in served.items() if name not in busy]
    if not jobs:
        return Users((), tuple(findings))
    prices = Prices(network, frozenset(moved))
    moving = _job(question.id, Migrate(operation), begin)
    without = play(prices, jobs, until=until, cancelled=question.cancelled)
    run = play(prices, [*jobs, moving], until=until, cancelled=question.cancelled)
    task = next((t for t in run.tasks if t.program == question.id and t.parent < 0), None)
    end = task.ended if task is not None and not math.isnan(task.ended) else until
    logs, others = logs_of(run), logs_of(without)
    found = [one for job in jobs if (one := felt(logs[job.name], others[job.name], job.name, question.id, begin, end))]
    names = {job.name for job in jobs}
    stood = tuple(one for one in interruptions(run) if one.program in names and one.cause is Cause.STUN)
    return Users(tuple(found), (*findings, *_findings(found)), stood)


def _job(name: str, task: Serve | Migrate, start: float) -> Job:
    return job_of(Program(name, (Step("work", task),), start=start), f"workloads.{name}")


def _served_models(network: Network, moved: Collection[str]) -> dict[str, Serving]:
    """Served models that run in some machines, by workload."""
    found: dict[str, Serving] = {}
    for spec in network.design.workloads.values():
        if spec.kind != "serving":
            continue
        place = f"workloads.{spec.id}"
        task = task_of(spec.kind, spec.settings, place, Serve)
        if task is None:
            continue
        asked = task.operation
        if asked.load.kind != "rate" or asked.deployment.prompts:
            continue
        parts = resolve(network, asked.deployment.group, f"{place}.group")
        guest, _ = guest_of(network, parts, asked.deployment.machines, Work.SERVING, place)
        if guest is not None and set(guest.machines) & set(moved):
            # drawn a few at a time, of which the first tenth fills the engine: all that move find it full
            count = max(_LEAST_LIMIT, min(asked.load.count, int(BEFORE.value * asked.load.rate)))
            found[spec.id] = replace(asked, load=replace(asked.load, count=count))
    return found


def _findings(found: Sequence[Felt]) -> list[Finding]:
    stated: list[Finding] = []
    for one in found:
        pairs = [
            f"p95 {words} is {format_quantity(one.during[name], 'duration')} "
            f"in place of {format_quantity(one.without[name], 'duration')}"
            for name, words in (("ttft_p95", "until the first token"), ("itl_p95", "between tokens"))
            if name in one.during and name in one.without
        ]
        text = f"of the {one.requests:,} requests to {one.workload} in those {one.seconds:.3g} s {', '.join(pairs)}"
        stated.append(Finding("MIGRATE-FELT", Severity.INFO, text, (), "move it while few ask, or drain it first"))
    return stated

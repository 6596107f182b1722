"""A plan as people and programs read it: metrics, tables, curves, flows, loads and findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from designer.analysis.bottlenecks import Resources
from designer.analysis.channel_order import in_order
from designer.analysis.flows import binding
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, Column, Curve, Flow, Table
from designer.analysis.vms.demands import KVM, dirtying_of, memory_of, vsphere
from designer.analysis.vms.migration_paths import MigrationPaths
from designer.analysis.vms.migration_plan import Conditions, MigrationPlan, Moved
from designer.analysis.vms.migrations import Drain, framebuffers, generation_of, stun_limit
from designer.analysis.vms.planner import COLD_TIME
from designer.catalog.vgpu_stun import load_stun_tables
from designer.findings import Finding, Severity
from designer.formulas.migration import Verdict
from designer.formulas.migration.drs_cadence import MOST_EAGER, drs_cadence
from designer.formulas.migration.evacuation_bound import evacuation_bound
from designer.formulas.migration.evacuation_schedule import SOURCES as SCHEDULE_SOURCES
from designer.formulas.migration.evacuation_schedule import EvacuationVm
from designer.formulas.migration.vgpu_stun import VgpuLoad, vgpu_stun
from designer.formulas.migration.vmotion_cpu import vmotion_cpu
from designer.formulas.migration.vmotion_precopy import BANDWIDTH_SPREAD
from designer.formulas.migration.vmotion_streams import vmotion_streams
from designer.sources import Estimate
from designer.units import BytesPerSecond, Seconds, format_line_rate, format_quantity, parse_rate, parse_size

#: what says which machines move, and which GPUs take them
STAYING_SOURCES: Final = ("denneman-2023-vgpu-vmotion", "nvidia-aie-user-guide")
#: NIC speeds and frame buffers of the stun sweep
SWEPT_RATES: Final = tuple(parse_rate(f"{speed} Gb/s") for speed in ("10", "25", "40", "100", "200"))
SWEPT_SIZES: Final = tuple(
    parse_size(f"{size} GiB") for size in ("4", "8", "16", "24", "40", "48", "80", "141", "320", "640")
)
CURVES_LIMIT: Final = 64
#: a plan so near to the bound is as good as any
GAP_TOLERANCE: Final = 0.005


@dataclass(frozen=True, slots=True)
class Beside:
    """What a background workload got alone and beside the migrations [B/s]."""

    id: str
    title: str
    alone: float
    together: float


def _least(plan: MigrationPlan) -> float:
    """The time that no order of the moves stays below [s]; 0 where one machine alone moves."""
    if len(plan.moved) < 2:
        return 0.0
    rates = {h: max(s.bandwidth.value, s.checkpoint_bandwidth.value) for h, s in plan.streams.items()}
    least: list[EvacuationVm] = []
    for moved in plan.moved:
        vm, name = moved.move.vm, moved.going.name
        if moved.migration is None:
            least.append(vm)
            continue
        # nothing is sent twice in the best case, and nobody else is on the network
        whole = memory_of(moved.going.placed.vm) + sum(
            load.framebuffer_used for load in framebuffers(moved.going.placed)
        )
        alone = float(plan.migration_paths.rates([plan.transfers[name]])[0])
        least.append(replace(vm, size=min(vm.size, whole), rate_cap=max(alone, moved.rate)))
    return float(evacuation_bound(least, rates, {path: max(1, free.more) for path, free in plan.slots.items()}))


def metrics(plan: MigrationPlan, name: str = "migration_time") -> Mapping[str, Estimate]:
    """Totals over all machines; times of the guest are those of the one that suffers most."""
    migrations = [moved.migration for moved in plan.moved if moved.migration is not None]
    moved, stays = len(plan.moved), len(plan.staying)
    note = f"{moved} of {moved + stays} machines" + ("" if not stays else f", {stays} stay")
    makespan = plan.makespan
    found: dict[str, Estimate] = {}
    if stays:
        # what is left behind comes before how long the others take
        found["machines_staying"] = Estimate.exact(float(stays), "1", STAYING_SOURCES)
    if moved:
        # no time is told for what does not happen
        sources = makespan.sources or SCHEDULE_SOURCES
        bound = _least(plan)
        if bound > 0:
            gap = makespan.value / bound - 1
            note += f", {gap:.0%} above the least possible there" if gap > GAP_TOLERANCE else ", the least possible"
        found[name] = replace(makespan, unit="s", sources=sources, note=note)
        if bound > 0:
            # it rests on the same rates
            share = bound / makespan.value
            ends = (makespan.low * share, makespan.high * share)
            found["least_time_possible"] = Estimate(bound, *ends, "s", SCHEDULE_SOURCES, "no order takes less")
    if not migrations:
        return found
    worst = max(migrations, key=lambda migration: migration.downtime.value)
    found["switchover_time"] = worst.downtime
    stunned = [migration.stun for migration in migrations if migration.stun is not None]
    if stunned:
        found["stun_time"] = max(stunned, key=lambda stun: stun.value)
    found["transferred"] = Estimate.total([migration.transferred for migration in migrations])
    rates = [moved.rate for moved in plan.moved if moved.migration is not None]
    peak = max(_peak(plan), max(rates))
    spread = BANDWIDTH_SPREAD
    found["rate"] = Estimate.relative(
        peak, spread.low, spread.high, "B/s", ("migration-calibration",), "most at one time, payload"
    )
    return found


def _peak(plan: MigrationPlan) -> float:
    if plan.schedule is None:
        return 0.0
    moves = [m for m in plan.schedule.moves if m.vm.name in plan.transfers]
    best = 0.0
    for begin in sorted({m.transfer for m in moves})[:CURVES_LIMIT]:
        moving = [plan.transfers[m.vm.name] for m in moves if m.transfer <= begin < m.end]
        best = max(best, float(plan.migration_paths.rates(moving).sum()))
    return best


def machine_table(plan: MigrationPlan) -> Table:
    """One row per machine: where it goes, when, how long it stands still, or why it stays."""
    rows: list[tuple[str | float | None, ...]] = []
    for moved in plan.moved:
        migration, going, move = moved.migration, moved.going, moved.move
        how = "cold" if migration is None else ("alone" if going.serial else "live")
        note = "shut down and started again" if migration is None else _note(migration.verdict, migration.slowdown)
        rows.append(
            (
                going.placed.vm.label,
                going.placed.host.path,
                going.there.host.path,
                how,
                move.start,
                move.end,
                move.end - move.start,
                migration.downtime.value if migration else COLD_TIME.value,
                migration.stun.value if migration and migration.stun else None,
                migration.transferred.value if migration else None,
                moved.rate or None,
                note,
            )
        )
    for staying in plan.staying:
        label, host = staying.placed.vm.label, staying.placed.host.path
        rows.append((label, host, None, "stays", None, None, None, None, None, None, None, staying.reason))
    columns = (
        Column("machine"),
        Column("from"),
        Column("to"),
        Column("how"),
        Column("start", "s"),
        Column("end", "s"),
        Column("time", "s"),
        Column("pause", "s"),
        Column("stun", "s"),
        Column("transferred", "B"),
        Column("rate", "B/s"),
        Column("note"),
    )
    return Table("Virtual machines", columns, tuple(rows))


def _note(verdict: Verdict, slowdown: float) -> str:
    return f"{verdict}, {slowdown:.0%} of its writing" if verdict is Verdict.SLOWED else str(verdict)


def host_table(plan: MigrationPlan, conditions: Conditions) -> Table:
    """One row per host: its migration NICs, the streams on them, what they carry, and the cores that takes."""
    rows: list[tuple[str | float | None, ...]] = []
    hosts = {h.path: h for m in plan.moved for h in (m.going.placed.host, m.going.there.host)}
    for path, host in hosts.items():
        streams = plan.streams[path]
        lines = [nic.line_rate for nic in host.migration_nics]
        cpu = vmotion_cpu(lines, BytesPerSecond(streams.bandwidth.value), encrypted=conditions.encrypted)
        rows.append(
            (
                path,
                ", ".join(nic.path.rsplit("/", 1)[-1] for nic in host.migration_nics),
                sum(lines),
                float(streams.streams),
                streams.bandwidth.value,
                streams.checkpoint_bandwidth.value,
                streams.limited_by,
                float(plan.slots[path].more),
                plan.slots[path].binding,
                cpu.source.value,
                cpu.destination.value,
            )
        )
    columns = (
        Column("host"),
        Column("NICs"),
        Column("line rate", "B/s"),
        Column("streams", "1"),
        Column("carry", "B/s"),
        Column("checkpoint", "B/s"),
        Column("limited by"),
        Column("at once", "1"),
        Column("because of"),
        Column("cores sending", "1"),
        Column("cores receiving", "1"),
    )
    return Table("Hosts", columns, tuple(rows))


def alternatives_table(plan: MigrationPlan) -> Table:
    """What would bring over the machines that set out and do not arrive."""
    columns = (
        Column("machine"),
        Column("with"),
        Column("time", "s"),
        Column("at worst", "s"),
        Column("pause", "s"),
        Column("loses of its writing", "1"),
    )
    rows = tuple(
        (
            staying.placed.vm.label,
            way.title,
            way.migration.total.value,
            way.migration.total.high,
            way.migration.downtime.value,
            way.migration.slowdown,
        )
        for staying in plan.staying
        for way in staying.alternatives
    )
    return Table("What would bring them over", columns, rows)


def drs_table(plan: MigrationPlan) -> Table:
    """What DRS would make of such moves at each threshold: how far it looks back, and how many it fits in a period."""
    columns = (
        Column("threshold"),
        Column("looks back", "s"),
        Column("loaded above", "1"),
        Column("moves per period", "1"),
        Column("time for these", "s"),
        Column("note"),
    )
    live = [m for m in plan.moved if m.migration is not None]
    rows: list[tuple[str | float | None, ...]] = []
    longest = max((m.migration.total.value for m in live if m.migration is not None), default=0.0)
    for threshold in range(1, int(MOST_EAGER.value) + 1) if live else ():
        drs = drs_cadence(
            threshold,
            len(live),
            Seconds(longest),
            concurrency=plan.schedule.most_at_once if plan.schedule else 1,
            machine_memory=max(memory_of(m.going.placed.vm) for m in live),
            has_vgpu=any(m.going.serial for m in live),
        )
        moves = float(drs.moves_per_period) if drs.balances else None
        time = drs.rebalance_time if drs.balances else None
        rows.append((str(threshold), drs.look_back, drs.loaded_above, moves, time, drs.reason))
    return Table("If DRS made these moves", columns, tuple(rows))


def background_table(beside: Sequence[Beside]) -> Table:
    """What other workloads get alone and beside the migrations."""
    columns = (Column("workload"), Column("alone", "B/s"), Column("beside", "B/s"), Column("keeps", "1"))
    rows = tuple((each.title, each.alone, each.together, each.together / each.alone) for each in beside)
    return Table("Running beside", columns, rows)


def besides(plan: MigrationPlan) -> list[Beside]:
    """The background workloads alone, and while most migrations move."""
    migration_paths = plan.migration_paths
    if not migration_paths.background:
        return []
    moving = _busiest(plan)
    found: list[Beside] = []
    for number, each in enumerate(migration_paths.background):
        alone = float(migration_paths.of_background((), number).sum())
        together = float(migration_paths.of_background(moving, number).sum()) if moving else alone
        found.append(Beside(each.id, each.title, alone, together))
    return found


def _busiest(plan: MigrationPlan) -> list[int]:
    """The transfers under way when most are."""
    if plan.schedule is None:
        return []
    moves = [m for m in plan.schedule.moves if m.vm.name in plan.transfers]
    best: list[int] = []
    for begin in sorted({m.transfer for m in moves}):
        moving = [plan.transfers[m.vm.name] for m in moves if m.transfer <= begin < m.end]
        if len(moving) > len(best):
            best = moving
    return best


def curves(plan: MigrationPlan) -> Mapping[str, tuple[Curve, ...]]:
    """Remaining memory per round, the sweep of stuns, and who moved when."""
    found: dict[str, tuple[Curve, ...]] = {}
    live = [(m, m.migration) for m in plan.moved if m.migration is not None][:CURVES_LIMIT]
    if live:
        found["migration-curve"] = tuple(Curve(m.going.placed.vm.label, t.time, t.remaining) for m, t in live)
    if plan.schedule is not None and len(plan.moved) > 1:
        bars = tuple(
            Curve(
                m.going.placed.vm.label, (m.move.start, m.move.transfer, m.move.end), (float(at), float(at), float(at))
            )
            for at, m in enumerate(plan.moved)
        )
        found["evacuation-gantt"] = bars
        found["evacuation-remaining"] = (Curve("not yet moved", plan.schedule.time, plan.schedule.remaining),)
    stunned = next((m for m, _ in live if m.going.serial), None)
    if stunned is not None:
        found["stun-sweep"] = stun_sweep(stunned)
        if published := published_stuns(stunned):
            found["stun-published"] = published
    return found


def stun_sweep(moved: Moved) -> tuple[Curve, ...]:
    """Stun against frame buffer, one line per NIC speed, for the release and GPUs of one machine [B, s]."""
    release = vsphere(moved.going.release)
    lines: list[Curve] = []
    for line in SWEPT_RATES:
        bandwidth = vmotion_streams([line], release=release).checkpoint_bandwidth.value
        stuns = [
            vgpu_stun(
                [VgpuLoad(size)],
                BytesPerSecond(bandwidth),
                BytesPerSecond(bandwidth),
                release=release,
                generation=generation_of(moved.going.placed),
                limit=stun_limit(moved.going.placed, release),
            ).stun
            for size in SWEPT_SIZES
        ]
        lines.append(
            Curve(
                format_line_rate(line),
                SWEPT_SIZES,
                tuple(s.value for s in stuns),
                tuple(s.low for s in stuns),
                tuple(s.high for s in stuns),
            )
        )
    return tuple(lines)


def published_stuns(moved: Moved) -> tuple[Curve, ...]:
    """What was published of GPUs of the same generation, one curve a table [B, s]; those of several GPUs aside."""
    generation = generation_of(moved.going.placed)
    found: list[Curve] = []
    for table in load_stun_tables().values():
        rows = [(row.framebuffer, row.stun) for row in table.rows if row.gpus == 1 and row.stun is not None]
        if rows and generation is not None and table.generation == generation.value:
            sizes, stuns = zip(*sorted(rows), strict=True)
            found.append(Curve(f"{table.kind}: {table.title}", sizes, stuns))
    return tuple(found)


def flows(network: Network, plan: MigrationPlan) -> list[Flow]:
    """The migrations as flows with their paths, at the rate each got."""
    resources = Resources(network, plan.migration_paths.limits)
    listed: list[Flow] = []
    for moved in plan.moved[:CURVES_LIMIT]:
        if moved.migration is None:
            continue
        transfer = plan.transfers[moved.going.name]
        channels, _ = plan.migration_paths.channels(transfer)
        memories = [m for s in moved.going.placed.host.sockets for m in s.memories]
        ordered = in_order(network, memories[0] if memories else network.ends(channels[0])[0], channels)
        asked = plan.migration_paths.asked([transfer])
        by = binding(asked, plan.migration_paths.allocation([transfer])).of(transfer).tolist()
        listed.append(
            Flow(
                moved.going.name,
                moved.going.placed.host.path,
                moved.going.there.host.path,
                tuple(network.channel_id(c) for c in ordered),
                moved.rate,
                moved.rate * BANDWIDTH_SPREAD.low,
                moved.rate * BANDWIDTH_SPREAD.high,
                tuple(resources.bottleneck(int(r), 1).id for r in by),
            )
        )
        drain = plan.drains.get(moved.going.name)
        if drain is not None and moved.migration.stun is not None:
            listed.append(_frame_buffer(network, moved, drain))
    return listed


def _frame_buffer(network: Network, moved: Moved, drain: Drain) -> Flow:
    """The frame buffer of a machine on its way from GPU to GPU, at what the drawing and its streams give it."""
    going = moved.going
    first = next(device for device in going.placed.devices if device.gpu is not None)
    there = next(device for device in going.there.devices if device.gpu is not None)
    assert first.gpu is not None
    ordered = in_order(network, first.gpu.part, list(drain.channels))
    rate = min(moved.rate, drain.rate)
    return Flow(
        f"{going.name}:frame-buffer",
        first.part,
        there.part,
        tuple(network.channel_id(c) for c in ordered),
        rate,
        rate * BANDWIDTH_SPREAD.low,
        rate * BANDWIDTH_SPREAD.high,
        (),
    )


def loads(network: Network, plan: MigrationPlan) -> ChannelLoads:
    """Load of the channels while most machines move."""
    return path_loads(network, plan.migration_paths, _busiest(plan))


def path_loads(network: Network, migration_paths: MigrationPaths, moving: Sequence[int]) -> ChannelLoads:
    """Load of every channel while these transfers move; background traffic counts in the utilization only."""
    n = 2 * network.net.n_links
    load = np.zeros(n)
    rates = migration_paths.rates(moving).tolist() if moving else []
    for transfer, rate in zip(moving, rates, strict=True):
        channels, shares = migration_paths.channels(transfer)
        np.add.at(load, channels, np.array(shares) * rate)
    if not moving and not migration_paths.background:
        return ChannelLoads(load, np.zeros(n))
    rate = migration_paths.allocation(moving).rate
    incidence = migration_paths.incidence
    used = np.bincount(incidence.resource, rate[incidence.rows] * incidence.usage, incidence.n_resources)
    busy = used / incidence.capacity
    first, cables = network.first_resource, network.cables
    utilization = np.zeros(n)
    for link in range(network.net.n_links):
        width = int(cables[link])
        for way in range(2):
            begin = int(first[link]) + (way * width if network.full[link] else 0)
            utilization[2 * link + way] = busy[begin : begin + width].max()
    return ChannelLoads(load, utilization)


def findings(
    plan: MigrationPlan, conditions: Conditions, beside: Sequence[Beside], *, named: bool
) -> Iterator[Finding]:
    """What a person should look at: machines that stay, guests that are slowed, networks that are too narrow.

    A machine that sets out and fails is an error, and so is one that was `named` and stays; one that merely has nowhere
    to go while its host is emptied is a warning.
    """
    for staying in plan.staying:
        vm = staying.placed.vm
        severity = Severity.ERROR if named or staying.failed else Severity.WARNING
        yield Finding("MIG-STAYS", severity, f"{vm.label} cannot move: {staying.reason}", (vm.id,), staying.remedy)
    for moved in plan.moved:
        yield from _of_machine(moved, conditions)
    fallback = {
        host.path: host.migration_nics[0].path
        for moved in plan.moved
        for host in (moved.going.placed.host, moved.going.there.host)
        if not host.has_migration_role
    }
    if fallback:
        text = f"no NIC has the role vmotion; migrations use {next(iter(fallback.values()))} and its like"
        yield Finding(
            "MIG-NO-ROLE",
            Severity.WARNING,
            text,
            tuple(fallback)[:CURVES_LIMIT],
            "give a NIC the attribute role = vmotion",
        )
    if conditions.shares.migrations and plan.migration_paths.background:
        text = "shares weigh flows on their whole way here, while network I/O control weighs them on each uplink"
        yield Finding("MIG-SHARES", Severity.INFO, text, (), "compare with shares of zero, where flows share evenly")
    if plan.distance is not None:
        for reason in plan.distance.reasons:
            yield Finding("MIG-DISTANCE", Severity.ERROR, reason, (), "choose hosts that are nearer, or a faster link")
    if any(moved.going.serial for moved in plan.moved) and len(plan.moved) > 1:
        text = "machines with virtual GPUs move one at a time, and by hand unless the cluster is told to move them"
        remedy = "set VgpuMMAutomationTimeoutSecs = -1 in the advanced options of the cluster"
        yield Finding("MIG-BY-HAND", Severity.INFO, text, (), remedy)
    for each in beside:
        if each.together < each.alone * BANDWIDTH_SPREAD.low:
            text = f"{each.title} keeps {each.together / each.alone:.0%} of its rate while machines move"
            yield Finding("MIG-BESIDE", Severity.WARNING, text, (each.id,), "give migrations a network of their own")


def _of_machine(moved: Moved, conditions: Conditions) -> Iterator[Finding]:
    if moved.migration is None:
        return
    vm, migration = moved.going.placed.vm, moved.migration
    dirty = dirtying_of(vm).rate if conditions.dirty_rate is None else conditions.dirty_rate
    if dirty > moved.rate:
        text = (
            f"{vm.label} writes {format_quantity(dirty, 'rate')}, more than the {format_quantity(moved.rate, 'rate')} "
            f"it is sent with: {migration.reason}"
        )
        yield Finding("MIG-DIRTY", Severity.WARNING, text, (vm.id,), "a faster network, or move it when it is calm")
    elif migration.verdict is Verdict.SLOWED:
        text = f"{vm.label} is slowed down while it moves: it loses {migration.slowdown:.0%} of its writing"
        yield Finding("MIG-SLOWED", Severity.WARNING, text, (vm.id,), "a faster network, or move it when it is calm")
    unknown = bool(framebuffers(moved.going.placed)) and all(
        device.memory_used is None for device in vm.devices if "vgpu" in device.kind or device.kind == "device_group"
    )
    if unknown and moved.going.release != KVM:
        text = f"{vm.label}: its stun counts the whole frame buffer, because nothing says how much is in use"
        yield Finding("MIG-FRAMEBUFFER", Severity.INFO, text, (vm.id,), "give its devices memory_used")

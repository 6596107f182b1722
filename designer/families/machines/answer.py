"""Answers about migrations: the moves as a program on the clock, alone or with other workloads, as a result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from designer.catalog.vgpu import load_stun_tables
from designer.engine.account.bottlenecks import Resources
from designer.engine.costs import Prices
from designer.engine.flows import binding
from designer.engine.machines.demands import KVM, dirtying_of, vsphere
from designer.engine.network import Network
from designer.engine.network.channel_order import in_order
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, Curve, Flow, WorkloadResult
from designer.families.machines.formulas import Verdict
from designer.families.machines.formulas.evacuation_bound import SOURCES as SCHEDULE_SOURCES
from designer.families.machines.formulas.evacuation_bound import EvacuationVm, evacuation_bound
from designer.families.machines.formulas.kvm_bandwidth import Monitor
from designer.families.machines.formulas.vgpu_stun import VgpuLoad, vgpu_stun
from designer.families.machines.formulas.vmotion_precopy import BANDWIDTH_SPREAD
from designer.families.machines.formulas.vmotion_streams import vmotion_streams
from designer.families.machines.migration_model import MigrationModel
from designer.families.machines.migration_plan import COLD_TIME, CURVES_LIMIT, Moved
from designer.families.machines.migrations import Drain, framebuffers, generation_of, stun_limit
from designer.families.machines.moves import Moves, moves_of, neighbours
from designer.families.machines.operations import Migrate
from designer.families.machines.planner import departures
from designer.families.machines.tables import (
    alternatives_table,
    background_table,
    drs_table,
    host_table,
    machine_table,
)
from designer.families.machines.users import users_of
from designer.findings import Finding, Severity
from designer.sources import Estimate
from designer.units import BytesPerSecond, format_line_rate, format_quantity, parse_rate, parse_size
from designer.workload.program import Program


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A migration workload as a result.

    Raises
    ------
    AnalysisError
        If a host has no network, or a setting is out of range.
    """
    task = program.first(Migrate)
    assert task is not None
    operation, name = task.operation, program.measures[0].name
    plan = departures(network, operation, question.place)
    prices = Prices(network)
    background = neighbours(prices, operation.background, question.place)
    moves = moves_of(
        prices,
        plan,
        operation,
        question.id,
        name,
        background,
        explained=question.explained,
        cancelled=question.cancelled,
    )
    conditions = plan.model.conditions
    tables = {"machines": machine_table(moves)}
    if moves.moved:
        tables["hosts"] = host_table(moves)
    if moves.neighbour_rates:
        tables["background"] = background_table(moves.neighbour_rates)
    if name == "migration_time" and moves.moved and conditions.release != KVM:
        tables["drs"] = drs_table(moves)
    if any(staying.alternatives for staying in plan.staying):
        tables["ways"] = alternatives_table(moves)
    users = users_of(network, operation, moves, question)
    if users.felt:
        tables["users"] = users.table()
    if users.stood:
        tables["stands_still"] = users.is_paused()
    frame_buffers = sum(1 for m in moves.live if m.migration and m.migration.stun and m.going.name in plan.model.drains)
    result = question.result(
        {**metrics(moves, name), **users.metrics(moves)},
        moves.binding,
        moves.next,
        flows(network, moves),
        frame_buffers + len(moves.live),
        (*findings(moves, named=name == "migration_time"), *users.findings),
        curves(moves, question.id) if question.curves else {},
        tables,
    )
    return result, loads(network, moves)


# The load of channels while machines move.


def loads(network: Network, moves: Moves) -> ChannelLoads:
    """Payload of the channels while most machines send; the utilization counts what runs with as well."""
    if moves.run is None:
        return ChannelLoads.none(network.net.n_links)
    run, paths, moving = moves.run, moves.plan.model.migration_paths, moves.sending(moves.busiest)
    load = np.zeros(2 * network.net.n_links)
    for transfer, rate in zip(moving, paths.rates(moving).tolist() if moving else (), strict=True):
        channels, shares = paths.channels(transfer)
        np.add.at(load, channels, np.array(shares) * rate)
    at = moves.busiest * moves.part
    return ChannelLoads(load, run.channels_mean(at, at))


# The flows of a migration plan: each machine, and the frame buffers of those with GPUs.


def flows(network: Network, moves: Moves) -> list[Flow]:
    """The migrations as flows with their paths, at the rate each got."""
    model = moves.plan.model
    resources = Resources(network, model.migration_paths.limits)
    listed: list[Flow] = []
    for moved in moves.moved[:CURVES_LIMIT]:
        if moved.migration is None:
            continue
        transfer = model.transfers[moved.going.name]
        channels, _ = model.migration_paths.channels(transfer)
        memories = [m for s in moved.going.placed.host.sockets for m in s.memories]
        first = memories[0] if memories or not channels else network.ends(channels[0])[0]
        ordered = in_order(network, first, channels) if channels else []
        low, high = model.rate_spread(moved.going)
        by = binding(*model.migration_paths.solved([transfer])).of(transfer).tolist()
        listed.append(
            Flow(
                moved.going.name,
                moved.going.placed.host.path,
                moved.going.there.host.path,
                tuple(network.channel_id(c) for c in ordered),
                moved.rate,
                moved.rate * low,
                moved.rate * high,
                tuple(resources.bottleneck(int(r), 1).id for r in by),
            )
        )
        drain = model.drains.get(moved.going.name)
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


# What a person should look at in a migration plan.

#: between the name of a machine and what is said of it
_SAID: Final = ": "
#: steps that take this many times as long, or less, are as quick
NOTICED_TOLERANCE: Final = 1.01


def findings(moves: Moves, *, named: bool) -> Iterator[Finding]:
    """What a person should look at: machines that stay, guests that are slowed, networks that are too narrow.

    A machine that sets out and fails is an error, and so is one that was `named` and stays; one that merely has nowhere
    to go while its host is emptied is a warning.
    """
    plan, conditions = moves.plan, moves.plan.model.conditions
    for staying in plan.staying:
        vm = staying.placed.vm
        severity = Severity.ERROR if named or staying.failed else Severity.WARNING
        yield Finding("MIG-STAYS", severity, f"{vm.label} cannot move: {staying.reason}", (vm.id,), staying.remedy)
    yield from _joined(finding for moved in moves.moved for finding in _of_machine(moved, plan.model))
    yield from _unused(plan.model)
    fallback = {
        host.path: host.migration_nics[0].path
        for moved in moves.moved
        for host in (moved.going.placed.host, moved.going.there.host)
        if plan.model.routed and not host.has_migration_role
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
    if conditions.shares.migrations and moves.neighbour_rates:
        text = "shares weigh flows on their whole way here, while network I/O control weighs them on each uplink"
        yield Finding("MIG-SHARES", Severity.INFO, text, (), "compare with shares of zero, where flows share evenly")
    if plan.model.distance is not None:
        for reason in plan.model.distance.reasons:
            yield Finding("MIG-DISTANCE", Severity.ERROR, reason, (), "choose hosts that are nearer, or a faster link")
    if any(moved.going.serial for moved in moves.moved) and len(moves.moved) > 1:
        text = "machines with virtual GPUs move one at a time, and by hand unless the cluster is set to move them"
        remedy = "set VgpuMMAutomationTimeoutSecs = -1 in the advanced options of the cluster"
        yield Finding("MIG-BY-HAND", Severity.INFO, text, (), remedy)
    for each in moves.neighbour_rates:
        if each.times is not None and each.times > NOTICED_TOLERANCE:
            text = f"a step of {each.title} takes {each.times:.2f} times as long while machines move"
            yield Finding("MIG-BESIDE", Severity.WARNING, text, (each.id,), "give migrations a network of their own")
        elif each.times is None and each.keeps < BANDWIDTH_SPREAD.low:
            text = f"{each.title} keeps {each.keeps:.0%} of its rate while machines move"
            yield Finding("MIG-BESIDE", Severity.WARNING, text, (each.id,), "give migrations a network of their own")


def _joined(found: Iterable[Finding]) -> Iterator[Finding]:
    """One finding for all machines of which the same is said but for their names, which begin it."""
    same: dict[tuple[str, str], list[Finding]] = {}
    for finding in found:
        same.setdefault((finding.code, finding.text.partition(_SAID)[2]), []).append(finding)
    for (_, said), each in same.items():
        first = each[0]
        name = first.text.partition(_SAID)[0] + (f" and {len(each) - 1} more" if len(each) > 1 else "")
        where = tuple(path for finding in each for path in finding.where)[:CURVES_LIMIT]
        yield replace(first, text=f"{name}{_SAID}{said}", where=where)


def _unused(model: MigrationModel) -> Iterator[Finding]:
    """Settings that change nothing for the machines that move."""
    asked, live = model.conditions, [each for each in model.going if not each.cold]
    if not live or not model.routed:
        return
    kvm = all(each.release == KVM for each in live)
    changes = {
        "vmknics_per_nic": asked.vmknics_per_nic > 1 and (kvm or not model.adapters_add_streams()),
        "disks": kvm and bool(asked.disks),
        "round_trip": kvm and bool(asked.round_trip),
    }
    for name in (name for name, unused in changes.items() if unused):
        text = f"{name} changes nothing here: "
        text += "KVM guests are moved without it" if kvm else "the release opens as many streams by itself"
        yield Finding("MIG-UNUSED", Severity.INFO, text, (), f"leave {name} out")


def _of_machine(moved: Moved, model: MigrationModel) -> Iterator[Finding]:
    if moved.migration is None:
        return
    conditions = model.conditions
    vm, migration = moved.going.placed.vm, moved.migration
    dirty = dirtying_of(vm).rate if conditions.dirty_rate is None else conditions.dirty_rate
    if dirty > moved.rate > 0:
        text = (
            f"{vm.label}: writes {format_quantity(dirty, 'rate')}, more than the {format_quantity(moved.rate, 'rate')} "
            f"it is sent with: {migration.reason}"
        )
        yield Finding("MIG-DIRTY", Severity.WARNING, text, (vm.id,), "a faster network, or move it when it is calm")
    elif migration.verdict is Verdict.SLOWED:
        text = f"{vm.label}: slowed down in the move, it loses {migration.slowdown:.0%} of its writing"
        yield Finding("MIG-SLOWED", Severity.WARNING, text, (vm.id,), "a faster network, or move it when it is calm")
    device, limit = migration.device, conditions.kvm.downtime_limit
    if device is not None and moved.going.release == KVM and migration.stun is not None:
        qemu = conditions.kvm.sender.monitor is Monitor.QEMU and model.routed
        if qemu and migration.stun.value > limit:
            text = (
                f"{vm.label}: state of its devices takes {format_quantity(migration.stun.value, 'duration')}, and "
                f"QEMU, which counts it, does not stop the guest for more than {format_quantity(limit, 'duration')}"
            )
            yield Finding("MIG-DEVICE-STATE", Severity.WARNING, text, (vm.id,), "allow a longer pause: downtime_limit")
    unknown = bool(framebuffers(moved.going.placed)) and all(
        device.memory_used is None for device in vm.devices if "vgpu" in device.kind or device.kind == "device_group"
    )
    if unknown and moved.going.release != KVM:
        text = f"{vm.label}: its stun counts the whole frame buffer, because nothing says how much is in use"
        yield Finding("MIG-FRAMEBUFFER", Severity.INFO, text, (vm.id,), "give its devices memory_used")


# The curves of a migration plan: memory left per round, who moves when, stuns by NIC speed and frame buffer.

#: NIC speeds and frame buffers of the stun sweep
SWEPT_RATES: Final = tuple(parse_rate(f"{speed} Gb/s") for speed in ("10", "25", "40", "100", "200"))
SWEPT_SIZES: Final = tuple(
    parse_size(f"{size} GiB") for size in ("4", "8", "16", "24", "40", "48", "80", "141", "320", "640")
)


def curves(moves: Moves, name: str) -> Mapping[str, tuple[Curve, ...]]:
    """Remaining memory per round, the sweep of stuns, and who moved when; `name` is that of the program."""
    found: dict[str, tuple[Curve, ...]] = {}
    live = [(m, m.migration) for m in moves.moved if m.migration is not None][:CURVES_LIMIT]
    if live:
        found["migration-curve"] = tuple(Curve(m.going.placed.vm.label, t.time, t.remaining) for m, t in live)
    if len(moves.moved) > 1:
        bars = tuple(
            Curve(m.going.placed.vm.label, (m.start, m.transfer, m.end), (float(at), float(at), float(at)))
            for at, m in enumerate(moves.moved)
        )
        found["evacuation-gantt"] = bars
        time, left = moves.remaining(name)
        found["evacuation-remaining"] = (Curve("not yet moved", tuple(time.tolist()), tuple(left.tolist())),)
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


# The figures of a migration plan: how long, how much is sent, who stays.

#: what says which machines move, and which GPUs take them
STAYING_SOURCES: Final = ("denneman-2023-vgpu-vmotion", "nvidia-aie-user-guide")
#: what the bound holds for
_LEAST: Final = "no order of these moves to the hosts chosen takes less; other hosts may do better"
#: a plan so near to the bound is as good as any
GAP_TOLERANCE: Final = 0.005


def _lower_bound(moves: Moves) -> float:
    """The time that no order of the moves, to the hosts chosen, stays below [s]; 0 where one machine alone moves."""
    if len(moves.moved) < 2:
        return 0.0
    model = moves.plan.model
    rates = {h: max(s.bandwidth.value, s.checkpoint_bandwidth.value) for h, s in model.streams.items()}
    least: list[EvacuationVm] = []
    for moved in moves.moved:
        going, migration = moved.going, moved.migration
        ends = (going.name, going.placed.host.path, going.there.host.path)
        if migration is None:
            least.append(EvacuationVm(*ends, 0.0, COLD_TIME.value))
            continue
        # nothing is sent twice in the best case, and nobody else is on the network
        whole = model.first_pass(going) + sum(load.framebuffer_used for load in framebuffers(going.placed))
        alone = float(model.migration_paths.rates([model.transfers[going.name]])[0])
        size = min(migration.size, whole)
        least.append(EvacuationVm(*ends, size, migration.fixed_time, max(alone, moved.rate), going.serial))
    return float(evacuation_bound(least, rates, {path: max(1, free.more) for path, free in model.slots.items()}))


def metrics(moves: Moves, name: str = "migration_time") -> Mapping[str, Estimate]:
    """Totals over all machines; times of the guest are those of the one that suffers most."""
    migrations = [moved.migration for moved in moves.moved if moved.migration is not None]
    moved, stays = len(moves.moved), len(moves.plan.staying)
    note = f"{moved} of {moved + stays} machines" + ("" if not stays else f", {stays} stay")
    makespan = moves.time
    found: dict[str, Estimate] = {}
    if stays:
        # what is left behind comes before how long the others take
        found["machines_staying"] = Estimate.exact(float(stays), "1", STAYING_SOURCES)
    if moved:
        # no time is stated for what does not happen
        sources = makespan.sources or SCHEDULE_SOURCES
        bound = _lower_bound(moves)
        if bound > 0:
            gap = makespan.value / bound - 1
            note += f", {gap:.0%} above" if gap > GAP_TOLERANCE else ","
            note += " the least possible to the hosts chosen"
        found[name] = replace(makespan, unit="s", sources=sources, note=note)
        if bound > 0:
            # it rests on the same rates
            share = bound / makespan.value
            ends = (makespan.low * share, makespan.high * share)
            found["least_time_possible"] = Estimate(bound, *ends, "s", SCHEDULE_SOURCES, _LEAST)
    if not migrations:
        return found
    worst = max(migrations, key=lambda migration: migration.downtime.value)
    found["switchover_time"] = worst.downtime
    stunned = [migration.stun for migration in migrations if migration.stun is not None]
    if stunned:
        found["stun_time"] = max(stunned, key=lambda stun: stun.value)
    found["transferred"] = Estimate.total([migration.transferred for migration in migrations])
    sent = [moved for moved in moves.live if moved.rate]
    if sent:
        peak = max(_peak(moves), *(moved.rate for moved in sent))
        spreads = [moves.plan.model.rate_spread(moved.going) for moved in sent]
        low, high = min(low for low, _ in spreads), max(high for _, high in spreads)
        found["rate"] = Estimate.relative(
            peak, low, high, "B/s", ("migration-calibration",), "most at one time, payload"
        )
    return found


def _peak(moves: Moves) -> float:
    best = 0.0
    for begin in sorted({m.transfer for m in moves.live})[:CURVES_LIMIT]:
        rates = {m.going.name: m.rate for m in moves.live if m.transfer <= begin < m.end}
        planned = moves.plan.model.migration_paths.rates([moves.plan.model.transfers[name] for name in rates])
        # next to others each gets less than that
        best = max(
            best, sum(map(min, rates.values(), planned.tolist())) if moves.neighbour_rates else float(planned.sum())
        )
    return best

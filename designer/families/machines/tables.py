"""The tables of a migration plan: machines, hosts, what would bring over those that stay, DRS, what runs with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from designer.engine.machines.demands import KVM, memory_of
from designer.engine.machines.hosts import Host
from designer.engine.results import Column, Table
from designer.families.machines.formulas import Verdict
from designer.families.machines.formulas.drs_cadence import MOST_EAGER, drs_cadence
from designer.families.machines.formulas.vmotion_cpu import vmotion_cpu
from designer.families.machines.migration_plan import COLD_TIME
from designer.families.machines.migrations import NETWORK_LIMIT, kvm_rate
from designer.families.machines.moves import Moves, NeighbourRates
from designer.units import BytesPerSecond, Seconds


def machine_table(moves: Moves) -> Table:
    """One row per machine: where it goes, when, how long it is paused, or why it stays."""
    rows: list[tuple[str | float | None, ...]] = []
    for moved in moves.moved:
        migration, going = moved.migration, moved.going
        how = "cold" if migration is None else ("alone" if going.serial else "live")
        note = "shut down and started again" if migration is None else _note(migration.verdict, migration.slowdown)
        rows.append(
            (
                going.placed.vm.label,
                going.placed.host.path,
                going.there.host.path,
                how,
                moved.start,
                moved.end,
                moved.end - moved.start,
                migration.downtime.value if migration else COLD_TIME.value,
                migration.stun.value if migration and migration.stun else None,
                migration.transferred.value if migration else None,
                moved.rate or None,
                note,
            )
        )
    for staying in moves.plan.staying:
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


def host_table(moves: Moves) -> Table:
    """One row per host: its migration NICs, the streams on them, what they carry, and the cores that takes."""
    rows: list[tuple[str | float | None, ...]] = []
    hosts = {h.path: h for m in moves.moved for h in (m.going.placed.host, m.going.there.host)}
    if moves.plan.going and all(each.release == KVM for each in moves.plan.going):
        return _kvm_host_table(moves, hosts)
    for path, host in hosts.items():
        streams = moves.plan.model.streams[path]
        lines = [nic.line_rate for nic in host.migration_nics]
        cpu = vmotion_cpu(
            lines, BytesPerSecond(streams.bandwidth.value), encrypted=moves.plan.model.conditions.encrypted
        )
        rows.append(
            (
                path,
                ", ".join(nic.path.rsplit("/", 1)[-1] for nic in host.migration_nics),
                sum(lines),
                float(streams.streams),
                streams.bandwidth.value,
                streams.checkpoint_bandwidth.value,
                streams.limited_by,
                float(moves.plan.model.slots[path].more),
                moves.plan.model.slots[path].binding,
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


def _kvm_host_table(moves: Moves, hosts: Mapping[str, Host]) -> Table:
    """One row per host: what one migration sends through it, what limits that, and the cores the sender takes."""
    model = moves.plan.model
    rows: list[tuple[str | float | None, ...]] = []
    for path, host in hosts.items():
        line = sum(nic.line_rate for nic in host.migration_nics) if model.routed else NETWORK_LIMIT
        rate = kvm_rate(model.conditions.kvm, line)
        rows.append(
            (
                path,
                ", ".join(nic.path.rsplit("/", 1)[-1] for nic in host.migration_nics) if model.routed else "",
                line if model.routed else None,
                float(model.conditions.kvm.sender.channels),
                rate.link_rate.value,
                rate.guest.value,
                rate.limited_by,
                float(model.slots[path].more),
                model.slots[path].binding,
                rate.cores,
            )
        )
    columns = (
        Column("host"),
        Column("NICs"),
        Column("line rate", "B/s"),
        Column("connections", "1"),
        Column("carry", "B/s"),
        Column("of guest memory", "B/s"),
        Column("limited by"),
        Column("at once", "1"),
        Column("because of"),
        Column("cores sending", "1"),
    )
    return Table("Hosts", columns, tuple(rows))


def alternatives_table(moves: Moves) -> Table:
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
        for staying in moves.plan.staying
        for way in staying.alternatives
    )
    return Table("What would bring them over", columns, rows)


def drs_table(moves: Moves) -> Table:
    """What DRS would make of such moves at each threshold: how far it looks back, and how many it fits in a period."""
    columns = (
        Column("threshold"),
        Column("looks back", "s"),
        Column("loaded above", "1"),
        Column("moves per period", "1"),
        Column("time for these", "s"),
        Column("note"),
    )
    live = moves.live
    rows: list[tuple[str | float | None, ...]] = []
    longest = max((m.migration.total.value for m in live if m.migration is not None), default=0.0)
    for threshold in range(1, int(MOST_EAGER.value) + 1) if live else ():
        drs = drs_cadence(
            threshold,
            len(live),
            Seconds(longest),
            concurrency=moves.most_at_once,
            machine_memory=max(memory_of(m.going.placed.vm) for m in live),
            has_vgpu=any(m.going.serial for m in live),
        )
        fits = float(drs.moves_per_period) if drs.balances else None
        time = drs.rebalance_time if drs.balances else None
        rows.append((str(threshold), drs.look_back, drs.loaded_above, fits, time, drs.reason))
    return Table("If DRS made these moves", columns, tuple(rows))


def background_table(found: Sequence[NeighbourRates]) -> Table:
    """What other workloads get alone and with the migrations."""
    columns = (Column("workload"), Column("alone", "B/s"), Column("beside", "B/s"), Column("keeps", "1"))
    rows = tuple((each.title, each.alone, each.together, each.keeps) for each in found)
    return Table("Running at the same time", columns, rows)

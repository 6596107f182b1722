"""What a person should look at in a migration plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from designer.engine.machines.demands import KVM, dirtying_of
from designer.families.machines.formulas import Verdict
from designer.families.machines.formulas.vmotion_precopy import BANDWIDTH_SPREAD
from designer.families.machines.migration_plan import CURVES_LIMIT, Moved
from designer.families.machines.migrations import framebuffers
from designer.families.machines.moves import Moves
from designer.families.machines.operations import Conditions
from designer.findings import Finding, Severity
from designer.units import format_quantity

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
    for moved in moves.moved:
        yield from _of_machine(moved, conditions)
    fallback = {
        host.path: host.migration_nics[0].path
        for moved in moves.moved
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
    if conditions.shares.migrations and moves.beside:
        text = "shares weigh flows on their whole way here, while network I/O control weighs them on each uplink"
        yield Finding("MIG-SHARES", Severity.INFO, text, (), "compare with shares of zero, where flows share evenly")
    if plan.model.distance is not None:
        for reason in plan.model.distance.reasons:
            yield Finding("MIG-DISTANCE", Severity.ERROR, reason, (), "choose hosts that are nearer, or a faster link")
    if any(moved.going.serial for moved in moves.moved) and len(moves.moved) > 1:
        text = "machines with virtual GPUs move one at a time, and by hand unless the cluster is set to move them"
        remedy = "set VgpuMMAutomationTimeoutSecs = -1 in the advanced options of the cluster"
        yield Finding("MIG-BY-HAND", Severity.INFO, text, (), remedy)
    for each in moves.beside:
        if each.times is not None and each.times > NOTICED_TOLERANCE:
            text = f"a step of {each.title} takes {each.times:.2f} times as long while machines move"
            yield Finding("MIG-BESIDE", Severity.WARNING, text, (each.id,), "give migrations a network of their own")
        elif each.times is None and each.keeps < BANDWIDTH_SPREAD.low:
            text = f"{each.title} keeps {each.keeps:.0%} of its rate while machines move"
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

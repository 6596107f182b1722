"""Machines moved over the drawn network: targets, admission, schedule, what each gets, and what binds the whole."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from designer.analysis.bottlenecks import Resources, gains_alone, tied
from designer.analysis.flows import binding
from designer.analysis.network import Network
from designer.analysis.results import Bottleneck
from designer.analysis.vms.demands import KVM, vsphere
from designer.analysis.vms.free_capacity import Placed
from designer.analysis.vms.hosts import Host
from designer.analysis.vms.migration_paths import Background, MigrationPaths, MigrationTransfer
from designer.analysis.vms.migration_plan import Alternative, Conditions, Going, MigrationPlan, Moved, Staying
from designer.analysis.vms.migrations import (
    NETWORK_LIMITED,
    Drain,
    MigrationEstimate,
    kvm_estimate,
    kvm_rate,
    vmotion_estimate,
)
from designer.errors import AnalysisError
from designer.formulas.migration.evacuation_schedule import Evacuation, EvacuationVm, Move, evacuation_schedule
from designer.formulas.migration.vmotion_admission import Admission, Operation, vmotion_admission
from designer.formulas.migration.vmotion_long_distance import LongDistance, vmotion_long_distance
from designer.formulas.migration.vmotion_streams import (
    JUMBO_FROM,
    LINE_SHARE,
    LINE_SHARE_1500,
    StreamPlan,
    vmotion_streams,
)
from designer.formulas.placement import Release
from designer.sources import Constant, Estimate, Status
from designer.units import Bytes, BytesPerSecond, Seconds, format_si

#: shutting a machine down, starting it elsewhere, loading its drivers
COLD_TIME: Final = Constant(
    120.0, 45.0, 300.0, "migration-assumed", Status.ASSUMED, "s", "shut down and boot; loading of models not counted"
)
#: a rate this close to the planned one needs no second look
RATE_TOLERANCE: Final = 1e-3
#: bytes this close to those scheduled need no new schedule, and so many schedules are made at most
SIZE_TOLERANCE: Final = 0.02
SCHEDULES_LIMIT: Final = 6
#: intervals of a plan that are looked at for what binds, longest first, and moves for which gains are tried
INTERVALS_LIMIT: Final = 48
GAINS_LIMIT: Final = 64
#: limits that are added to what binds where doubling that alone gains nothing
TIES_LIMIT: Final = 8


class Planner:
    """Plans the moves of machines whose targets are chosen."""

    def __init__(
        self, network: Network, going: Sequence[Going], conditions: Conditions, background: Sequence[Background]
    ) -> None:
        self.network, self.conditions = network, conditions
        self.going = tuple(going)
        hosts = {host.path: host for each in going for host in (each.placed.host, each.there.host)}
        self.streams = {path: stream_plan(host, self._release_of(path), conditions) for path, host in hosts.items()}
        self.slots = {path: self._admission(host) for path, host in hosts.items()}
        kvm = bool(going) and all(each.release == KVM for each in going)
        payload = LINE_SHARE if conditions.mtu >= JUMBO_FROM.value else LINE_SHARE_1500
        self.distance = self._long_distance()
        live = [each for each in self.going if not each.cold]
        transfers = [
            MigrationTransfer(
                each.name, each.placed.host, each.there.host, each.placed.sockets, each.there.sockets, self._cap(each)
            )
            for each in live
        ]
        self.transfers = {each.name: at for at, each in enumerate(live)}
        limits = {} if kvm else self.streams
        self.migration_paths = MigrationPaths(network, transfers, limits, payload, background, conditions.shares)
        self.drains = self._drains(live, payload)

    def _release_of(self, path: str) -> str:
        found = {each.release for each in self.going if path in (each.placed.host.path, each.there.host.path)}
        return min(found) if found else ""

    def _admission(self, host: Host) -> Admission:
        at_once = self.conditions.at_once
        if at_once:
            return Admission(at_once, "the setting at_once", {}, {})
        slowest = min(nic.line_rate for nic in host.migration_nics)
        if self._release_of(host.path) == KVM:
            return Admission(int(KVM_AT_ONCE.value), "parallel migrations per host", {}, {})
        operation = Operation.UNSHARED if self.conditions.disks else Operation.VMOTION
        return vmotion_admission(
            operation,
            {},
            slowest_line_rate=BytesPerSecond(slowest),
            bandwidth=BytesPerSecond(self.streams[host.path].bandwidth.value),
        )

    def _drains(self, live: Sequence[Going], payload: Constant) -> Mapping[str, Drain]:
        """What the drawn paths give the frame buffer of each machine with GPUs: GPU, host memory, NIC and back in."""
        transfers = [
            MigrationTransfer(
                each.name,
                each.placed.host,
                each.there.host,
                each.placed.sockets,
                each.there.sockets,
                from_gpus=_gpus_of(each.placed),
                to_gpus=_gpus_of(each.there),
            )
            for each in live
            if _gpus_of(each.placed) and _gpus_of(each.there)
        ]
        if not transfers:
            return {}
        paths = MigrationPaths(self.network, transfers, {}, payload)
        words = Resources(self.network, paths.limits)
        known: dict[tuple[tuple[int, ...], ...], tuple[float, str]] = {}
        found: dict[str, Drain] = {}
        for at, transfer in enumerate(transfers):
            if not paths.reaches(at):
                continue
            key = (transfer.from_gpus, transfer.to_gpus)
            if key not in known:
                bottleneck = binding(paths.asked([at]), paths.allocation([at])).of(at).tolist()
                label = words.bottleneck(int(bottleneck[0]), 1).label if bottleneck else ""
                known[key] = (float(paths.rates([at])[0]), label)
            found[transfer.name] = Drain(*known[key], tuple(paths.channels(at)[0]))
        return found

    def _long_distance(self) -> LongDistance | None:
        migration = self.conditions.round_trip
        if not migration or not self.streams:
            return None
        narrow = min(self.streams.values(), key=lambda plan: plan.bandwidth.value)
        return vmotion_long_distance(BytesPerSecond(narrow.bandwidth.value), Seconds(migration), narrow.streams)

    def _cap(self, going: Going) -> float:
        cap = self.distance.bandwidth.value if self.distance is not None else float("inf")
        if going.release == KVM:
            cap = min(cap, kvm_rate(self.conditions.kvm, _line(going)).link_rate.value)
        return cap

    def plan(self, staying: Sequence[Staying]) -> MigrationPlan:
        """The plan, with what binds it.

        Raises
        ------
        AnalysisError
            If the network gives a machine nothing.
        """
        stays = list(staying)
        able: list[Going] = []
        for each in self.going:
            if not each.cold and not self.migration_paths.reaches(self.transfers[each.name]):
                reason = f"there is no way from {each.placed.host.path} to {each.there.host.path} for migrations"
                stays.append(Staying(each.placed, reason, "join their vMotion NICs to one switch", failed=True))
            else:
                able.append(each)
        run = _Run(self, able, self.migration_paths)
        stays += run.staying
        bottleneck, then = _bottlenecks(self, able, run)
        return MigrationPlan(
            run.moved,
            tuple(stays),
            run.makespan,
            run.schedule,
            self.migration_paths,
            self.transfers,
            self.streams,
            self.slots,
            bottleneck,
            then,
            self.distance,
            self.drains,
        )

    def migration(self, going: Going, rate: float) -> MigrationEstimate:
        """One machine at a rate [B/s]."""
        dirty = self.conditions.dirty_rate
        drain = self.drains.get(going.name)
        if going.release == KVM:
            return kvm_estimate(going.placed, rate, _line(going), self.conditions.kvm, dirty, drain)
        ends = (self.streams[going.placed.host.path], self.streams[going.there.host.path])
        checkpoint = min(plan.checkpoint_bandwidth.value for plan in ends)
        release = vsphere(going.release)
        return vmotion_estimate(going.placed, rate, checkpoint, release, dirty, drain, self.conditions.disks)

    def alternatives(self, going: Going, rate: float, migration: MigrationEstimate) -> tuple[Alternative, ...]:
        """What would bring over a machine that does not arrive at this rate [B/s]."""
        tried: list[tuple[str, Planner, Going]] = []
        if going.release == KVM and not migration.converges:
            for title, more in (("auto-converge", {"auto_converge": True}), ("post-copy", {"post_copy": True})):
                tried.append((title, self._under(kvm=replace(self.conditions.kvm, **more)), going))
        elif going.release != KVM and migration.converges:
            newest = Release.V9_0.value
            if going.release != newest:
                tried.append((f"release {newest}", self, replace(going, release=newest)))
        return tuple(
            Alternative(title, found)
            for title, planner, each in tried
            if (found := planner.migration(each, rate)).arrives
        )

    def _under(self, **changes: Any) -> Planner:
        twin = copy.copy(self)
        twin.conditions = replace(self.conditions, **changes)
        return twin


#: what clusters of KVM hosts allow by default from one host
KVM_AT_ONCE: Final = Constant(2, 1, 5, "kubevirt-parallel-migrations", Status.SECONDARY, "1", "outbound per host")


def _line(going: Going) -> float:
    return min(sum(nic.line_rate for nic in host.migration_nics) for host in (going.placed.host, going.there.host))


def stream_plan(host: Host, release: str, conditions: Conditions) -> StreamPlan:
    """The vMotion streams of a host.

    Raises
    ------
    AnalysisError
        If it has no NIC.
    """
    nics = host.migration_nics
    if not nics:
        raise AnalysisError(
            f"{host.path} has no NIC that is cabled", place=host.path, remedy="join a NIC of it to a switch"
        )
    return vmotion_streams(
        [nic.line_rate for nic in nics],
        release=vsphere(release),
        vmknics_per_nic=conditions.vmknics_per_nic,
        mtu=Bytes(conditions.mtu),
        encrypted=conditions.encrypted,
    )


class _Run:
    """One pass: planned rates, migrations, schedule, then what each really got."""

    def __init__(self, planner: Planner, going: Sequence[Going], migration_paths: MigrationPaths) -> None:
        self.planner, self.migration_paths = planner, migration_paths
        self.staying: list[Staying] = []
        self.moved: tuple[Moved, ...] = ()
        self.schedule: Evacuation | None = None
        self.makespan = Estimate.exact(0.0, "s")
        rate = self._planned(going)
        migrations: dict[str, MigrationEstimate] = {}
        moving: list[Going] = []
        by_name = {each.name: each for each in going}
        for each in going:
            if each.cold:
                moving.append(each)
                continue
            migration = planner.migration(each, rate[each.name])
            if not migration.arrives:
                alternatives = planner.alternatives(each, rate[each.name], migration)
                self.staying.append(
                    Staying(
                        each.placed,
                        migration.reason,
                        _remedy(migration, alternatives),
                        failed=True,
                        alternatives=alternatives,
                    )
                )
                continue
            migrations[each.name] = migration
            moving.append(each)
        if not moving:
            return
        schedule, migrations = self._settled(moving, rate, migrations)
        done: list[Moved] = []
        for move in schedule.moves:
            each = by_name[move.vm.name]
            if each.cold:
                done.append(Moved(each, move, 0.0, None))
                continue
            done.append(Moved(each, move, _got(move), migrations[each.name]))
        self.moved, self.schedule = tuple(done), schedule
        self.makespan = self._makespan(schedule)

    def _settled(
        self, going: Sequence[Going], rate: dict[str, float], migrations: dict[str, MigrationEstimate]
    ) -> tuple[Evacuation, dict[str, MigrationEstimate]]:
        """The schedule, and each migration at the rate it got there.

        A little more bandwidth may spare a guest the slowing down, and it then sends several times as much: what
        sends other than it was scheduled with is scheduled again. Where that has no end, a migration stays as it was
        scheduled, so that nothing is told to send more than its time and rate allow.
        """
        planner, slots = self.planner, {path: max(1, free.more) for path, free in self.planner.slots.items()}
        for last in (*[False] * (SCHEDULES_LIMIT - 1), True):
            schedule = evacuation_schedule(
                [_load(each, migrations.get(each.name)) for each in going],
                lambda moving: self.migration_paths.rates([planner.transfers[vm.name] for vm in moving]).tolist(),
                slots=slots,
            )
            got = {move.vm.name: _got(move) for move in schedule.moves if move.vm.name in migrations}
            again, same = dict(migrations), True
            for each in going:
                name = each.name
                if name not in migrations or abs(got[name] / rate[name] - 1) <= RATE_TOLERANCE:
                    continue
                migration = planner.migration(each, got[name])
                fits = abs(migration.size / migrations[name].size - 1) <= SIZE_TOLERANCE
                same = same and (fits or not migration.arrives)
                if migration.arrives and (fits or not last):
                    again[name] = migration
            migrations, rate = again, rate | got
            if same or last:
                return schedule, migrations
        raise AssertionError("the last schedule is the one that is taken")

    def _makespan(self, schedule: Evacuation) -> Estimate:
        """One machine alone takes what its own model says; several what the schedule says."""
        only = self.moved[0].migration if len(self.moved) == 1 else None
        return only.total if only is not None else schedule.makespan

    def _planned(self, going: Sequence[Going]) -> dict[str, float]:
        """Rates when as many move at once as are admitted: ordinary machines in waves, those with vGPUs alone."""
        waves: list[list[str]] = []
        place: dict[str, int] = {}
        for serial in (False, True):
            first = max(place.values(), default=0)
            turn: dict[str, int] = {}
            for each in sorted(going, key=lambda e: e.name):
                if each.cold or each.serial is not serial:
                    continue
                host = each.placed.host.path
                free_capacity = 1 if serial else max(1, self.planner.slots[host].more)
                at = first + turn.get(host, 0) // free_capacity
                turn[host] = turn.get(host, 0) + 1
                place[host] = max(place.get(host, 0), at + 1)
                while len(waves) <= at:
                    waves.append([])
                waves[at].append(each.name)
        found: dict[str, float] = {}
        for wave in waves:
            if wave:
                rates = self.migration_paths.rates([self.planner.transfers[name] for name in wave]).tolist()
                found |= dict(zip(wave, rates, strict=True))
        starved = next((name for name, rate in found.items() if rate <= 0), None)
        if starved is not None:
            raise AnalysisError(
                "the network gives this migration no bandwidth",
                place=f"vms.{starved}",
                remedy="check the vMotion path between its hosts",
            )
        return found


def _load(going: Going, migration: MigrationEstimate | None) -> EvacuationVm:
    """A machine as the schedule takes it; without a migration it is shut down and started elsewhere."""
    ends = (going.name, going.placed.host.path, going.there.host.path)
    if migration is None:
        return EvacuationVm(*ends, 0.0, COLD_TIME.value)
    return EvacuationVm(*ends, migration.size, migration.beside, float("inf"), going.serial)


def _got(move: Move) -> float:
    """What a machine was sent with on average [B/s]."""
    return move.vm.size / (move.end - move.transfer)


def _gpus_of(placed: Placed) -> tuple[int, ...]:
    return tuple(sorted({device.gpu.part for device in placed.devices if device.gpu is not None}))


def _remedy(migration: MigrationEstimate, alternatives: Sequence[Alternative]) -> str:
    explained = [
        f"{way.title} ({format_si(way.migration.total.value, 's')} in all, "
        f"a pause of {format_si(way.migration.downtime.value, 's')})"
        for way in alternatives
    ]
    if migration.converges:
        return ", ".join([*explained, "a faster vMotion network", "a higher stun limit", "or shut it down"])
    return (
        ", ".join([*explained, "or a faster network"]) if explained else "a faster network, or move it when it is calm"
    )


def _bottlenecks(
    planner: Planner, going: Sequence[Going], run: _Run
) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]]:
    """What most of the time goes by: a channel, streams, a checkpoint, or set-up; and what comes after it."""
    if run.schedule is None:
        return (Bottleneck("limit", "nothing", "nothing moves", "no machine can move"),), ()
    spent = _spent(planner, run)
    other = _besides(run, planner.migration_paths)
    order = sorted(spent, key=lambda r: -spent[r])
    worst = tied({**spent, **other})
    now = [r for r in order if r in worst]
    migration_paths, resources = planner.migration_paths, Resources(planner.network, planner.migration_paths.limits)
    fractions: dict[int, float] = {}
    for moved in run.moved:
        if moved.migration is not None:
            fractions |= migration_paths.fraction_of(planner.transfers[moved.going.name])
    try_gains = len(run.moved) <= GAINS_LIMIT

    wider = migration_paths.doubled(now)
    after = _Run(planner, going, wider) if now else None
    # What binds is a set: cables of targets that hold as well while the source sends make the gain appear.
    others = [r for r in order if r not in now][:TIES_LIMIT]
    while try_gains and after is not None and others and _same(run, after):
        now.append(others.pop(0))
        wider = migration_paths.doubled(now)
        after = _Run(planner, going, wider)

    def explained(chosen: Sequence[int], *, gains: bool) -> list[Bottleneck]:
        found: list[Bottleneck] = []
        together = run.makespan.value / after.makespan.value if gains and after is not None else None
        alone: list[float | None] = [None] * len(chosen)
        if gains:
            alone = gains_alone(chosen, together, lambda resource: _gain(planner, going, run, resource))
        for resource, gain in zip(chosen, alone, strict=True):
            users = sum(
                1
                for m in run.moved
                if m.migration is not None and _uses(migration_paths, planner.transfers[m.going.name], resource)
            )
            plain = resources.bottleneck(resource, max(1, users), fractions.get(resource))
            why = plain.why.replace("flows", "migrations").replace("flow", "migration")
            found.append(replace(plain, why=why, gain_if_doubled=gain, gain_together=together))
        return found

    said = {
        limit: Bottleneck("limit", *limit, f"{seconds:.3g} s of {run.schedule.makespan.value:.3g} s")
        for limit, seconds in other.items()
    }
    binds = explained(now, gains=try_gains) + [said[limit] for limit in said if limit in worst]
    then: list[Bottleneck] = []
    if after is not None:
        later = _spent(planner, after, wider)
        others = sorted((r for r in later if r not in now), key=lambda r: -later[r])
        then = explained(others[:2], gains=False)
    then += [said[limit] for limit in sorted(said, key=lambda limit: -other[limit]) if limit not in worst]
    return tuple(binds), tuple(then)


def _same(run: _Run, after: _Run) -> bool:
    """True if doubling it gains next to nothing."""
    return after.makespan.value >= run.makespan.value * (1 - RATE_TOLERANCE)


def _uses(migration_paths: MigrationPaths, transfer: int, resource: int) -> bool:
    incidence = migration_paths.incidence
    return resource in incidence.resource[int(incidence.ptr[transfer]) : int(incidence.ptr[transfer + 1])]


def _gain(planner: Planner, going: Sequence[Going], run: _Run, resource: int) -> float:
    better = _Run(planner, going, planner.migration_paths.doubled([resource]))
    return run.makespan.value / better.makespan.value if better.makespan.value > 0 else 1.0


def _spent(planner: Planner, run: _Run, migration_paths: MigrationPaths | None = None) -> dict[int, float]:
    """Seconds for which each resource held some migration back [s]."""
    migration_paths = migration_paths or planner.migration_paths
    if run.schedule is None:
        return {}
    moves = [move for move in run.schedule.moves if move.vm.name in planner.transfers]
    corners = sorted({at for move in moves for at in (move.transfer, move.end)})
    spans = sorted(pairwise(corners), key=lambda span: span[0] - span[1])[:INTERVALS_LIMIT]
    spent: dict[int, float] = {}
    for begin, end in spans:
        moving = [planner.transfers[m.vm.name] for m in moves if m.transfer <= begin and m.end >= end]
        if not moving:
            continue
        asked, allocation = migration_paths.asked(moving), migration_paths.allocation(moving)
        for resource in binding(asked, allocation).union(moving).tolist():
            spent[resource] = spent.get(resource, 0.0) + (end - begin)
    return spent


def _besides(run: _Run, migration_paths: MigrationPaths) -> dict[tuple[str, str], float]:
    """Seconds that go by for other reasons than the network [s]."""
    found: dict[tuple[str, str], float] = {}

    def add(name: str, label: str, seconds: float) -> None:
        found[(name, label)] = found.get((name, label), 0.0) + seconds

    cap = {transfer.name: transfer.cap for transfer in migration_paths.transfers}
    for moved in run.moved:
        migration, move = moved.migration, moved.move
        if migration is None:
            add("cold", "shutting down and starting machines that cannot move alive", move.end - move.start)
            continue
        kvm = moved.going.release == KVM
        if moved.rate >= cap[moved.going.name] * (1 - RATE_TOLERANCE):
            words = f"what the sender gives: {migration.limited_by}" if kvm else "windows of the streams per round trip"
            add("sender", words, move.end - move.transfer)
        if migration.stun is None:
            continue
        if kvm:
            add(
                "device-state",
                "device state sent while the guest stands still",
                min(migration.beside, migration.stun.value),
            )
        elif migration.limited_by and migration.limited_by != NETWORK_LIMITED:
            label = f"{migration.limited_by}, while the machine is stunned"
            add("checkpoint", label, min(migration.beside, migration.stun.value))
    busy = sum(
        m.move.transfer - m.move.start for m in run.moved if m.migration is not None and m.migration.stun is None
    )
    if busy and run.schedule is not None:
        found[("set-up", "set-up, trace installation and resume of the machines")] = min(
            busy / max(1, run.schedule.most_at_once), run.schedule.makespan.value
        )
    return found

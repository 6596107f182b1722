"""Which machines set out, and which stay because they would not arrive, at the rates that admitted machines get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from designer.engine.machines.free_capacity import Placed
from designer.engine.machines.hosts import Host, Hosts
from designer.engine.machines.placement import Placement, place_vms
from designer.engine.network import NETWORKS_LIMIT, Network
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.families.machines.migration_model import MigrationModel
from designer.families.machines.migration_plan import Alternative, Going, Staying
from designer.families.machines.migrations import MigrationEstimate
from designer.families.machines.operations import Migration
from designer.families.machines.targets import choose_targets
from designer.memo import memo
from designer.units import format_si

#: hosts named in an error
SHOWN_LIMIT = 5


def asked_moves(network: Network, operation: Migration, place: str) -> tuple[list[Placed], list[Host]]:
    """Machines that leave in a migration workload, and hosts they may go to.

    Raises
    ------
    AnalysisError
        If a machine or host is not there.
    """
    placement = place_vms(network)
    if operation.hosts is None:
        leaving = machines(placement, network, operation.vms, place)
        return leaving, hosts_of(network, placement.hosts, operation.target, f"{place}.to")
    if not operation.hosts.strip():
        known = ", ".join(host.path for host in placement.hosts.hosts[:SHOWN_LIMIT]) or "none"
        raise AnalysisError("no host is named", place=f"{place}.hosts", remedy=f"hosts: {known}")
    emptied = {h.path for h in hosts_of(network, placement.hosts, operation.hosts, f"{place}.hosts")}
    leaving = [placed for placed in placement.placed.values() if placed.host.path in emptied]
    if not leaving:
        raise AnalysisError(
            f"no machine runs on {operation.hosts}",
            place=f"{place}.hosts",
            remedy="choose a host with machines",
        )
    targets = hosts_of(network, placement.hosts, operation.target, f"{place}.to")
    return leaving, [host for host in targets if host.path not in emptied]


def machines(placement: Placement, network: Network, ids: Sequence[str], place: str) -> list[Placed]:
    """Machines by id, where they are placed.

    Raises
    ------
    AnalysisError
        If none is named, there is none of that id, or it is placed nowhere.
    """
    if not ids:
        known = ", ".join(network.design.vms) or "none"
        raise AnalysisError("no virtual machine is named", place=f"{place}.vms", remedy=f"machines: {known}")
    found: list[Placed] = []
    for vm_id in dict.fromkeys(ids):
        if vm_id not in network.design.vms:
            known = ", ".join(network.design.vms) or "none"
            raise AnalysisError(
                f"there is no virtual machine {vm_id!r}", place=f"{place}.vms", remedy=f"machines: {known}"
            )
        if vm_id not in placement.placed:
            refusal = placement.refused[vm_id]
            raise AnalysisError(f"{vm_id!r} runs nowhere: {refusal.text}", place=f"vms.{vm_id}", remedy=refusal.remedy)
        found.append(placement.placed[vm_id])
    return found


def hosts_of(network: Network, hosts: Hosts, selector: str, place: str) -> list[Host]:
    """The hosts a selector names; all of them for an empty one.

    Raises
    ------
    AnalysisError
        If it names something that is no host.
    """
    if not selector.strip():
        return list(hosts.hosts)
    paths = [network.net.path(part) for part in resolve(network, selector, place).tolist()]
    return [hosts.at(path, place) for path in paths]


#: migration workloads that are kept, by network
_KEPT_LIMIT = 8


@dataclass(frozen=True, slots=True, eq=False)
class Departures:
    """Machines that set out to their targets, and those that stay.

    Parameters
    ----------
    planned
        Migration of each machine that moves alive, by its name, at the rate it gets when as many move at the same time
        as hosts admit.
    first
        Bytes of the first pass over the memory of each [B].
    at_once
        Most that are admitted at the same time.
    """

    model: MigrationModel
    going: tuple[Going, ...]
    staying: tuple[Staying, ...]
    planned: Mapping[str, MigrationEstimate]
    first: Mapping[str, float]
    at_once: int


@memo(most=NETWORKS_LIMIT, each=_KEPT_LIMIT)
def departures(network: Network, operation: Migration, place: str) -> Departures:
    """Machines of a migration workload with the hosts they go to.

    Raises
    ------
    AnalysisError
        If a machine or host is not there, a setting is out of range, or the network gives a machine nothing.
    """
    leaving, allowed = asked_moves(network, operation, place)
    going, staying = choose_targets(place_vms(network), leaving, allowed, operation.conditions)
    model = MigrationModel(network, going, operation.conditions)
    able: list[Going] = []
    for each in model.going:
        if not each.cold and not model.migration_paths.reaches(model.transfers[each.name]):
            reason = f"there is no way from {each.placed.host.path} to {each.there.host.path} for migrations"
            staying.append(Staying(each.placed, reason, "join their vMotion NICs to one switch", failed=True))
        else:
            able.append(each)
    rates, at_once = _rates(model, able)
    planned: dict[str, MigrationEstimate] = {}
    setting_out: list[Going] = []
    for each in able:
        if not each.cold:
            migration = model.migration(each, rates[each.name])
            if not migration.arrives:
                ways = model.alternatives(each, rates[each.name], migration)
                remedy = _remedy(migration, ways)
                staying.append(Staying(each.placed, migration.reason, remedy, failed=True, alternatives=ways))
                continue
            planned[each.name] = migration
        setting_out.append(each)
    first = {each.name: model.first_pass(each) for each in setting_out if not each.cold}
    return Departures(model, tuple(setting_out), tuple(staying), planned, first, at_once)


def _rates(model: MigrationModel, going: Sequence[Going]) -> tuple[dict[str, float], int]:
    """Rates when as many move as are admitted, those with vGPUs one at a time [B/s]; and the most at the same time."""
    waves: list[list[str]] = []
    place: dict[str, int] = {}
    for serial in (False, True):
        first = max(place.values(), default=0)
        turn: dict[str, int] = {}
        for each in sorted(going, key=lambda e: e.name):
            if each.cold or each.serial is not serial:
                continue
            host = each.placed.host.path
            free_capacity = 1 if serial else max(1, model.slots[host].more)
            at = first + turn.get(host, 0) // free_capacity
            turn[host] = turn.get(host, 0) + 1
            place[host] = max(place.get(host, 0), at + 1)
            while len(waves) <= at:
                waves.append([])
            waves[at].append(each.name)
    found: dict[str, float] = {}
    for wave in waves:
        if wave:
            rates = model.migration_paths.rates([model.transfers[name] for name in wave]).tolist()
            found |= dict(zip(wave, rates, strict=True))
    starved = next((name for name, rate in found.items() if rate <= 0), None)
    if starved is not None:
        raise AnalysisError(
            "the network gives this migration no bandwidth",
            place=f"vms.{starved}",
            remedy="check the vMotion path between its hosts",
        )
    return found, max((len(wave) for wave in waves), default=0)


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

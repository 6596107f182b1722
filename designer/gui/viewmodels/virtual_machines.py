"""Hosts of the virtual machines of a design, whether one may go to another host, and what moving it takes. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from designer.analysis.study import run_workload
from designer.design.document import Design, VirtualMachine, VmDevice, WorkloadSpec, with_changes
from designer.design.edits.vms import MoveVm
from designer.drawing.machines import Machines, host_title, machines_of
from designer.engine.machines.demands import KVM, vsphere
from designer.engine.machines.free_capacity import Placed, Refusal
from designer.engine.machines.placement import place_on, release_on
from designer.engine.results import Analysis, WorkloadResult
from designer.errors import DesignerError
from designer.families.machines.migration_plan import pick_release
from designer.families.machines.operations import Conditions
from designer.families.machines.targets import movable, unbound
from designer.gui.viewmodels.flow import Number, channel_title, number
from designer.workload.kind import workload_kinds

#: id of the study of a move; it is never part of the design
MOVE_ID: Final = "move"
_CONDITIONS: Final = Conditions()
#: workloads that put steady traffic on the network
_STEADY: Final = ("transfer", "collective", "training", "data_loading")
#: a workload that keeps less than this of its rate is reported
_KEPT: Final = 0.98


@dataclass(frozen=True, slots=True)
class HostVerdict:
    """Whether a machine may go to a host, and why not."""

    there: Placed | None = None
    reason: str = ""
    remedy: str = ""

    @property
    def ok(self) -> bool:
        """True if the move is allowed."""
        return self.there is not None

    @property
    def text(self) -> str:
        """The reason with what helps."""
        return f"{self.reason} — {self.remedy}" if self.remedy else self.reason


@dataclass(frozen=True, slots=True, eq=False)
class Migration:
    """What moving a machine took: its name, titles of both hosts, the path of the new one, and the study of it."""

    vm: str
    title: str
    source: str
    target: str
    host: str
    result: WorkloadResult

    @property
    def numbers(self) -> tuple[Number, ...]:
        """Total time, switch-over, stun, bytes and rate for people."""
        return tuple(number(name, estimate) for name, estimate in self.result.metrics.items())

    @property
    def bottleneck(self) -> str:
        """What binds the move; empty if nothing does."""
        bottlenecks = self.result.binding
        many = f" and {len(bottlenecks) - 1} more" if len(bottlenecks) > 1 else ""
        return f"{channel_title(bottlenecks[0].label)}{many}" if bottlenecks else ""

    @property
    def text(self) -> str:
        """All of it in one sentence."""
        said = {n.name: n.text for n in self.numbers}
        parts = [f"{said['migration_time']} in all"] if "migration_time" in said else []
        parts += [
            f"{word} {said[key]}"
            for key, word in (("switchover_time", "switch-over"), ("stun_time", "GPU stun"))
            if key in said
        ]
        bottleneck = f"; bound by {self.bottleneck}" if self.bottleneck else ""
        return f"{self.title}: {self.source} → {self.target}, {', '.join(parts)}{bottleneck}{self.others}"

    @property
    def others(self) -> str:
        """What ran next to and how much of its rate it kept; empty if nothing did, or it was not hurt."""
        table = self.result.tables.get("background")
        rows = [] if table is None else [(str(row[0]), row[3]) for row in table.rows]
        hurt = [f"{title} keeps {kept:.0%}" for title, kept in rows if isinstance(kept, float) and kept < _KEPT]
        return f"; {', '.join(hurt)}" if hurt else ""

    def holds(self, design: Design) -> bool:
        """True if the machine is still where it was moved to."""
        vm = design.vms.get(self.vm)
        return vm is not None and vm.host == self.host

    def analysis(self) -> Analysis:
        """The study alone, for figures."""
        return Analysis(self.title, None, (self.result,), (), ())


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What a drop does: the edit, the machines after it and the migration; or the reason why not."""

    edit: MoveVm | None = None
    after: Machines | None = None
    migration: Migration | None = None
    reason: str = ""


def can_move(machines: Machines, vm_id: str, host: str) -> HostVerdict:
    """Whether a host takes a machine, and whether it can get there."""
    placement = machines.placement
    vm, placed, free_capacity = (
        machines.design.vms[vm_id],
        placement.placed.get(vm_id),
        placement.free_capacities.get(host),
    )
    if free_capacity is None:
        return HostVerdict(reason=f"{host} is no host", remedy="choose a server with CPUs")
    if placed is not None and placed.host.path == host:
        return HostVerdict(reason="it runs here already")
    if placed is None:
        misfit = next((d for d in vm.devices if d.part is not None and not _may_leave(d)), None)
        if misfit is not None:
            return HostVerdict(reason=f"{misfit.part} is passed through", remedy="take the device away first")
        loose = tuple(with_changes(d, part=None, placement=None) for d in vm.devices)
        found = place_on(
            free_capacity, with_changes(vm, host=None, devices=loose), release_on(free_capacity.host, vm), by_hand=False
        )
    else:
        _, why = movable(placed, _CONDITIONS)
        if why is not None:
            return HostVerdict(
                reason=f"it cannot move: {why}", remedy="shut it down, and give it a device of another host"
            )
        found = place_on(free_capacity, unbound(placed), vsphere(pick_release(placed, _CONDITIONS)), by_hand=False)
    if isinstance(found, Refusal):
        return HostVerdict(reason=brief(found.text), remedy=found.remedy)
    return HostVerdict(found[1])


def brief(text: str) -> str:
    """Reasons of several GPUs in one: ``gpu0: taken; gpu1: taken`` → ``gpu0 and 1 more: taken``."""
    by_reason: dict[str, list[str]] = {}
    for said in text.split("; "):
        where, colon, why = said.partition(": ")
        if not colon:
            return text
        by_reason.setdefault(why, []).append(where)
    return "; ".join(
        f"{places[0]}{f' and {len(places) - 1} more' if len(places) > 1 else ''}: {why}"
        for why, places in by_reason.items()
    )


def _may_leave(device: VmDevice) -> bool:
    return device.kind in ("vgpu", "mig_vgpu", "device_group")


def move_edit(design: Design, vm: VirtualMachine, there: Placed) -> MoveVm:
    """The edit that puts a machine where it was found a place; devices that named a GPU name the new one."""
    devices: list[VmDevice] = []
    for index, device in enumerate(vm.devices):
        here = [d.part for d in there.devices if d.device == index and d.part]
        if device.part is not None and _may_leave(device):
            part = here[0] if len(here) == 1 else None
            device = with_changes(device, part=part, placement=None)
        elif device.placement is not None:
            device = with_changes(device, placement=None)
        devices.append(device)
    return MoveVm(vm.id, there.host.path, tuple(devices), f"Move {vm.label} to {host_title(design, there.host)}")


def decide(design: Design, machines: Machines, vm_id: str, host: str, shown: str = "") -> Decision:
    """What dropping a machine on a host does, while the workload `shown` runs with."""
    try:
        if machines.design is not design:
            machines = machines_of(design)
        verdict = can_move(machines, vm_id, host)
        if verdict.there is None:
            return Decision(reason=verdict.text)
        migration = migrate(machines, vm_id, verdict.there, shown)
        if isinstance(migration, str):
            return Decision(reason=migration)
        edit = move_edit(design, design.vms[vm_id], verdict.there)
        after = machines_of(edit.apply(design))
    except DesignerError as error:
        return Decision(reason=f"{error.text} — {error.remedy}" if error.remedy else error.text)
    # the places of machines that name none are chosen again: none of them may lose its own
    lost = next((vm for vm in after.placement.refused if vm not in machines.placement.refused), None)
    if lost is not None:
        return Decision(reason=f"{machines.title(lost)} would lose its place: {after.placement.refused[lost].text}")
    return Decision(edit, after, migration)


def _settings(design: Design, kind: str, shown: str) -> dict[str, JsonValue]:
    """How a machine moved by hand goes: as the migration shown goes, else next to the workload shown."""
    spec = design.workloads.get(shown)
    if spec is None:
        return {}
    if spec.kind in ("vmotion", "evacuation", "kvm_migration"):
        known = {setting.name for setting in workload_kinds()[kind].settings}
        return {name: value for name, value in spec.settings.items() if name in known - {"vms", "to", "hosts"}}
    return {"background": shown} if spec.kind in _STEADY else {}


def migrate(machines: Machines, vm_id: str, there: Placed, shown: str = "") -> Migration | str | None:
    """The study of a running machine on its way to another host; the reason if it does not arrive, None if it is
    nowhere yet.

    Raises
    ------
    AnalysisError
        If there is no network between the hosts.
    """
    placed = machines.placement.placed.get(vm_id)
    if placed is None:
        return None
    kind = "kvm_migration" if pick_release(placed, _CONDITIONS) == KVM else "vmotion"
    ends = {"vms": vm_id, "to": there.host.path}
    settings = _settings(machines.design, kind, shown) | ends
    title = f"Move {placed.vm.label}"
    try:
        result, _ = run_workload(machines.network, WorkloadSpec(id=MOVE_ID, kind=kind, title=title, settings=settings))
    except DesignerError:
        # what runs with cannot be computed: the move alone can
        result, _ = run_workload(machines.network, WorkloadSpec(id=MOVE_ID, kind=kind, title=title, settings=ends))
    for row in result.tables["machines"].rows:
        if row[3] == "stays":
            return f"it cannot move: {row[-1]}"
    return Migration(
        vm_id,
        placed.vm.label,
        host_title(machines.design, placed.host),
        host_title(machines.design, there.host),
        there.host.path,
        result,
    )

"""What rules ask of machines: which of them migration workloads move, and settings with their units."""

from __future__ import annotations

import pytest

from designer.design.document import VirtualMachine, WorkloadSpec, with_changes
from designer.errors import AnalysisError
from designer.families.machines.rules._context import MachineContext
from designer.interchange.templates import open_design

DESIGN = open_design("vsphere-cluster-4")


def test_an_evacuation_moves_what_stands_on_its_hosts() -> None:
    """By the workload's own setting `hosts`, a selector: all four hosts hold every machine that has a place."""
    everywhere = WorkloadSpec(id="all", kind="evacuation", settings={"hosts": "hosts[*]/server"})
    first = WorkloadSpec(id="one", kind="evacuation", settings={"hosts": "hosts[0]/server"})
    context = MachineContext(DESIGN.model_copy(update={"workloads": {"all": everywhere, "one": first}}))
    assert context.placement is not None
    assert context.moved_by("all") == frozenset(context.placement.placed)
    there = {vm for vm, placed in context.placement.placed.items() if placed.host.path == "hosts[0]/server"}
    assert there
    assert context.moved_by("one") == there
    assert context.moved == context.moved_by("all")


def with_setting(name: str, value: object) -> tuple[MachineContext, VirtualMachine]:
    vm = next(iter(DESIGN.vms.values()))
    stated = with_changes(vm, settings={name: value})
    return MachineContext(DESIGN.model_copy(update={"vms": {**DESIGN.vms, vm.id: stated}})), stated


def test_settings_are_read_with_their_units() -> None:
    """64 GiB are 64 · 2^30 B; 30 % are 0.3; a count is a number without a unit."""
    for name, value, expected in (
        ("active_memory", "64 GiB", 64 * 2.0**30),
        ("cpu_load", "30 %", 0.3),
        ("tokens_held", 8192, 8192.0),
        ("no such setting", "5 s", None),
    ):
        context, vm = with_setting(name, value)
        assert context.amount(vm, name) == expected


@pytest.mark.parametrize(("name", "value"), [("active_memory", "much"), ("tokens_held", "many"), ("cpu_load", True)])
def test_a_setting_that_is_no_quantity_is_named(name: str, value: object) -> None:
    context, vm = with_setting(name, value)
    with pytest.raises(AnalysisError) as stated:
        context.amount(vm, name)
    assert stated.value.place == f"vms.{vm.id}.settings.{name}"

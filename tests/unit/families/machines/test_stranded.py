"""Stranded frame buffer, worked out by hand: mixed sizes, one size, and MIG."""

from __future__ import annotations

from dataclasses import replace

import pytest

from designer.engine.machines.free_capacity import GpuFreeCapacity
from designer.engine.machines.placement import place_vms
from designer.engine.network import build_network
from designer.families.machines.vm_capacity import stranded_memory
from designer.formulas.placement import Mode, Resident
from designer.interchange.templates import open_design
from tests.unit.families.machines.machines import ask, cluster, rows
from tests.vgpus import vgpu_type

GIB = 2.0**30


def gpu(mode: Mode, *residents: tuple[str, int], kind: str = "a100-80-sxm", owner: str = "") -> GpuFreeCapacity:
    host = place_vms(build_network(cluster())).free_capacities["hosts[0]/server"].gpus[0].gpu
    known = replace(host, type=vgpu_type(kind), memory=80 * GIB)
    return GpuFreeCapacity(known, mode, tuple(Resident(name, start) for name, start in residents), owner)


def test_halves_strand_nothing() -> None:
    (half,) = stranded_memory([gpu(Mode.MIXED_SIZE, ("40C", 0))]).values()
    (full,) = stranded_memory([gpu(Mode.MIXED_SIZE, ("40C", 0), ("40C", 40))]).values()
    assert (half.used, half.stranded) == (40 * GIB, 0.0)
    assert (full.used, full.stranded) == (80 * GIB, 0.0)


def test_one_small_machine_at_the_end_strands_two_units() -> None:
    """A30, 24 units: 4 start at 0, 8, 12, 20; 6 at 0, 6, 12, 18; 8 at 0, 16; 12 at 0, 12. With a 4 at 20 the best is
    12 at 0 and 6 at 12: 18 to 20 stay unused, since 6 at 18 and 8 at 16 would reach into it. The worst order puts 4s at
    0, 8, 12 and 20: 4 to 8 and 16 to 20 take nothing more, 8 units."""
    (found,) = stranded_memory([gpu(Mode.MIXED_SIZE, ("4C", 20), kind="a30")]).values()
    unit = 80 * GIB / 24
    assert found.used == pytest.approx(4 * unit)
    assert found.stranded == pytest.approx(2 * unit)
    assert found.worst == pytest.approx(8 * unit)


def test_one_size_leaves_what_no_slot_covers() -> None:
    """23 units on the 94 of an H100 NVL: four fit, 92 in all, so two of 94 units stay unused whatever happens."""
    (found,) = stranded_memory([gpu(Mode.SAME_SIZE, ("23C", 0), kind="h100-94-nvl")]).values()
    assert found.used == pytest.approx(23 / 94 * 80 * GIB)
    assert found.stranded == pytest.approx(2 / 94 * 80 * GIB)
    assert found.worst is None


def test_seven_small_instances_strand_an_eighth() -> None:
    """Seven of one slice take seven of eight memory slices and all seven compute slices."""
    (found,) = stranded_memory([gpu(Mode.MIG, *(("1-10C", at) for at in range(7)), kind="h100-80-sxm")]).values()
    assert (found.used, found.stranded, found.compute) == (70 * GIB, 10 * GIB, 0.0)


def test_two_large_instances_strand_compute() -> None:
    """Two of three compute and four memory slices: one of seven compute slices has no memory left."""
    (found,) = stranded_memory([gpu(Mode.MIG, ("3-40C", 0), ("3-40C", 4), kind="h100-80-sxm")]).values()
    assert (found.stranded, found.compute) == (0.0, pytest.approx(1 / 7))


def test_empty_and_owned_gpus_are_left_out() -> None:
    assert stranded_memory([gpu(Mode.SAME_SIZE)]) == {}


def test_the_capacity_of_a_cluster_tells_it_of_every_shared_gpu() -> None:
    stated = rows(ask(cluster(), "vm_capacity", vm="lab0"), "stranded")
    assert set(stated) == {f"hosts[{host}]/gpu{n}" for host in range(4) for n in range(2)}
    assert {row["stranded"] for row in stated.values()} == {0.0}
    assert "stranded" not in ask(open_design("vsphere-cluster-4"), "evacuation", hosts="hosts[0]/server").tables

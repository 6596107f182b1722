"""Checkable numbers from documentation and posts, computed by the product: tables of vGPU types, placement, limits."""

from __future__ import annotations

from functools import cache

import pytest

from designer.catalog.vgpu import VgpuType, load_boards
from designer.design.document import (
    Design,
    Link,
    Part,
    VirtualMachine,
    VmDevice,
    replaced,
    with_changes,
)
from designer.engine.machines.placement import Placement, place_vms
from designer.engine.network import build_network
from designer.errors import AnalysisError
from designer.families.machines.formulas.drs_cadence import drs_cadence
from designer.families.machines.vm_capacity import how_many_more, spare_for_failures
from designer.families.training.formulas.time_to_train import time_to_train
from designer.formulas.placement import Resident
from designer.formulas.placement.hosts import mmio_space, virtual_numa
from designer.formulas.placement.mig_slices import mig_slices
from designer.formulas.placement.virtual_gpus import mixed_size, same_size
from designer.units import Seconds
from tests.unit.families.machines.machines import ask, cluster, rows, value, with_vms
from tests.vgpus import vgpu_type

GIB, GB = 2.0**30, 1e9
A100 = "gpu/nvidia/a100-pcie-80gb"


@cache
def _six_gpus(policy: str) -> Design:
    """One host with six 80 GB GPUs."""
    gpu_type = cluster().groups["hosts"].content.parts["gpu0"].type
    known = cluster().part_types
    parts: list[Part] = [
        Part(id="server", kind="server", attributes={"vgpu_policy": policy}),
        Part.model_validate({"id": "cpu", "kind": "cpu", "parent": "server", "overrides": {"cores": {"value": 64}}}),
        Part.model_validate(
            {"id": "memory", "kind": "memory", "parent": "server", "overrides": {"memory_capacity": {"value": "4 TB"}}}
        ),
        *(Part(id=f"gpu{n}", kind="gpu", type=gpu_type, parent="server") for n in range(6)),
    ]
    links = [Link(id="bus", a="cpu", b="memory", kind="memory_bus", bandwidth_per_direction="200 GB/s")]
    links += [Link(id=f"slot{n}", a="cpu", b=f"gpu{n}", kind="pcie", generation=4, lanes=16) for n in range(6)]
    return Design.model_validate({"name": "six", "parts": parts, "links": links, "part_types": known})


def _machine(name: str, profile: str, **changes: object) -> VirtualMachine:
    base = {"id": name, "vcpus": 1, "memory": "1 GiB", "host": "server", **changes}
    return VirtualMachine.model_validate({**base, "devices": [VmDevice(kind="vgpu", profile=profile)]})


def _placed(design: Design, profiles: list[str]) -> Placement:
    vms = [_machine(f"m{n:02}", profile) for n, profile in enumerate(profiles)]
    placement = place_vms(build_network(with_vms(design, *vms, only=True)))
    assert not placement.refused
    return placement


@pytest.mark.parametrize(
    ("policy", "running", "free"),
    [
        # a machine of each size, and a second of the two smallest, each on a GPU of its own
        ("performance", ["4C", "4C", "10C", "10C", "16C", "20C"], (38, 14, 4, 3, 0, 0)),
        # two of each that fit twice, each size on one GPU
        ("group", ["4C", "4C", "10C", "10C", "16C", "16C", "20C", "20C", "40C", "80C"], (18, 6, 3, 2, 1, 0)),
    ],
)
def test_free_slots_of_six_gpus_by_policy(policy: str, running: list[str], free: tuple[int, ...]) -> None:
    placement = _placed(_six_gpus(policy), running)
    for profile, count in zip(("4C", "10C", "16C", "20C", "40C", "80C"), free, strict=True):
        like = _machine("like", profile, host=None)
        assert len(how_many_more(placement, like).places) == count, profile


#: time-sliced profiles: most in same-size mode / in mixed-size mode
COUNTS = {
    "a100-40-pcie": "4C 10/8, 5C 8/8, 8C 5/4, 10C 4/4, 20C 2/2, 40C 1/1",
    "a100-80-sxm": "4C 20/16, 8C 10/8, 10C 8/8, 16C 5/4, 20C 4/4, 40C 2/2, 80C 1/1",
    "h100-80-pcie": "4C 20/16, 5C 16/16, 8C 10/8, 10C 8/8, 16C 5/4, 20C 4/4, 40C 2/2, 80C 1/1",
    "h100-80-sxm": "4C 20/16, 5C 16/16, 8C 10/8, 10C 8/8, 16C 5/4, 20C 4/4, 40C 2/2, 80C 1/1",
    "h100-94-nvl": "4C 23/16, 6C 15/8, 11C 8/8, 15C 6/4, 23C 4/4, 47C 2/2, 94C 1/1",
    "h200-sxm": "4C 32/32, 7C 20/16, 8C 16/16, 14C 10/8, 17C 8/8, 28C 5/4, 35C 4/4, 70C 2/2, 141C 1/1",
    "h200-nvl": "4C 32/32, 7C 20/16, 8C 16/16, 14C 10/8, 17C 8/8, 28C 5/4, 35C 4/4, 70C 2/2, 141C 1/1",
    "l4": "4C 6/4, 6C 4/4, 8C 3/2, 12C 2/2, 24C 1/1",
    "a40": "4C 12/8, 6C 8/8, 8C 6/4, 12C 4/4, 16C 3/2, 24C 2/2, 48C 1/1",
    "l40": "4C 12/8, 6C 8/8, 8C 6/4, 12C 4/4, 16C 3/2, 24C 2/2, 48C 1/1",
    "rtx-pro-6000-se": "8C 12/12, 12C 8/8, 16C 6/6, 24C 4/4, 32C 3/3, 48C 2/2, 96C 1/1",
}


@pytest.mark.parametrize("name", COUNTS)
def test_time_sliced_profiles_fill_a_gpu(name: str) -> None:
    gpu = vgpu_type(name)
    for stated in COUNTS[name].split(", "):
        profile, both = stated.split()
        same, mixed = map(int, both.split("/"))
        assert same_size(gpu, [], profile).more == same
        assert len(mixed_size(gpu, [], profile).free) == mixed


Q_OF_48 = "1Q 32, 2Q 24, 3Q 16, 4Q 12, 6Q 8, 8Q 6, 12Q 4, 16Q 3, 24Q 2, 48Q 1"


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("a40", Q_OF_48),
        ("l40", Q_OF_48),
        ("l40s", Q_OF_48),
        ("l4", "1Q 24, 2Q 12, 3Q 8, 4Q 6, 6Q 4, 8Q 3, 12Q 2, 24Q 1"),
        ("l4", "1B 24, 2B 12, 3B 8"),
        ("a16", "1B 16, 2B 8, 3B 5"),
    ],
)
def test_workstation_and_desktop_profiles(name: str, stated: str) -> None:
    gpu = vgpu_type(name)
    for each in stated.split(", "):
        profile, most = each.split()
        assert same_size(gpu, [], profile).more == int(most)


@pytest.mark.parametrize("name", ["a30", "a100-40-pcie", "a100-80-sxm", "h100-80-sxm", "h200-sxm"])
def test_compute_boards_have_no_graphics_profiles(name: str) -> None:
    assert {profile.series for profile in vgpu_type(name).profiles} == {"C"}


MIG = {
    "a100-40-sxm": "1-5C 7, 1-5CME 1, 1-10C 4, 2-10C 3, 3-20C 2, 4-20C 1, 7-40C 1",
    "a100-80-pcie": "1-10C 7, 1-10CME 1, 1-20C 4, 2-20C 3, 3-40C 2, 4-40C 1, 7-80C 1",
    "h100-80-sxm": "1-10C 7, 1-10CME 1, 1-20C 4, 2-20C 3, 3-40C 2, 4-40C 1, 7-80C 1",
    "h100-64-sxm": "1-8C 7, 1-8CME 1, 1-16C 4, 2-16C 3, 3-32C 2, 4-32C 1, 7-64C 1",
    "h100-94-sxm": "1-12C 7, 1-12CME 1, 1-24C 4, 2-24C 3, 3-47C 2, 4-47C 1, 7-94C 1",
    "h200-sxm": "1-18C 7, 1-18CME 1, 1-35C 4, 2-35C 3, 3-71C 2, 4-71C 1, 7-141C 1",
    "a30": "1-6C 4, 1-6CME 1, 2-12C 2, 2-12CME 1, 4-24C 1",
}


def _filled(gpu: VgpuType, profile: str) -> int:
    """How many of a profile go on an empty GPU one after the other."""
    residents: list[Resident] = []
    while (best := mig_slices(gpu, residents, profile).best) is not None:
        residents.append(Resident(profile, best))
    return len(residents)


@pytest.mark.parametrize("name", MIG)
def test_mig_profiles_fill_a_gpu(name: str) -> None:
    gpu = vgpu_type(name)
    for each in MIG[name].split(", "):
        profile, most = each.split()
        assert gpu.mig_profile(profile).most == int(most)
        assert _filled(gpu, profile) == int(most)
    # a 20 GB instance of one slice takes two of eight memory slices, not one
    if name == "a100-80-pcie":
        assert (gpu.mig_profile("1-20C").compute, gpu.mig_profile("1-20C").memory) == (1, 2)


@pytest.mark.parametrize(
    ("board", "sets"),
    [
        ("hgx-h100-8", ["1-8", "1-4", "5-8", "1,3", "2,4", "5,7", "6,8", "1", "2", "3", "4", "5", "6", "7", "8"]),
        ("hgx-b200-8", ["1-8", "1-4", "5-8", "1,2", "3,4", "5,6", "7,8", "1", "2", "3", "4", "5", "6", "7", "8"]),
        (
            "hgx-a100-16",
            [
                "1-16",
                "1-8",
                "9-16",
                "1-4,9-12",
                "5-8,13-16",
                "1-4,13-16",
                "5-8,9-12",
                "1-4",
                "5-8",
                "9-12",
                "13-16",
                "1,2",
                "3,4",
                "5,6",
                "7,8",
                "9,10",
                "11,12",
                "13,14",
                "15,16",
                *map(str, range(1, 17)),
            ],
        ),
    ],
)
def test_partitions_are_those_of_the_fabric_manager(board: str, sets: list[str]) -> None:
    def modules(text: str) -> tuple[int, ...]:
        found: list[int] = []
        for piece in text.split(","):
            first, _, last = piece.partition("-")
            found += range(int(first), int(last or first) + 1)
        return tuple(found)

    assert [p.modules for p in load_boards()[board].partitions] == [modules(each) for each in sets]


@pytest.mark.parametrize(
    ("framebuffer", "one", "two"),
    [(16, 64, 128), (24, 64, 128), (32, 64, 128), (48, 128, 256), (40, 128, 256), (80, 256, 512), (141, 512, 1024)],
)
def test_mmio_space(framebuffer: int, one: int, two: int) -> None:
    assert mmio_space([framebuffer * GIB]) == one * GIB
    assert mmio_space([framebuffer * GIB] * 2) == two * GIB
    assert mmio_space([80 * GIB] * 3) == 1024 * GIB


@pytest.mark.parametrize(
    ("cpus", "cores", "nodes"),
    [(24, 20, (12, 12)), (36, 20, (18, 18)), (21, 20, (11, 10)), (8, 4, (8,)), (12, 20, (12,))],
)
def test_virtual_numa_nodes(cpus: int, cores: int, nodes: tuple[int, ...]) -> None:
    found = virtual_numa(cpus, 64 * GB, cores, 256 * GB)
    assert found.cpus == nodes
    assert found.even == (len(set(nodes)) == 1)
    assert found.remote_memory == 0


def test_memory_is_not_considered_and_lands_on_the_other_socket() -> None:
    one = virtual_numa(12, 384 * GB, 20, 256 * GB)
    assert one.nodes == 1
    # published as 155 GB, of 384 configured
    assert one.remote_memory == pytest.approx(156.5 * GB, rel=0.02)
    two = virtual_numa(12, 384 * GB, 20, 256 * GB, nodes=2)
    assert two.cpus == (6, 6)
    assert two.remote_memory == 0
    wide = VirtualMachine(id="wide", host="hosts[0]/server", vcpus=12, memory="700 GB")
    placement = place_vms(build_network(with_vms(cluster(), wide, only=True)))
    assert [f.code for f in placement.findings] == ["VM-NUMA-MEMORY"]
    with pytest.raises(AnalysisError):
        virtual_numa(0, GB, 20, GB)
    with pytest.raises(AnalysisError):
        mmio_space([])


def test_imagenet_and_bert() -> None:
    """Gradients of 340 million numbers of 4 bytes go out and come back over 25 Gb/s: 0.87 s, 3 million times 725 h."""
    step = Seconds(2 * 340e6 * 4 / (25e9 / 8))
    assert step == pytest.approx(0.870, rel=1e-3)
    assert time_to_train(step, 1, 30_000 * 100).total / 3600 == pytest.approx(725, rel=1e-3)
    assert time_to_train(Seconds(1.0), 32, 1_280_000).steps == 40_000


def test_other_shapes_are_counted_too() -> None:
    stated = rows(ask(cluster(), "vm_capacity", vm="infer0"), "profiles")
    # every GPU has machines, so there is room for the sizes that are there already
    assert {name: row["more"] for name, row in stated.items() if row["more"]} == {
        "grid_a100d-20c": 9,
        "grid_a100d-40c": 3,
    }
    empty = with_changes(cluster(), vms={"infer0": cluster().vms["infer0"]})
    more = {name: row["more"] for name, row in rows(ask(empty, "vm_capacity", vm="infer0"), "profiles").items()}
    assert more["grid_a100d-80c"] == 7
    assert more["grid_a100d-40c"] == 14
    assert more["grid_a100d-20c"] == 31


def test_what_a_machine_needs_is_reported_with_the_room_for_more() -> None:
    stated = {row[0]: row[1] for row in ask(cluster(), "vm_capacity", vm="infer0").tables["needs"].rows}
    assert stated["64-bit MMIO space"] == "pciPassthru.64bitMMIOSizeGB = 256, with EFI firmware"
    assert stated["time slice"] == "2 ms"
    assert str(stated["memory reservation"]).startswith("all of its")


class TestSpareCapacity:
    def test_by_shape(self) -> None:
        result = ask(cluster(), "vm_capacity", vm="infer0")
        stated = rows(result, "spare")
        # free GPUs do not help a machine that needs a whole one
        assert stated["hosts[0]/server"]["shape"] == "grid_a100d-80c"
        assert stated["hosts[2]/server"]["have no place"] == 0
        assert {f.code for f in result.findings} == {"HA-SHAPE"}

    def test_an_empty_host_of_the_same_shape_is_enough(self) -> None:
        design = cluster()
        kept = with_changes(design, vms={k: v for k, v in design.vms.items() if v.host != "hosts[1]/server"})
        result = ask(kept, "vm_capacity", vm="infer0")
        assert not result.findings
        assert all(row["have no place"] == 0 for row in rows(result, "spare").values())

    def test_what_is_tied_to_its_host_does_not_restart(self) -> None:
        tied = VirtualMachine(
            id="pt",
            host="hosts[0]/server",
            memory="64 GiB",
            memory_reservation="64 GiB",
            devices=(VmDevice(kind="passthrough", part="hosts[0]/gpu0"),),
        )
        placement = place_vms(build_network(with_vms(cluster(), tied, only=True)))
        found = spare_for_failures(placement)
        assert [(f.restarted, f.missing) for f in found] == [(0, {"a device of its host": 1})]


def test_drs_fits_fewer_moves_over_a_slower_network() -> None:
    times = [value(ask(cluster(), "vmotion", vms="web0", dirty_rate="0 B/s"), "migration_time")]
    faster = with_changes(
        cluster(),
        wirings=replaced(
            cluster().wirings,
            [with_changes(cluster().wirings["vmotion_network"], bandwidth_per_direction="100 Gb/s")],
        ),
    )
    times.append(value(ask(faster, "vmotion", vms="web0", dirty_rate="0 B/s"), "migration_time"))
    slow, fast = (drs_cadence(3, 40, time) for time in times)
    assert slow.rebalance_time >= fast.rebalance_time

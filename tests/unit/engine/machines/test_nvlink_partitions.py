"""Device groups switch NVLinks off: what GPUs of one group, of none and of different groups have left."""

from __future__ import annotations

import pytest

from designer.analysis.simulation import simulate
from designer.analysis.study import analyze
from designer.design.document import Design, VirtualMachine, VmDevice, WorkloadSpec, with_changes
from designer.engine.results import WorkloadResult
from designer.interchange.templates import open_design

#: PCIe Gen4 x16: 16 GT/s x 16 lanes x 128/130 / 8 [B/s]
GEN4 = 31.5e9
CUT = "VM-NVLINK-CUT"


def board(*devices: VmDevice) -> Design:
    """Eight A100 on six NVSwitches, and a machine for each device."""
    vms = [
        VirtualMachine(id=f"train{k}", host="server", vcpus=8, memory="128 GiB", release="8.0 U2", devices=(device,))
        for k, device in enumerate(devices)
    ]
    return with_changes(open_design("hgx-a100-8"), vms=vms)


def group(count: int) -> VmDevice:
    return VmDevice(kind="device_group", profile="80c", count=count)


def asked(design: Design, kind: str, **settings: str) -> WorkloadResult:
    spec = WorkloadSpec(id="asked", kind=kind, settings=settings)
    return analyze(with_changes(design, workloads=[spec]), curves=False).workloads[0]


def copy_rate(design: Design, source: str, target: str) -> tuple[float, bool]:
    """Rate from one GPU to another, and whether it is said that NVLink is off between them."""
    found = asked(design, "transfer", **{"from": source, "to": target})
    return found.metrics["rate"].value, any(f.code == CUT for f in found.findings)


@pytest.fixture(scope="module")
def half() -> Design:
    """One group of four, which takes the upper half of the board."""
    return board(group(4))


@pytest.mark.parametrize(("source", "target"), [("gpu4", "gpu7"), ("gpu0", "gpu3")])
def test_gpus_on_one_side_keep_all_their_nvlinks(half: Design, source: str, target: str) -> None:
    """12 x 25 GB/s, of which single transfers reach 0.918, inside the group and among those in none."""
    rate, stated = copy_rate(half, source, target)
    assert rate == pytest.approx(0.918 * 300e9)
    assert not stated


@pytest.mark.parametrize(("source", "target"), [("gpu0", "gpu5"), ("gpu6", "gpu1")])
def test_gpus_on_two_sides_copy_over_pcie(half: Design, source: str, target: str) -> None:
    rate, stated = copy_rate(half, source, target)
    assert rate < GEN4
    assert stated


def test_a_ring_over_both_sides_is_held_by_pcie(half: Design) -> None:
    both, inside = asked(half, "collective", group="gpus"), asked(half, "collective", group="gpu4,gpu5,gpu6,gpu7")
    assert both.metrics["bus_bandwidth"].value < GEN4
    assert {b.id.split("--")[0][:3] for b in both.binding} <= {"cpu", "psw"}
    assert [f.severity for f in both.findings if f.code == CUT]
    usual = asked(board(), "collective", group="gpu4,gpu5,gpu6,gpu7")
    assert inside.metrics["bus_bandwidth"].value == pytest.approx(usual.metrics["bus_bandwidth"].value)
    assert not [f for f in inside.findings if f.code == CUT]


def test_a_virtual_gpu_outside_a_group_has_no_nvlink() -> None:
    single = board(VmDevice(kind="vgpu", part="gpu2", profile="80c"))
    for source, target in (("gpu2", "gpu3"), ("gpu0", "gpu2")):
        rate, stated = copy_rate(single, source, target)
        assert rate < GEN4
        assert stated
    assert copy_rate(single, "gpu0", "gpu1") == (pytest.approx(0.918 * 300e9), False)


def test_a_group_of_the_whole_board_cuts_nothing() -> None:
    rate, stated = copy_rate(board(group(8)), "gpu0", "gpu5")
    assert rate == pytest.approx(0.918 * 300e9)
    assert not stated


def test_two_groups_are_apart_from_each_other() -> None:
    halves = board(group(4), group(4))
    assert copy_rate(halves, "gpu0", "gpu4")[1]
    assert not copy_rate(halves, "gpu0", "gpu1")[1]


def test_over_time_the_same_links_are_off(half: Design) -> None:
    spec = WorkloadSpec(id="ring", kind="collective", settings={"group": "gpus", "size": "1 GB"})
    design = with_changes(half, workloads=[spec])
    alone = analyze(design, curves=False).workloads[0].metrics["communication_time"].value
    played = simulate(design, ["ring"]).metrics["ring"]["communication_time"].value
    assert played == pytest.approx(alone, rel=1e-6)
    # with all NVLinks on, 18 GB/s of the ring are over 200
    free = with_changes(board(), workloads=[spec])
    assert played > 8 * analyze(free, curves=False).workloads[0].metrics["communication_time"].value

"""Placement of virtual machines on hosts and NVLink partitions."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis.simulation import simulate
from designer.analysis.study import analyze
from designer.design.document import Design, VirtualMachine, VmDevice, WorkloadSpec, replaced, with_changes
from designer.engine.machines.placement import Placement, place_vms
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from designer.families.machines.vm_capacity import how_many_more
from designer.interchange.templates import open_design
from tests.unit.families.machines.machines import ask, cluster, rows, value, with_vms

# Machines on hosts, sockets and GPUs: by hand, automatically, and the rules that are broken.


@cache
def dgx() -> Design:
    return open_design("dgx-h100")


def place(design: Design, *vms: VirtualMachine) -> Placement:
    return place_vms(build_network(with_vms(design, *vms, only=True)))


def machine(
    vm_id: str, *devices: VmDevice, host: str | None = None, memory: str = "256 GiB", **more: object
) -> VirtualMachine:
    return VirtualMachine.model_validate(
        {"id": vm_id, "host": host, "memory": memory, "vcpus": 8, "devices": devices, **more}
    )


def vgpu(profile: str, part: str | None = None, kind: str = "vgpu", **more: object) -> VmDevice:
    return VmDevice.model_validate({"kind": kind, "profile": profile, "part": part, **more})


def codes(placement: Placement) -> list[str]:
    return [finding.code for finding in placement.findings]


def test_the_shipped_cluster_breaks_no_rule() -> None:
    placement = place_vms(build_network(cluster()))
    assert placement.findings == ()
    assert set(placement.placed) == set(cluster().vms)
    assert all(placed.host.path == placed.vm.host for placed in placement.placed.values())
    shares = placement.shares["lab0"][0]
    assert (shares.memory, shares.compute) == (0.5, 1.0)


def test_two_busy_machines_share_compute_and_split_memory_by_profile() -> None:
    two = [machine(f"vm{n}", vgpu("20C", "hosts[0]/gpu0"), host="hosts[0]/server") for n in range(2)]
    placement = place(cluster(), *two)
    for vm in two:
        assert placement.shares[vm.id][0].compute == pytest.approx(0.5)
        assert placement.shares[vm.id][0].memory == pytest.approx(0.25)
    assert {placement.placed[vm.id].devices[0].start for vm in two} == {0, 1}


def test_mig_slices_are_their_own() -> None:
    placement = place(
        cluster(), machine("m", vgpu("grid_a100d-3-40c", "hosts[0]/gpu0", "mig_vgpu"), host="hosts[0]/server")
    )
    share = placement.shares["m"][0]
    assert (share.compute, share.memory, share.bandwidth) == (pytest.approx(3 / 7), 0.5, 0.5)


@pytest.mark.parametrize("name", ["20C", "20c", "grid_a100d-20c", "A100D-20C", "GRID_A100D-20C"])
def test_profiles_are_read_in_every_spelling(name: str) -> None:
    placed = place(cluster(), machine("m", vgpu(name), host="hosts[0]/server")).placed["m"]
    assert placed.devices[0].profile == "20C"
    assert placed.devices[0].shown == "grid_a100d-20c"


@pytest.mark.parametrize(
    ("device", "code", "text"),
    [
        (vgpu("grid_a100d-7c"), "VM-PROFILE", "no profile"),
        (vgpu("nvidia_h100xm-80c"), "VM-PROFILE", "no profile"),
        (vgpu("40Q"), "VM-PROFILE", "no profile"),
        (vgpu("20C", "hosts[1]/gpu0"), "VM-DEVICE", "no GPU of hosts[0]"),
        (vgpu("", kind="device_group", count=3), "VM-GROUP", "no device group of 3"),
        (vgpu("", kind="device_group", count=2), "VM-GROUP", "no GPUs joined by NVLink"),
        (vgpu("80C", count=3), "VM-NO-ROOM", "taken"),
    ],
)
def test_what_cannot_be_placed_is_a_finding(device: VmDevice, code: str, text: str) -> None:
    placement = place(cluster(), machine("m", device, host="hosts[0]/server"))
    assert not placement.placed
    assert codes(placement) == [code]
    assert text in placement.findings[0].text
    assert placement.findings[0].remedy


def test_a_machine_larger_than_any_host_is_a_finding_and_an_error_when_it_must_move() -> None:
    big = machine("big", host="hosts[0]/server", memory="2 TiB")
    wide = with_changes(machine("wide", host="hosts[0]/server"), vcpus=400)
    placement = place(cluster(), big, wide)
    assert codes(placement) == ["VM-TOO-BIG", "VM-TOO-BIG"]
    assert codes(place(cluster(), machine("homeless", memory="2 TiB"))) == ["VM-TOO-BIG"]


def test_profiles_of_one_gpu_follow_the_release() -> None:
    pair = [machine(f"m{n}", vgpu(p, "hosts[0]/gpu0"), host="hosts[0]/server") for n, p in enumerate(("20C", "40C"))]
    assert codes(place(cluster(), *pair)) == ["VM-NO-ROOM"]
    mixed = _with_server(cluster(), {"release": "8.0 U3", "vgpu_mode": "mixedSize"})
    assert codes(place(mixed, *pair)) == []
    older = _with_server(cluster(), {"release": "8.0 U2", "vgpu_mode": "mixedSize"})
    assert "VM-NO-ROOM" in codes(place(older, *pair))


def test_mig_and_time_slices_never_mix() -> None:
    pair = [
        machine("a", vgpu("20C", "hosts[0]/gpu0"), host="hosts[0]/server"),
        machine("b", vgpu("1-10C", "hosts[0]/gpu0", "mig_vgpu"), host="hosts[0]/server"),
    ]
    assert codes(place(cluster(), *pair)) == ["VM-NO-ROOM"]


def _with_server(design: Design, attributes: dict[str, str]) -> Design:
    group = design.groups["hosts"]
    server = with_changes(group.content.parts["server"], attributes=attributes)
    content = with_changes(group.content, parts=replaced(group.content.parts, [server]))
    return with_changes(design, groups=replaced(design.groups, [with_changes(group, content=content)]))


def test_limits_of_the_release() -> None:
    many = machine("m", vgpu("4C", count=5), host="hosts[0]/server")
    old = _with_server(cluster(), {"release": "7.0"})
    found = codes(place(old, many))
    assert {"VM-LIMIT", "VM-RESERVE", "VM-FRACTIONS"} <= set(found)
    # five spread over the GPUs of both sockets
    assert codes(place(cluster(), many)) == ["VM-NUMA"]
    assert codes(place(cluster(), with_changes(many, hardware_version=30))) == ["VM-HARDWARE", "VM-NUMA"]
    short = with_changes(many, memory_reservation="1 GiB")
    assert codes(place(cluster(), short)) == ["VM-RESERVE", "VM-NUMA"]


def test_device_groups_take_modules_as_the_boards_pair_them() -> None:
    group = VmDevice(kind="device_group", count=2)
    placement = place(dgx(), machine("a", group), machine("b", group), machine("c", with_changes(group, count=4)))
    modules = [placement.placed[i].devices[0].group.modules for i in "ab"]  # type: ignore[union-attr]
    assert modules == [(5, 7), (6, 8)]
    assert placement.placed["c"].devices[0].shown == "Nvidia:4@nvidia_h100xm-80c%NVLink"
    # two GPUs cut off from the six others
    assert len(placement.cut["a"].pairs) == 12
    assert len(placement.cut["c"].pairs) == 16


def test_module_ids_that_are_drawn_count() -> None:
    order = (2, 4, 1, 3, 7, 5, 6, 8)
    gpus = [with_changes(dgx().parts[f"gpu{n}"], attributes={"module": str(m)}) for n, m in enumerate(order)]
    drawn = with_changes(dgx(), parts=replaced(dgx().parts, gpus))
    placement = place(drawn, machine("a", VmDevice(kind="device_group", count=2)))
    assert {d.part for d in placement.placed["a"].devices} == {"gpu4", "gpu5"}
    assert "VM-MODULES" not in codes(placement)


def test_a_virtual_gpu_without_a_group_has_its_nvlinks_off() -> None:
    placement = place(dgx(), machine("m", vgpu("20C", count=2)))
    assert len(placement.cut["m"].links) in (4, 8)
    assert len({d.part for d in placement.placed["m"].devices}) == 2
    assert "VM-NVLINK-OFF" in codes(placement)


def test_part_of_an_nvswitch_board_is_not_passed_through() -> None:
    assert codes(place(dgx(), machine("m", VmDevice(kind="passthrough", part="gpu0")))) == ["VM-NVSWITCH"]
    assert "VM-GROUP" in codes(place(dgx(), machine("m", VmDevice(kind="device_group", count=2), release="8.0 U1")))


def test_automatic_places_spread_over_hosts() -> None:
    vms = [machine(f"m{n}", vgpu("80C")) for n in range(8)]
    placement = place(cluster(), *vms)
    assert len({placement.placed[vm.id].devices[0].part for vm in vms}) == 8
    assert codes(place(cluster(), *vms, machine("m8", vgpu("80C")))) == ["VM-NO-ROOM"]


def test_more_machines_fit_where_their_profile_already_is() -> None:
    result = ask(cluster(), "vm_capacity", vm="infer0")
    assert value(result, "more_machines") == 9
    stated = rows(result, "hosts")
    assert [stated[f"hosts[{n}]/server"]["more"] for n in range(4)] == [3, 0, 6, 0]
    assert value(ask(cluster(), "vm_capacity", vm="train0"), "more_machines") == 0


@given(st.lists(st.sampled_from(["4C", "8C", "10C", "20C", "40C", "80C"]), max_size=12))
def test_frame_buffer_is_never_given_out_twice(profiles: list[str]) -> None:
    vms = [machine(f"m{n}", vgpu(p), memory="8 GiB") for n, p in enumerate(profiles)]
    placement = place(cluster(), *vms)
    used: dict[str, float] = {}
    for placed in placement.placed.values():
        for device in placed.devices:
            used[device.part] = used.get(device.part, 0.0) + device.memory_share
    assert all(total <= 1 + 1e-9 for total in used.values())
    assert set(placement.placed) | set(placement.refused) == {vm.id for vm in vms}


@given(st.sampled_from(["10C", "20C", "40C", "80C"]))
def test_as_many_more_as_are_counted_can_be_placed(profile: str) -> None:
    like = machine("like", vgpu(profile), memory="8 GiB")
    more = len(how_many_more(place(cluster()), like).places)
    vms = [with_changes(like, id=f"m{n}") for n in range(more + 1)]
    assert len(place(cluster(), *vms).placed) == more


@pytest.mark.parametrize("part", ["hosts[2]/gpu1", "hosts[0]/gpu0"])
def test_a_virtual_gpu_sits_on_the_gpu_it_names_without_a_host(part: str) -> None:
    """Without a host the machine goes to the host of that GPU."""
    placement = place(cluster(), machine("free", vgpu(_profile(), part)))
    done = placement.placed["free"]
    assert [device.gpu.path for device in done.devices if device.gpu is not None] == [part]
    assert done.host.path == part.split("/")[0] + "/server"


def test_virtual_gpus_named_on_two_hosts_or_none_are_refused() -> None:
    profile = _profile()
    apart = machine("apart", vgpu(profile, "hosts[0]/gpu0"), vgpu(profile, "hosts[1]/gpu0"))
    none = machine("none", vgpu(profile, "hosts[0]/nic0"))
    placement = place(cluster(), apart, none)
    assert "GPUs of one host" in placement.refused["apart"].remedy
    assert "is no GPU of any host" in placement.refused["none"].text


def _profile() -> str:
    """A profile that machines of the shipped cluster use."""
    return next(d.profile for vm in cluster().vms.values() for d in vm.devices if d.kind == "vgpu")


# Device groups switch NVLinks off: what GPUs of one group, of none and of different groups have left.

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

"""Machines moved over the drawn network: the journey of the shipped cluster, and the laws any network obeys."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from designer.design.document import VirtualMachine, VmDevice, replaced, with_changes
from designer.errors import AnalysisError
from designer.findings import Severity
from designer.interchange.changes import apply_changes
from tests.unit.families.machines.machines import ask, cluster, plain_cluster, rows, value, with_speed, with_vms

EVACUATE = {"hosts": "hosts[0]/server"}
LINE_SHARE = 0.94


def test_emptying_host_one_names_time_stun_link_and_who_stays() -> None:
    result = ask(cluster(), "evacuation", **EVACUATE)
    stated = rows(result)
    moved = sum(row["transferred"] for row in stated.values() if row["transferred"])
    assert value(result, "evacuation_time") == pytest.approx(moved / (LINE_SHARE * 1.25e9) + 10, rel=0.02)
    # 16 GB in use over 9.4 Gb/s, and 0.6 s before: frame buffer ÷ network on a stream release
    assert stated["Inference 0"]["stun"] == pytest.approx(16e9 / (LINE_SHARE * 1.25e9) + 0.6, rel=0.02)
    assert stated["Front end"]["stun"] is None
    assert stated["Front end"]["pause"] < 1
    assert stated["Training 0"]["to"] is None
    assert "grid_a100d-80c" in stated["Training 0"]["note"]
    assert {bottleneck.id for bottleneck in result.binding} == {"vmotion_network[0]:ab", "vmotion_network[2]:ba"}
    assert result.binding[0].gain_together is not None
    assert result.binding[0].gain_together > 1.5
    assert any("streams" in bottleneck.id for bottleneck in result.next)
    stays = [finding for finding in result.findings if finding.code == "MIG-STAYS"]
    assert [finding.where for finding in stays] == [("train0",)]


def test_a_machine_that_needs_a_whole_gpu_leaves_as_soon_as_one_is_empty() -> None:
    design = cluster()
    freed = with_changes(design, vms={key: vm for key, vm in design.vms.items() if key != "lab1"})
    assert rows(ask(freed, "evacuation", **EVACUATE))["Training 0"]["to"] == "hosts[3]/server"


def test_ten_times_the_network_is_five_times_faster_and_streams_bind() -> None:
    slow, fast = (ask(with_speed(cluster(), rate), "evacuation", **EVACUATE) for rate in ("10 Gb/s", "100 Gb/s"))
    assert 4 < value(slow, "evacuation_time") / value(fast, "evacuation_time") < 7.7
    streams = [bottleneck for bottleneck in fast.binding if "streams" in bottleneck.id]
    assert {b.id for b in streams} == {"streams:hosts[0]/server:out", "streams:hosts[2]/server:in"}
    # two machines one after the other, each set up for 5 s; nothing else holds them back
    setup = next(bottleneck for bottleneck in fast.binding if bottleneck not in streams)
    time = value(fast, "evacuation_time")
    assert (setup.id, setup.gain_together) == ("set-up", pytest.approx(time / (time - 5)))
    assert value(fast, "stun_time") < value(slow, "stun_time") / 4


def test_release_nine_moves_most_of_the_frame_buffer_before_the_stun() -> None:
    old, new = (ask(cluster(), "evacuation", release=release, **EVACUATE) for release in ("8.0 U3", "9.0"))
    assert value(new, "stun_time") == pytest.approx(0.3 * 16e9 / (LINE_SHARE * 1.25e9) + 0.2, rel=0.02)
    assert value(new, "stun_time") < value(old, "stun_time") / 3
    assert value(new, "evacuation_time") == pytest.approx(value(old, "evacuation_time"), rel=0.02)


def test_the_release_of_the_hosts_counts_where_a_workload_says_nothing() -> None:
    design = cluster()
    group = design.groups["hosts"]
    server = with_changes(group.content.parts["server"], attributes={"release": "9.0"})
    content = with_changes(group.content, parts=replaced(group.content.parts, [server]))
    drawn = with_changes(design, groups=replaced(design.groups, [with_changes(group, content=content)]))
    asked = ask(cluster(), "evacuation", release="9.0", **EVACUATE)
    assert value(ask(drawn, "evacuation", **EVACUATE), "stun_time") == value(asked, "stun_time")


def test_many_connections_carry_eighty_gigabits_where_two_carried_seven() -> None:
    """8.0 U1 lets vGPU memory use all vMotion streams, up to 80 Gb/s on 100 GbE; before it had two connections."""
    wide = with_speed(cluster(), "100 Gb/s")
    move = {"vms": "lab0", "to": "hosts[3]/server"}
    two, many = (ask(wide, "vmotion", release=release, **move) for release in ("7.0", "8.0 U1"))
    streams = rows(many, "hosts")["hosts[1]/server"]
    assert streams["streams"] == 7
    assert many.metrics["rate"].value * 8 == pytest.approx(72.3e9, rel=0.01)
    assert rows(two, "hosts")["hosts[1]/server"]["streams"] == 1
    # 24 GB in use
    assert 24e9 * 8 / value(two, "stun_time") < 8e9
    assert 24e9 * 8 / many.metrics["stun_time"].low > 65e9
    two_ports = ask(with_speed(cluster(), "200 Gb/s"), "vmotion", release="8.0 U1", **move)
    # nothing faster was published
    assert two_ports.metrics["rate"].value * 8 == pytest.approx(80e9)


def test_several_adapters_per_nic_help_old_releases() -> None:
    wide = with_speed(cluster(), "40 Gb/s")
    one, three = (
        ask(wide, "vmotion", vms="web0", release="7.0", vmknics_per_nic=count).metrics["rate"].value * 8e-9
        for count in (1, 3)
    )
    # measured on 40 GbE: 18 and 36 Gb/s
    assert one == pytest.approx(18, rel=0.05)
    assert three == pytest.approx(36, rel=0.05)


def test_a_transfer_on_the_same_cable_is_hurt_and_hurts() -> None:
    design = cluster()
    flow = {"from": "hosts[0]/memory0", "to": "hosts[1]/memory0"}
    spec = {"id": "copy", "kind": "transfer", "settings": flow}
    # one network for all: the vMotion NICs are the only ones
    group = design.groups["hosts"]
    parts = {k: p for k, p in group.content.parts.items() if k not in ("nic0", "storage_nic0")}
    links = {k: x for k, x in group.content.links.items() if not {x.a, x.b} & {"nic0", "storage_nic0"}}
    content = with_changes(group.content, parts=parts, links=links)
    shared = with_changes(
        design,
        groups=replaced(design.groups, [with_changes(group, content=content)]),
        wirings={"vmotion_network": design.wirings["vmotion_network"]},
        workloads=replaced(design.workloads, [type(design.workloads["h2d"]).model_validate(spec)]),
    )
    move = {"vms": "web0", "to": "hosts[1]/server"}
    alone, beside = ask(shared, "vmotion", **move), ask(shared, "vmotion", background="copy", **move)
    assert value(beside, "rate") == pytest.approx(value(alone, "rate") / 2, rel=0.05)
    assert value(beside, "migration_time") > 1.8 * value(alone, "migration_time")
    stated = next(iter(rows(beside, "background").values()))
    assert stated["keeps"] == pytest.approx(0.5, abs=0.05)
    assert "MIG-BESIDE" in {finding.code for finding in beside.findings}
    apart = ask(cluster(), "vmotion", background="storage-to-gpus", **move)
    assert next(iter(rows(apart, "background").values()))["keeps"] == pytest.approx(1)


def test_a_collective_can_run_beside() -> None:
    result = ask(cluster(), "vmotion", vms="web0", background="all-reduce")
    assert next(iter(rows(result, "background").values()))["keeps"] <= 1 + 1e-9


def test_a_guest_that_writes_faster_than_the_link_is_slowed_on_vsphere_and_never_arrives_on_kvm() -> None:
    fast = {"vms": "web0", "dirty_rate": "8 GB/s"}
    big = with_changes(cluster().vms["web0"], working_set=None)
    design = with_vms(cluster(), big)
    slowed = ask(design, "vmotion", **fast)
    assert math.isfinite(value(slowed, "migration_time"))
    assert "MIG-DIRTY" in {finding.code for finding in slowed.findings}
    never = ask(design, "kvm_migration", **fast)
    assert [finding.code for finding in never.findings] == ["MIG-STAYS"]
    assert "dirties memory" in never.findings[0].text
    copied = ask(design, "kvm_migration", post_copy=True, **fast)
    assert rows(copied)["Front end"]["note"] == "finished by post-copy"


def test_zero_dirty_rate_sends_memory_once() -> None:
    result = ask(cluster(), "vmotion", vms="web0", dirty_rate="0 B/s")
    assert value(result, "transferred") == pytest.approx(64 * 2**30)


def test_channels_of_kvm_bind_until_there_are_enough() -> None:
    wide = with_speed(cluster(), "100 Gb/s")
    one, eight = (ask(wide, "kvm_migration", vms="web0", channels=count) for count in (1, 8))
    assert one.binding[0].id == "sender"
    assert value(one, "rate") == pytest.approx(1.25e9)
    assert value(eight, "rate") == pytest.approx(10e9)


def test_passthrough_and_labelled_devices() -> None:
    passed = VirtualMachine(
        id="pt",
        host="hosts[0]/server",
        memory="64 GiB",
        vcpus=8,
        memory_reservation="64 GiB",
        devices=(VmDevice(kind="passthrough", part="hosts[0]/gpu0"),),
    )
    labelled = with_changes(passed, id="dd", devices=(VmDevice(kind="dynamic_directpath", part="hosts[0]/gpu1"),))
    stated = rows(ask(with_vms(cluster(), passed, labelled, only=True), "evacuation", **EVACUATE))
    assert "DirectPath" in stated["pt"]["note"]
    assert stated["dd"]["how"] == "cold"
    assert stated["dd"]["to"] in {f"hosts[{n}]/server" for n in (1, 2, 3)}
    kept = rows(ask(with_vms(cluster(), passed, labelled, only=True), "evacuation", cold=False, **EVACUATE))
    assert kept["dd"]["how"] == "stays"


def test_a_stun_above_the_limit_keeps_the_machine() -> None:
    limited = with_changes(cluster().vms["infer0"], stun_limit="5 s")
    result = ask(with_vms(cluster(), limited), "evacuation", **EVACUATE)
    assert "limit of 5 s" in rows(result)["Inference 0"]["note"]
    assert rows(ask(with_vms(cluster(), limited), "evacuation", release="9.0", **EVACUATE))["Inference 0"]["to"]


def test_curves_are_there_under_their_names() -> None:
    result = ask(cluster(), "evacuation", curves=True, **EVACUATE)
    assert set(result.curves) == {"migration-curve", "evacuation-gantt", "evacuation-remaining", "stun-sweep"}
    for curve in result.curves["migration-curve"]:
        assert curve.y[-1] == 0
        assert list(curve.x) == sorted(curve.x)
    sweep = {curve.name: curve for curve in result.curves["stun-sweep"]}
    assert all(a >= b for a, b in zip(sweep["10 Gb/s"].y, sweep["100 Gb/s"].y, strict=True))


@pytest.mark.parametrize(
    ("kind", "settings", "text"),
    [
        ("vmotion", {"vms": "nobody"}, "no virtual machine 'nobody'"),
        ("vmotion", {"vms": ""}, "no virtual machine is named"),
        ("vmotion", {"vms": "web0", "to": "vmotion_switch"}, "is no host"),
        ("vmotion", {"vms": "web0", "dirty_rate": "5"}, "no unit"),
        ("vmotion", {"vms": "web0", "dirty_rate": "-5 B/s"}, "negative"),
        ("vmotion", {"vms": "web0", "background": "evacuate"}, "no steady traffic"),
        ("vmotion", {"vms": "web0", "background": "nothing"}, "no workload 'nothing'"),
        ("vmotion", {"vms": "web0", "release": "5.5"}, "is not one of"),
        ("vmotion", {"vms": "web0", "mtu": 0}, "mtu"),
        ("vmotion", {"vms": "web0", "vmknics_per_nic": 0}, "vmknics_per_nic"),
        ("kvm_migration", {"vms": "web0", "channels": 0}, "channels"),
        ("kvm_migration", {"vms": "web0", "downtime_limit": "0 s"}, "downtime_limit"),
        ("evacuation", {"hosts": ""}, "no host is named"),
        ("evacuation", {"hosts": "vmotion_switch"}, "is no host"),
        ("pooling", {"owners": 0}, "cannot be owned"),
        ("pooling", {"owners": 2, "job_time": "0 s"}, "job_time"),
        ("vm_capacity", {"vm": "nobody"}, "no virtual machine"),
    ],
)
def test_bad_settings_are_clear_errors(kind: str, settings: dict[str, object], text: str) -> None:
    with pytest.raises(AnalysisError) as caught:
        ask(cluster(), kind, **settings)
    assert text in str(caught.value)
    assert caught.value.remedy


def test_moving_to_its_own_host_leaves_it_there() -> None:
    result = ask(cluster(), "vmotion", vms="web0", to="hosts[0]/server")
    assert rows(result)["Front end"]["how"] == "stays"
    # asked for by name, so what was asked for does not happen
    assert result.findings[0].severity is Severity.ERROR
    assert "migration_time" not in result.metrics
    assert value(result, "machines_staying") == 1


def test_hosts_without_a_network_say_so() -> None:
    design = plain_cluster(2, 1)
    with pytest.raises(AnalysisError, match="no NIC that is cabled"):
        ask(with_changes(design, wirings={}), "vmotion", vms="vm0-0")


@given(
    rate=st.sampled_from([1, 10, 25, 40, 100]),
    dirty=st.integers(0, 4000),
    count=st.integers(1, 6),
    encrypted=st.booleans(),
)
@example(40, 699, 5, False)  # what the first one to arrive leaves spares the others the slowing down: they send more
def test_no_host_is_emptied_faster_than_its_line_allows(rate: int, dirty: int, count: int, encrypted: bool) -> None:
    design = plain_cluster(3, count, f"{rate} Gb/s")
    vms = [with_changes(vm, dirty_rate=f"{dirty} MB/s") for vm in design.vms.values()]
    result = ask(with_vms(design, *vms), "evacuation", hosts="hosts[0]/server", encrypted=encrypted)
    stated = [row for row in rows(result).values() if row["how"] != "stays"]
    assert len(stated) == count
    memory = sum((96 + 4 * v) * 2**30 for v in range(count))
    assert value(result, "transferred") >= memory * (1 - 1e-9)
    assert value(result, "evacuation_time") >= value(result, "transferred") / (rate * 0.125e9)
    assert value(result, "rate") <= rate * 0.125e9 * LINE_SHARE * (1 + 1e-9)
    for row in stated:
        assert row["transferred"] <= row["rate"] * row["time"] * 1.03, "no machine sends more than it has time for"
    for name, metric in result.metrics.items():
        assert metric.low <= metric.value <= metric.high, name


def test_a_faster_network_never_stuns_longer() -> None:
    speeds = ["10 Gb/s", "25 Gb/s", "40 Gb/s", "100 Gb/s"]
    found = [value(ask(with_speed(cluster(), s), "evacuation", **EVACUATE), "stun_time") for s in speeds]
    assert found == sorted(found, reverse=True)


def test_the_release_before_streams_is_offered_and_stuns_longer() -> None:
    """P40, 8 GB frame buffer, 10 GbE, 6.7 U1: 61.3 s published; 7.0 is several times faster."""
    one = {"devices": [{"kind": "vgpu", "profile": "grid_p40-8q"}]}
    changes = {
        "parts": {"hosts/gpu*": {"type": "gpu/nvidia/p40"}},
        "vms": {"*": {"devices": [], "release": "7.0"}, "infer0": one},
    }
    design = apply_changes(cluster(), changes, "case")
    old, new = (
        value(ask(design, "vmotion", vms="infer0", release=release), "stun_time") for release in ("6.7 U1", "7.0")
    )
    assert old == pytest.approx(61.3, rel=0.02)
    assert old > 2 * new

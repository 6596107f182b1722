"""vMotion over networks nobody measured: NIC counts and speeds, releases, distance, encryption; what binds and why."""

from __future__ import annotations

from itertools import pairwise

import pytest

from designer.design.document import Design, VirtualMachine, VmDevice, replaced, with_changes
from designer.findings import Severity
from tests.unit.families.machines.machines import ask, cluster, plain_cluster, rows, value, with_vms

MOVE = {"vms": "lab0", "to": "hosts[3]/server"}
LINE = 0.94


def with_nics(count: int, speed: str, design: Design | None = None) -> Design:
    """The shipped cluster with so many vMotion NICs per host, each its own cable to the vMotion switch."""
    design = design or cluster()
    group = design.groups["hosts"]
    content = group.content
    first = content.parts["vmotion_nic0"]
    nics = [with_changes(first, id=f"vmotion_nic{n}") for n in range(count)]
    slot = next(link for link in content.links.values() if "vmotion_nic0" in (link.a, link.b))
    slots = [
        with_changes(
            slot,
            id=f"{slot.id}-{n}",
            a=f"vmotion_nic{n}" if slot.a == "vmotion_nic0" else slot.a,
            b=f"vmotion_nic{n}" if slot.b == "vmotion_nic0" else slot.b,
        )
        for n in range(1, count)
    ]
    content = with_changes(content, parts=replaced(content.parts, nics), links=replaced(content.links, slots))
    wiring = with_changes(design.wirings["vmotion_network"], a="hosts[*]/vmotion_nic*", bandwidth_per_direction=speed)
    return with_changes(
        design,
        groups=replaced(design.groups, [with_changes(group, content=content)]),
        wirings=replaced(design.wirings, [wiring]),
    )


@pytest.mark.parametrize(
    ("count", "speed", "streams", "gigabits", "bottleneck"),
    [
        (1, "10 Gb/s", 1, 10 * LINE, "line rate"),
        (2, "10 Gb/s", 2, 20 * LINE, "line rate"),
        (1, "25 Gb/s", 2, 25 * LINE, "line rate"),
        (2, "25 Gb/s", 4, 28 / 3 + 4 * 9, "streams"),
        (1, "40 Gb/s", 3, 28 / 3 + 3 * 9, "streams"),
        (1, "100 Gb/s", 7, 28 / 3 + 7 * 9, "streams"),
        # 135 Gb/s by the streams: nothing faster than 80 was published
        (2, "100 Gb/s", 14, 80, "the fastest vMotion"),
    ],
)
def test_bandwidth_follows_from_nics_and_streams(
    count: int, speed: str, streams: int, gigabits: float, bottleneck: str
) -> None:
    result = ask(with_nics(count, speed), "vmotion", release="8.0 U3", **MOVE)
    stated = rows(result, "hosts")["hosts[1]/server"]
    assert stated["streams"] == streams
    assert bottleneck in stated["limited by"]
    assert value(result, "rate") * 8e-9 == pytest.approx(min(gigabits, count * 100 * LINE), rel=0.02)
    # 24 GB in use on an Ampere board, no faster than the streams carry it
    assert value(result, "stun_time") == pytest.approx(
        0.6 + 24e9 * 8 / min(gigabits * 1e9 * (0.9 if bottleneck == "streams" else 1.0), 1e15), rel=0.05
    )


def test_wider_networks_are_never_slower() -> None:
    order = [(1, "1 Gb/s"), (1, "10 Gb/s"), (2, "10 Gb/s"), (2, "25 Gb/s"), (1, "100 Gb/s"), (2, "100 Gb/s")]
    moving = {"vms": "web0", "to": "hosts[3]/server"}
    times = [value(ask(with_nics(*each), "vmotion", **moving), "migration_time") for each in order]
    assert all(later < earlier for earlier, later in pairwise(times))


def test_two_connections_of_old_releases_do_not_use_a_wide_network() -> None:
    stuns = {
        release: value(ask(with_nics(1, "100 Gb/s"), "vmotion", release=release, **MOVE), "stun_time")
        for release in ("7.0", "7.0 U3", "8.0", "8.0 U1", "8.0 U3", "9.0")
    }
    assert stuns["7.0"] == stuns["7.0 U3"] == stuns["8.0"] > 25
    assert stuns["8.0"] > 5 * stuns["8.0 U1"]
    assert stuns["8.0 U1"] == stuns["8.0 U3"] > 2 * stuns["9.0"]


def test_concurrency_by_nic_speed_and_operation() -> None:
    stated = {
        speed: rows(ask(plain_cluster(3, 9, speed), "evacuation", hosts="hosts[0]/server"), "hosts")["hosts[0]/server"]
        for speed in ("500 Mb/s", "1 Gb/s", "10 Gb/s", "100 Gb/s")
    }
    # half a gigabit is the payload of one migration at 250 Mb/s
    assert [row["at once"] for row in stated.values()] == [1, 3, 8, 8]
    assert stated["100 Gb/s"]["because of"] == "vMotion network"


def test_distance() -> None:
    near, far, too_far = (
        ask(with_nics(1, "100 Gb/s"), "vmotion", vms="web0", round_trip=migration)
        for migration in ("0 s", "100 ms", "200 ms")
    )
    assert value(near, "migration_time") < value(far, "migration_time") < value(too_far, "migration_time")
    assert "sender" in {bottleneck.id for bottleneck in far.binding}
    assert "MIG-DISTANCE" not in {f.code for f in far.findings}
    found = [f for f in too_far.findings if f.code == "MIG-DISTANCE"]
    assert found[0].severity is Severity.ERROR
    assert "150 ms" in found[0].text


def test_encryption_costs_cores_not_time() -> None:
    plain, encrypted = (ask(with_nics(1, "100 Gb/s"), "vmotion", vms="web0", encrypted=e) for e in (False, True))
    assert value(plain, "migration_time") == value(encrypted, "migration_time")
    cores = [next(iter(rows(r, "hosts").values()))["cores sending"] for r in (plain, encrypted)]
    assert cores[1] / cores[0] == pytest.approx(1.66 / 0.64)


def test_a_narrow_host_bus_binds_before_the_network() -> None:
    design = with_nics(1, "100 Gb/s")
    group = design.groups["hosts"]
    slot = next(k for k, x in group.content.links.items() if "vmotion_nic0" in (x.a, x.b))
    narrow = with_changes(group.content.links[slot], generation=3, lanes=2)
    content = with_changes(group.content, links=replaced(group.content.links, [narrow]))
    drawn = with_changes(design, groups=replaced(design.groups, [with_changes(group, content=content)]))
    result = ask(drawn, "vmotion", vms="web0", to="hosts[3]/server")
    assert value(result, "rate") < 2e9
    assert all("vmotion_nic0" in bottleneck.id for bottleneck in result.binding)


@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_frame_buffers_of_several_gpus_add_up(count: int) -> None:
    devices = tuple(VmDevice(kind="vgpu", profile="4C", memory_used="4 GB") for _ in range(count))
    many = VirtualMachine(id="many", host="hosts[0]/server", vcpus=4, memory="64 GiB", devices=devices)
    result = ask(with_vms(cluster(), many, only=True), "vmotion", vms="many", to="hosts[1]/server")
    assert value(result, "stun_time") == pytest.approx(0.6 + count * 4e9 / (LINE * 1.25e9), rel=0.02)


def test_drs_makes_more_moves_over_a_faster_network() -> None:
    slow, fast = (ask(with_nics(1, speed), "vmotion", vms="web0,etl0") for speed in ("1 Gb/s", "100 Gb/s"))
    stated = [rows(r, "drs") for r in (slow, fast)]
    assert stated[0]["3"]["moves per period"] < stated[1]["3"]["moves per period"]
    assert stated[0]["1"]["moves per period"] is None
    assert "mandatory" in stated[0]["1"]["note"]
    with_gpu = rows(ask(cluster(), "vmotion", **MOVE), "drs")
    assert all("never moved for balance" in row["note"] for row in with_gpu.values())


def test_what_binds_is_a_set_whose_doubling_gains() -> None:
    """Two targets share the time of one source: neither the source nor one target alone would gain."""
    freed = with_changes(cluster(), vms={key: vm for key, vm in cluster().vms.items() if key != "lab1"})
    result = ask(freed, "evacuation", hosts="hosts[0]/server")
    assert len({row["to"] for row in rows(result).values()}) == 2
    assert {bottleneck.id.split(":")[0] for bottleneck in result.binding} >= {
        "vmotion_network[0]",
        "vmotion_network[3]",
    }
    assert result.binding[0].gain_together is not None
    assert result.binding[0].gain_together > 1.3


def test_two_cables_carry_no_more_than_the_port_they_leave_by() -> None:
    """Two cables of 10 Gb/s on a NIC of 10 Gb/s: 96 GiB over 94 % of 10 Gb/s, and 5.2 s in addition."""
    design = plain_cluster(2, 1, "10 Gb/s")
    group, wiring = design.groups["hosts"], design.wirings["vmotion_network"]
    nic = with_changes(group.content.parts["nic0"], overrides={"bandwidth_per_direction": {"value": "10 Gb/s"}})
    content = with_changes(group.content, parts=replaced(group.content.parts, [nic]))
    design = with_changes(
        design,
        groups=replaced(design.groups, [with_changes(group, content=content)]),
        wirings=replaced(design.wirings, [with_changes(wiring, id="second")]),
    )
    found = ask(design, "vmotion", vms="vm0-0", dirty_rate="0 B/s")
    assert value(found, "migration_time") == pytest.approx(5.2 + 96 * 2**30 / (LINE * 1.25e9))
    assert {bottleneck.id for bottleneck in found.binding} == {"nic:hosts[0]/server:out", "nic:hosts[1]/server:in"}


def test_a_bundle_of_cables_carries_what_all_of_them_do() -> None:
    """Two cables of 10 Gb/s: two streams, which carry (28/3 + 2 · 9) Gb/s, more than 94 % of 20."""
    design = plain_cluster(2, 1)
    bundle = with_changes(design.wirings["vmotion_network"], count=2, bandwidth_per_direction="10 Gb/s")
    design = with_changes(design, wirings=replaced(design.wirings, [bundle]))
    found = ask(design, "vmotion", vms="vm0-0", dirty_rate="0 B/s")
    assert value(found, "rate") == pytest.approx(LINE * 2.5e9)
    assert {b.id for b in found.binding} == {"vmotion_network[0]:ab", "vmotion_network[1]:ba"}

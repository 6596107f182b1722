"""Hosts emptied on the clock: by hand, and rules that every order of moves keeps."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.design.document import Design, VirtualMachine
from designer.engine.account.worth import share_of, worth_of
from tests.unit.families.machines.machines import ask, cluster, plain_cluster, rows, value, with_vms

LINE = 0.94 * 25e9 / 8
GIB = 2**30


def filled(sizes: list[tuple[int, int]], dirty: int = 0, hosts: int = 3) -> Design:
    """Hosts with machines of so many GiB, each with the number of its host."""
    design = plain_cluster(hosts, 1)
    vms = [
        VirtualMachine(
            id=f"vm{at}", host=f"hosts[{host}]/server", vcpus=2, memory=f"{size} GiB", dirty_rate=f"{dirty} MB/s"
        )
        for at, (host, size) in enumerate(sizes)
    ]
    return with_vms(design, *vms, only=True)


def test_machines_that_move_together_fill_the_line() -> None:
    """Four of 32 GiB out of one host: set up together for 5 s, 128 GiB over the line, and the last resumes in 0.2 s."""
    found = ask(filled([(0, 32)] * 4), "evacuation", hosts="hosts[0]/server")
    assert value(found, "evacuation_time") == pytest.approx(5.2 + 128 * GIB / LINE)
    # all come to an end together, and each sent a quarter
    assert {row["start"] for row in rows(found).values()} == {0}
    assert value(found, "rate") == pytest.approx(LINE)


def test_the_band_is_that_of_the_rate_and_of_the_waits() -> None:
    """Four of 32 GiB: 46.8 s on the line, then 5.2 s of waits.

    The line gives 0.90 to 1 / 0.94 of what is planned, waits take 2 / 5 to 8 / 5 as long; both are off independently.
    Without half of the set-up of 5 s it takes 2.5 s less.
    """
    found = ask(filled([(0, 32)] * 4), "evacuation", hosts="hosts[0]/server")
    time, sending = found.metrics["evacuation_time"], 128 * GIB / LINE
    assert time.low == pytest.approx(time.value - math.hypot(sending * (1 - 0.94), 5.2 * 3 / 5))
    assert time.high == pytest.approx(time.value + math.hypot(sending * (1 / 0.9 - 1), 5.2 * 3 / 5))
    gains = {one.id: one.gain_together for one in (*found.binding, *found.next)}
    assert gains["set-up"] == pytest.approx(time.value / (time.value - 2.5))


def test_one_at_a_time_goes_by_size() -> None:
    """3, 5, 2 and 4 GiB one after the other: each 5.2 s and its own bytes, the largest first."""
    found = ask(filled([(0, size) for size in (3, 5, 2, 4)]), "evacuation", hosts="hosts[0]/server", at_once=1)
    assert value(found, "evacuation_time") == pytest.approx(4 * 5.2 + 14 * GIB / LINE)
    # nothing takes less: slots of one machine at a time
    assert value(found, "least_time_possible") == pytest.approx(value(found, "evacuation_time"))
    assert found.metrics["evacuation_time"].note.endswith("machines, the least possible to the hosts chosen")
    order = sorted(rows(found).values(), key=lambda row: row["start"])
    assert [round(row["transferred"] / GIB) for row in order] == [5, 4, 3, 2]


def test_two_at_a_time_share_the_line_while_both_send() -> None:
    """Two of 10 GiB and one of 30: 30 and 10 start; the 10 is over after 5 + 20 GiB, when the 30 has 20 GiB left.

    The first 10 resumes, the second is set up: 5.2 s in which the 30 has the line alone. Its last 2.1 s of the line it
    shares, so they take 4.2 s; what is left of the second 10 has the line to itself.
    """
    found = ask(filled([(0, 30), (0, 10), (0, 10)]), "evacuation", hosts="hosts[0]/server", at_once=2)
    send = GIB / LINE
    left = 20 * send - 5.2
    assert 0 < left < 10 * send
    end = 5 + 20 * send + 5.2 + 2 * left + (10 * send - left) + 0.2
    assert value(found, "evacuation_time") == pytest.approx(end)


def test_how_far_above_the_least_possible_time() -> None:
    """Three of 40 GiB at two a time: the last is set up while the others have gone, which the bound does not see."""
    found = ask(filled([(0, 40)] * 3, 100), "evacuation", hosts="hosts[0]/server", at_once=2)
    gap = value(found, "evacuation_time") / value(found, "least_time_possible") - 1
    assert 0.1 < gap < 0.2
    assert f"{gap:.0%} above the least possible" in found.metrics["evacuation_time"].note


def test_what_a_pass_leaves_is_sent_again() -> None:
    """A machine of 64 GiB that writes a tenth of the line: passes of 1, 0.1, 0.01 … until the rest fits 0.5 s."""
    dirty = LINE / 10
    design = with_vms(
        plain_cluster(2, 1),
        VirtualMachine(id="one", host="hosts[0]/server", vcpus=2, memory="64 GiB", dirty_rate=f"{dirty} B/s"),
        only=True,
    )
    found = ask(design, "evacuation", hosts="hosts[0]/server")
    passes, sent = 64 * GIB, 0.0
    while passes > 0.5 * LINE:
        sent, passes = sent + passes, passes / 10
    assert value(found, "evacuation_time") == pytest.approx(5.2 + (sent + passes) / LINE)


def test_an_evacuation_is_weighed_by_its_time() -> None:
    """The rate at which machines move says nothing of machines that wait to be admitted."""
    found = ask(filled([(0, 32)] * 4), "evacuation", hosts="hosts[0]/server")
    slower = ask(filled([(0, 32)] * 4), "evacuation", hosts="hosts[0]/server", at_once=1)
    assert worth_of(found) == "evacuation_time"
    # one after the other each waits 5.2 s of its own
    assert share_of(found, slower) == pytest.approx(value(found, "evacuation_time") / (4 * 5.2 + 128 * GIB / LINE))


def test_machines_with_gpus_are_alone_on_both_hosts() -> None:
    found = rows(ask(cluster(), "evacuation", hosts="hosts[0]/server"))
    moved = [row for row in found.values() if row["to"]]
    for row in moved:
        if row["how"] == "alone":
            others = [one for one in moved if one is not row and {one["from"], one["to"]} & {row["from"], row["to"]}]
            assert all(one["end"] <= row["start"] or one["start"] >= row["end"] for one in others)
    assert any(row["how"] == "alone" for row in moved)


machines = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 64)), min_size=1, max_size=10)


@settings(max_examples=25)
@given(machines, st.integers(1, 4), st.sampled_from([0, 100, 400]))
def test_every_order_keeps_the_rules(sizes: list[tuple[int, int]], at_once: int, dirty: int) -> None:
    design = filled(sizes, dirty, hosts=4)
    found = ask(design, "evacuation", curves=True, hosts="hosts[0-1]/server", at_once=at_once)
    stated = list(rows(found).values())
    assert len(stated) == len(sizes)
    time = found.metrics["evacuation_time"]
    assert time.low <= time.value <= time.high
    assert time.value == pytest.approx(max(row["end"] for row in stated))
    if "least_time_possible" in found.metrics:
        assert 0 < value(found, "least_time_possible") <= time.value * (1 + 1e-9)
    for host in ("hosts[0]/server", "hosts[1]/server"):
        # no host sends faster than its line
        sent = sum(row["transferred"] for row in stated if row["from"] == host)
        assert time.value >= sent / LINE * (1 - 1e-9)
    for row in stated:
        for host in (row["from"], row["to"]):
            there = [one for one in stated if host in (one["from"], one["to"])]
            assert sum(one["start"] <= row["start"] < one["end"] * (1 - 1e-9) for one in there) <= at_once
    if len(sizes) > 1:
        (left,) = found.curves["evacuation-remaining"]
        assert left.y[-1] == pytest.approx(0, abs=1)
        assert all(earlier >= later - 1 for earlier, later in zip(left.y, left.y[1:], strict=False))


def test_one_target_holds_back_as_its_source_does_and_two_do_not() -> None:
    design = filled([(0, 32)] * 4, hosts=3)
    one = ask(design, "evacuation", hosts="hosts[0]/server", to="hosts[1]/server")
    two = ask(design, "evacuation", hosts="hosts[0]/server")
    assert value(one, "evacuation_time") == pytest.approx(value(two, "evacuation_time"))
    assert {b.id.split(":")[0] for b in one.binding} == {"vmotion_network[0]", "vmotion_network[1]"}
    assert {b.id for b in two.binding} == {"vmotion_network[0]:ab"}


def test_hosts_emptied_next_to_each_other_are_held_back_by_all_their_cables() -> None:
    """Two hosts, each with two of 32 GiB and a target of its own. One host's faster cables leave the other as it is.

    Twice as fast, all cables carry what two streams do: (28/3 + 2 · 9) Gb/s in place of 94 % of 25.
    """
    found = ask(filled([(0, 32), (0, 32), (1, 32), (1, 32)], hosts=4), "evacuation", hosts="hosts[0-1]/server")
    time = 5.2 + 64 * GIB / LINE
    assert value(found, "evacuation_time") == pytest.approx(time)
    faster = 5.2 + 64 * GIB / ((28 / 3 + 18) * 1e9 / 8)
    cables = {bottleneck.id: bottleneck for bottleneck in found.binding if bottleneck.what == "channel"}
    assert set(cables) == {f"vmotion_network[{host}]:{'ab' if host < 2 else 'ba'}" for host in range(4)}
    for bottleneck in cables.values():
        assert bottleneck.gain_if_doubled == pytest.approx(1.0)
        assert bottleneck.gain_together == pytest.approx(time / faster)


def test_disks_count_in_the_least_possible_time() -> None:
    """Four of 8 GiB with 50 GB of disks, all bytes over the line of the source: 5.2 s, then 234.4 GB at 2.94 GB/s."""
    found = ask(filled([(0, 8)] * 4), "evacuation", hosts="hosts[0]/server", disks="50 GB")
    least = 5.2 + (4 * 50e9 + 32 * GIB) / LINE
    assert value(found, "least_time_possible") == pytest.approx(least)
    assert least == pytest.approx(85.0, abs=0.1)
    assert value(found, "evacuation_time") < 1.1 * least


@pytest.mark.parametrize(("rate", "at_once"), [("1 Gb/s", 4), ("500 Mb/s", 2), ("10 Gb/s", 8)])
def test_as_many_at_once_as_the_line_speed_allows(rate: str, at_once: int) -> None:
    """1 GbE: the documented 4, 250 Mb/s of the line each. Below it two, from 10 GbE on eight."""
    design = with_vms(plain_cluster(2, 1, rate), *(filled([(0, 1)] * 9).vms[f"vm{at}"] for at in range(9)), only=True)
    found = ask(design, "evacuation", hosts="hosts[0]/server", to="hosts[1]/server")
    assert rows(found, "hosts")["hosts[0]/server"]["at once"] == at_once
    assert sum(row["start"] == 0 for row in rows(found).values()) == at_once


def test_machines_of_which_the_same_is_said_are_one_finding() -> None:
    found = ask(filled([(0, 4)] * 3, 3000), "evacuation", hosts="hosts[0]/server")
    said = [finding for finding in found.findings if finding.code == "MIG-DIRTY"]
    assert [(len(one.where), one.text.partition(":")[0]) for one in said] == [(3, "vm0 and 2 more")]


def test_settings_that_change_nothing_are_named() -> None:
    design = filled([(0, 4)] * 2)
    unused = {
        release: {f.text.split()[0] for f in ask(design, "evacuation", hosts="hosts[0]/server", **more).findings}
        for release, more in {
            "8.0 U3": {"release": "8.0 U3", "vmknics_per_nic": 2},
            "7.0": {"release": "7.0", "vmknics_per_nic": 2},
            "kvm": {"release": "kvm", "vmknics_per_nic": 2, "disks": "1 GB"},
        }.items()
    }
    assert "vmknics_per_nic" in unused["8.0 U3"]
    assert "vmknics_per_nic" not in unused["7.0"]
    assert {"vmknics_per_nic", "disks"} <= unused["kvm"]


def test_encryption_of_kvm_guests_is_tls() -> None:
    """One thread encrypts 300 MB/s, less than the 556 MB/s that it sends."""
    design = filled([(0, 4)] * 2)
    plain, tls = (
        rows(ask(design, "evacuation", hosts="hosts[0]/server", release="kvm", encrypted=on), "hosts")[
            "hosts[0]/server"
        ]
        for on in (False, True)
    )
    assert (plain["connections"], tls["connections"]) == (1, 1)
    assert tls["carry"] < plain["carry"] < LINE


def test_the_pause_may_be_anything_up_to_the_goal() -> None:
    """What the last pass leaves is nothing to 500 ms of the line; the resume takes 100 to 300 ms."""
    found = ask(filled([(0, 64)], 300), "evacuation", hosts="hosts[0]/server").metrics["switchover_time"]
    assert (found.low, found.high) == (pytest.approx(0.1), pytest.approx(0.8))


def test_a_wide_band_does_not_begin_at_zero() -> None:
    """Rate, share that is filled and writes are each off by factors: multiplied, they leave some of the time."""
    found = ask(filled([(0, 64)] * 4), "evacuation", hosts="hosts[0]/server", release="kvm")
    time = found.metrics["evacuation_time"]
    assert 0 < time.low < 0.1 * time.value

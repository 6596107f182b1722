"""What runs inside virtual machines: its share of the host and its networks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis.simulation import simulate
from designer.design.document import Design, VirtualMachine, VmDevice, WorkloadSpec, replaced, with_changes
from designer.engine.machines.guest import Work
from designer.engine.machines.guests import guest_of
from designer.engine.machines.placement import place_vms
from designer.engine.network import build_network
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.families.training.preparation import prepare
from designer.findings import Severity
from designer.interchange.templates import open_design
from designer.workload.job_settings import job
from designer.workload.kind import read_settings, workload_kinds
from tests.unit.families.machines.machines import ask, cluster, plain_cluster, rows, value, with_vms

# Workloads inside machines: what they have of a GPU, against cases worked by hand.

GPU = "hosts[0]/gpu0"


RESNET = {"model": "resnet-50", "precision": "fp16", "software": "fused", "micro_batch": 32, "group": GPU}


def machine(name: str, profile: str, *, mig: bool = False, duty: str | None = None, part: str = GPU) -> VirtualMachine:
    """A machine with a virtual GPU on a GPU."""
    device = {"kind": "mig_vgpu" if mig else "vgpu", "part": part, "profile": profile}
    return VirtualMachine.model_validate(
        {
            "id": name,
            "host": "hosts[0]/server",
            "vcpus": 8,
            "memory": "64 GiB",
            "memory_reservation": "64 GiB",
            "devices": [device],
            "gpu_duty": duty,
        }
    )


def sharing(*machines: VirtualMachine) -> Design:
    """The cluster with these machines alone."""
    return with_vms(cluster(), *machines, only=True)


def planned(design: Design, **settings: Any) -> Any:
    read = read_settings(workload_kinds()["training"], {**RESNET, **settings}, "w")
    return prepare(build_network(design), job(read), "w")


def test_a_slice_has_its_slices_of_everything() -> None:
    """3-40C of an A100 with 80 GB: 3 of 7 compute slices, 4 of 8 memory slices, 40,192 MiB; 0.97 of bare metal.

    312 Tflop/s x 3/7 x 0.97 = 129.7 Tflop/s; 1,935 GB/s x 1/2 x 0.97 = 938.5 GB/s. Seven slices of an A100 have 98 of
    its 108 multiprocessors, so the low end of the compute share is 3/7 x 98/108 = 0.389.
    """
    design = sharing(machine("a", "3-40C", mig=True))
    plan = planned(design)
    assert plan.accelerator.flops["bf16"] == pytest.approx(312e12 * 3 / 7 * 0.97)
    assert plan.accelerator.memory_bandwidth == pytest.approx(1935e9 / 2 * 0.97)
    assert plan.accelerator.memory_capacity == pytest.approx(40192 * 2**20)
    answer = ask(design, "training", **RESNET)
    assert value(answer, "compute_share") == pytest.approx(3 / 7)
    assert answer.metrics["compute_share"].low == pytest.approx(3 / 7 * 98 / 108)
    assert value(answer, "bandwidth_share") == 0.5
    factor = answer.metrics["virtualization_factor"]
    assert (factor.low, factor.value, factor.high) == (0.94, 0.97, 1.0)
    whole = value(ask(sharing(), "training", **RESNET), "compute_time")
    # whatever binds a kernel has between 3/7 and 1/2 of the GPU; launches take as long as ever
    assert whole < value(answer, "compute_time") < whole * 7 / 3 / 0.97


def test_a_turn_shrinks_as_the_neighbours_are_busy() -> None:
    """One neighbour busy for 0.4 of the time: 1 / 1.4 of the GPU, and of a slice of 2 ms 50 µs go to changing over.

    1 / 1.4 x 2 / 2.05 = 0.6969. Where the neighbour keeps its pace 0.6 is left, at 200 µs: 0.6 x 2 / 2.2 = 0.5455.
    """
    design = sharing(machine("a", "20C"), machine("b", "20C", duty="0.4"))
    share = ask(design, "training", **RESNET, machines="a").metrics["compute_share"]
    assert share.value == pytest.approx(1 / 1.4 * 2 / 2.05)
    assert share.low == pytest.approx(0.6 * 2 / 2.2)
    unknown = sharing(machine("a", "20C"), machine("b", "20C"))
    share = ask(unknown, "training", **RESNET, machines="a").metrics["compute_share"]
    assert share.value == pytest.approx(1 / 2 * 2 / 2.05)
    assert share.high == pytest.approx(2 / 2.02)


def test_two_that_take_turns_run_half_as_fast_together_and_two_slices_do_not_meet() -> None:
    """Both compute all the time: each has every other turn, so a step takes twice as long as alone."""

    def together(design: Design) -> tuple[float, float]:
        specs = [WorkloadSpec(id=i, kind="training", settings={**RESNET, "machines": i}) for i in ("a", "b")]
        design = with_changes(design, workloads=replaced(design.workloads, specs))
        found = simulate(design, ["a", "b"], until=1.0, bands=False)
        return found.slow_down["a"], found.slow_down["b"]

    assert together(sharing(machine("a", "40C"), machine("b", "40C"))) == pytest.approx((2.0, 2.0), rel=1e-3)
    mig = sharing(machine("a", "3-40C", mig=True), machine("b", "3-40C", mig=True))
    assert together(mig) == pytest.approx((1.0, 1.0), rel=1e-9)


def test_alone_the_clock_agrees_with_the_estimate() -> None:
    spec = WorkloadSpec(id="w", kind="training", settings={**RESNET, "machines": "a"})
    design = sharing(machine("a", "40C"), machine("b", "40C", duty="0.3"))
    changed = with_changes(design, workloads=replaced(design.workloads, [spec]))
    found = simulate(changed, ["w"], until=1.0, bands=False)
    estimate = value(ask(design, "training", **RESNET, machines="a"), "step_time")
    assert found.metrics["w"]["step_time"].value == pytest.approx(estimate, rel=1e-6)


def test_a_copy_has_its_share_of_the_memory_of_the_gpu() -> None:
    """A GPU whose memory gives 80 GB/s; 2 of 8 memory slices are 20 GB/s, less than PCIe 4 x16 gives."""
    design = sharing(machine("a", "2-20C", mig=True))
    group = design.groups["hosts"]
    gpu = next(p for p in group.content.parts.values() if p.id == "gpu0")
    slow = with_changes(gpu, overrides={**gpu.overrides, "memory_bandwidth": {"value": "80 GB/s"}})
    content = with_changes(group.content, parts=replaced(group.content.parts, [slow]))
    design = Design.model_validate(
        with_changes(design, groups=replaced(design.groups, [with_changes(group, content=content)])).model_dump()
    )
    asked = {"from": "hosts[0]/memory*", "to": GPU}
    whole, part = ask(with_vms(design, only=True), "transfer", **asked), ask(design, "transfer", **asked)
    assert value(part, "rate") == pytest.approx(20e9)
    assert value(whole, "rate") > value(part, "rate")
    assert value(part, "bandwidth_share") == 0.25
    assert [b.id for b in part.binding] == [f"share:{GPU}"]


def test_what_is_not_clear_is_said_and_what_is_wrong_is_refused() -> None:
    design = sharing(machine("a", "40C"), machine("b", "40C"))
    answer = ask(design, "training", **RESNET)
    assert "compute_share" not in answer.metrics
    assert [f.severity for f in answer.findings if f.code == "VM-WHICH"] == [Severity.WARNING]
    with pytest.raises(AnalysisError, match="no machine 'c'") as refused:
        ask(design, "training", **RESNET, machines="c")
    assert refused.value.place == "workloads.asked.machines"
    with pytest.raises(AnalysisError, match="is not given to a"):
        ask(design, "training", **{**RESNET, "group": "hosts[0]/gpu1"}, machines="a")
    with pytest.raises(AnalysisError, match="shared by a, b"):
        ask(design, "training", **RESNET, machines="a, b")


def test_a_model_that_does_not_fit_the_profile_is_told() -> None:
    asked = {"model": "llama-2-7b", "group": GPU, "adapters": True, "sequence": 2048}
    whole = ask(sharing(machine("a", "80C")), "training", **asked)
    part = ask(sharing(machine("a", "1-10C", mig=True)), "training", **asked)
    assert "TRAIN-MEMORY" not in {f.code for f in whole.findings}
    assert "TRAIN-MEMORY" in {f.code for f in part.findings}


def test_serving_in_a_machine_has_its_share() -> None:
    """Half the memory bandwidth at 0.97 of bare metal: a step that reads all weights takes about 2.06 times as long."""
    asked = {"model": "llama-3-8b", "group": GPU, "load": "clients", "clients": 2, "tensor": 1}
    whole = ask(sharing(), "serving", **asked)
    part = ask(sharing(machine("a", "3-40C", mig=True)), "serving", **asked)
    assert value(part, "bandwidth_share") == 0.5
    assert 1.7 < value(part, "tpot") / value(whole, "tpot") < 2.2
    assert value(part, "kv_capacity") < value(whole, "kv_capacity") / 2


def test_processors_of_a_machine_are_its_virtual_ones() -> None:
    """8 virtual CPUs of the cores of its socket; a language model on them answers at 0.90 of bare metal."""
    network = build_network(sharing(machine("a", "40C")))
    host = network.net.path(int(resolve(network, "cpus", "w")[0]))
    guest, _ = guest_of(network, resolve(network, host, "w"), "a", Work.SERVING, "w")
    assert guest is not None
    assert guest.factor.value == 0.90
    assert 0 < guest.compute.value < 1
    assert guest.memory == 64 * 2**30


@given(st.lists(st.floats(0, 1), max_size=3))
def test_turns_are_a_share_and_never_grow_with_duty(duties: list[float]) -> None:
    others = [machine(f"o{k}", "20C", duty=str(duty)) for k, duty in enumerate(duties)]
    network = build_network(sharing(machine("a", "20C"), *others))
    guest, _ = guest_of(network, resolve(network, GPU, "w"), "a", Work.TRAINING, "w")
    assert guest is not None
    assert 1 / (1 + len(duties)) * 0.9 < guest.compute.low <= guest.compute.value <= guest.compute.high <= 1
    assert guest.compute.value <= 1 / (1 + sum(duties)) + 1e-12


def test_mig_on_bare_metal_has_its_slices_and_loses_nothing_to_a_hypervisor() -> None:
    """2g.20gb of an A100 with 80 GB: 2 of 7 and 2 of 8 slices. Two jobs on slices of their own do not meet."""
    design = sharing()
    answer = ask(design, "training", **RESNET, machines="2g.20gb")
    assert value(answer, "compute_share") == pytest.approx(2 / 7)
    assert value(answer, "bandwidth_share") == 0.25
    factor = answer.metrics["virtualization_factor"]
    assert (factor.low, factor.high) == (1.0, 1.0)
    assert planned(design, machines="2g.20gb").accelerator.flops["bf16"] == pytest.approx(312e12 * 2 / 7)
    specs = [
        WorkloadSpec(id=f"job{k}", kind="training", settings={**RESNET, "machines": name})
        for k, name in enumerate(("2g.20gb", "2g.20gb#2", "2g.20gb#2"))
    ]
    design = with_changes(design, workloads=replaced(design.workloads, specs))
    apart = simulate(design, ["job0", "job1"], until=1.0, bands=False).slow_down
    assert apart["job0"] == pytest.approx(1.0, rel=1e-9)
    same = simulate(design, ["job1", "job2"], until=1.0, bands=False).slow_down
    assert same["job1"] == pytest.approx(2.0, rel=0.05)
    with pytest.raises(AnalysisError, match="9g") as refused:
        ask(sharing(), "training", **RESNET, machines="9g.90gb")
    assert refused.value.place == "workloads.asked.machines"


def test_gpus_whose_nvlinks_are_off_talk_over_pcie() -> None:
    """Two GPUs of a board: in a device group they keep NVLink, as virtual GPUs without one and as MIG slices they do
    not, and what is left between them is a PCIe switch with a tenth of the rate or less."""
    design = open_design("dgx-h100")
    asked = {"model": "llama-2-7b", "sharding": "parameters", "sequence": 2048}

    def between(*devices: dict[str, Any], machines: str = "") -> tuple[float, str]:
        vm = VirtualMachine.model_validate({"id": "m", "vcpus": 8, "memory": "256 GiB", "devices": devices})
        there = with_vms(design, *([vm] if devices else []), only=True)
        placed = place_vms(build_network(there)).placed
        parts = ",".join(d.part for d in placed["m"].devices) if devices else "gpu0,gpu1"
        result = ask(there, "training", **asked, group=parts, machines=machines)
        return value(result, "communication_time"), result.binding[0].label

    bare, _ = between()
    grouped, _ = between({"kind": "device_group", "count": 2})
    apart, binds = between({"kind": "vgpu", "profile": "80C", "count": 2})
    slices, _ = between(machines="7g.80gb")
    assert grouped == pytest.approx(bare, rel=1e-6)
    assert apart > 5 * bare
    assert "pcie" in binds
    # computing is a little faster without a hypervisor, so a little less hides behind it
    assert slices == pytest.approx(apart, rel=0.05)


def test_an_accelerator_that_is_not_given_is_the_one_named() -> None:
    """The machine has the first GPU: what is in the way is the second, and the group that works is said."""
    design = sharing(machine("one", "grid_a100d-80c"))
    with pytest.raises(AnalysisError) as stated:
        ask(design, "training", **{**RESNET, "group": "gpus", "machines": "one"})
    assert "hosts[0]/gpu0 is not given" not in str(stated.value)
    assert "is not given to one" in str(stated.value)
    assert f"set group to {GPU}" in str(stated.value.remedy)


# vMotion over networks nobody measured: NIC counts and speeds, releases, distance, encryption; what binds and why.

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
    # a migration needs 250 Mb/s of the line; vSphere admits 4 at 1 Gb/s and 8 from 10 Gb/s on
    assert [row["at once"] for row in stated.values()] == [2, 4, 8, 8]
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

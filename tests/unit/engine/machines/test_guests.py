"""Workloads inside machines: what they have of a GPU, against cases worked by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis.simulation import simulate
from designer.design.document import Design, VirtualMachine, WorkloadSpec, replaced, with_changes
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
from tests.unit.families.machines.machines import ask, cluster, value, with_vms

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

"""Collectives inside machines: shares of NICs and of GPUs, against cases worked by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from designer.analysis.simulation import simulate
from designer.design.document import Design, VirtualMachine, WorkloadSpec, replaced, with_changes
from designer.errors import AnalysisError
from tests.unit.families.machines.machines import ask, cluster, value

#: two hosts, each with a GPU and a NIC of 12.5 GB/s on one switch; PCIe 5 x16 gives about five times as much
HOSTS = 2
A100 = "gpu/nvidia/a100-80-pcie"
ASKED: dict[str, Any] = {"group": "gpus", "size": "1 GiB", "algorithm": "ring"}


def pair(machines: Sequence[VirtualMachine] = (), rate: str = "100 Gb/s") -> Design:
    """Two hosts of a GPU and a NIC each."""
    parts = [
        {"id": "server", "kind": "server"},
        {"id": "cpu0", "kind": "cpu", "parent": "server", "overrides": {"cores": {"value": 64}}},
        {"id": "memory0", "kind": "memory", "parent": "server", "overrides": {"memory_capacity": {"value": "2 TB"}}},
        {"id": "psw0", "kind": "pcie_switch", "parent": "server"},
        {"id": "gpu0", "kind": "gpu", "type": A100, "parent": "server"},
        {"id": "nic0", "kind": "nic", "parent": "server", "attributes": {"role": "compute"}},
    ]
    links = [
        {"id": "bus", "a": "cpu0", "b": "memory0", "kind": "memory_bus", "bandwidth_per_direction": "300 GB/s"},
        *(
            {"id": f"{a}-{b}", "a": a, "b": b, "kind": "pcie", "generation": 5, "lanes": 16}
            for a, b in (("cpu0", "psw0"), ("psw0", "gpu0"), ("psw0", "nic0"))
        ),
    ]
    wiring = {
        "id": "fabric",
        "pattern": "spread",
        "a": "hosts[*]/nic0",
        "b": "switch",
        "kind": "ethernet",
        "bandwidth_per_direction": rate,
    }
    return Design.model_validate(
        {
            "name": "pair",
            "parts": [{"id": "switch", "kind": "switch"}],
            "groups": [{"id": "hosts", "replicas": HOSTS, "content": {"parts": parts, "links": links}}],
            "wirings": [wiring],
            "part_types": [cluster().part_types[A100]],
            "vms": list(machines),
        }
    )


def machine(name: str, host: int, *devices: Mapping[str, object], duty: str | None = None) -> VirtualMachine:
    """A machine on a host with these devices."""
    return VirtualMachine.model_validate(
        {
            "id": name,
            "host": f"hosts[{host}]/server",
            "vcpus": 8,
            "memory": "64 GiB",
            "memory_reservation": "64 GiB",
            "devices": [{**d, "part": f"hosts[{host}]/{d['part']}"} for d in devices],
            "gpu_duty": duty,
        }
    )


WHOLE_GPU = {"kind": "passthrough", "part": "gpu0"}
FUNCTION = {"kind": "sriov", "part": "nic0"}


def with_functions(own: int, others: int) -> Design:
    """On both hosts a machine with the GPU and some functions of the NIC, and one with some functions alone."""
    return pair(
        [
            vm
            for h in range(HOSTS)
            for vm in (
                machine(f"a{h}", h, WHOLE_GPU, *[FUNCTION] * own),
                *([machine(f"b{h}", h, *[FUNCTION] * others)] if others else []),
            )
        ]
    )


def test_half_a_nic_gives_half_the_rate() -> None:
    """One of two functions of a NIC of 100 Gb/s is a NIC of 50 Gb/s: 6.25 GB/s, of which the same part is achieved.

    So the answer must be that of the same hosts drawn with NICs of 50 Gb/s, and of 1 GiB nearly all is bandwidth, so
    half the bus bandwidth of the whole NIC. While the other machine is idle all of the NIC is there: the band reaches
    up to the answer of a whole NIC.
    """
    half, narrow = ask(with_functions(1, 1), "collective", **ASKED), ask(pair(rate="50 Gb/s"), "collective", **ASKED)
    whole = ask(pair(), "collective", **ASKED)
    assert value(half, "communication_time") == pytest.approx(value(narrow, "communication_time"), rel=1e-9)
    assert value(half, "bus_bandwidth") == pytest.approx(value(whole, "bus_bandwidth") / 2, rel=0.01)
    assert value(half, "nic_share") == 0.5
    assert half.metrics["nic_share"].high == 1.0
    assert half.metrics["communication_time"].low == pytest.approx(whole.metrics["communication_time"].low, rel=1e-9)
    high = narrow.metrics["communication_time"].high / half.metrics["virtualization_factor"].low
    assert half.metrics["communication_time"].high == pytest.approx(high, rel=1e-9)
    assert any("nic0" in b.label for b in half.binding)


def test_three_of_four_functions_give_three_quarters_and_all_of_them_give_all() -> None:
    """3 of 4 functions of 100 Gb/s are 75 Gb/s; a machine that has both functions of a NIC shares it with nobody."""
    some = ask(with_functions(3, 1), "collective", **ASKED)
    drawn = ask(pair(rate="75 Gb/s"), "collective", **ASKED)
    assert value(some, "communication_time") == pytest.approx(value(drawn, "communication_time"), rel=1e-9)
    every = ask(with_functions(2, 0), "collective", **ASKED)
    assert value(every, "communication_time") == pytest.approx(
        value(ask(pair(), "collective", **ASKED), "communication_time"), rel=1e-9
    )
    assert "nic_share" not in every.metrics


def test_a_nic_that_does_not_bind_is_shared_for_nothing() -> None:
    """Half of 1.6 Tb/s is 100 GB/s, more than the 63 GB/s of PCIe 5 x16: the answer is that of whole NICs."""
    machines = list(with_functions(1, 1).vms.values())
    shared, alone = (ask(pair(vms, rate="1600 Gb/s"), "collective", **ASKED) for vms in (machines, ()))
    assert value(shared, "bus_bandwidth") == pytest.approx(value(alone, "bus_bandwidth"), rel=1e-9)


def test_every_other_turn_gives_half_the_rate() -> None:
    """One neighbour that is always busy: every other slice of 2 ms, 50 µs of which go to changing over: 0.4878."""
    turns = [
        machine(f"{n}{h}", h, {"kind": "vgpu", "part": "gpu0", "profile": "40C"}, duty="1")
        for h in range(HOSTS)
        for n in ("a", "b")
    ]
    found = ask(pair(turns), "collective", **ASKED, machines="a0, a1")
    share = 1 / 2 * 2 / 2.05
    assert value(found, "compute_share") == pytest.approx(share)
    whole = ask(pair(), "collective", **ASKED)
    assert value(found, "communication_time") == pytest.approx(value(whole, "communication_time") / share, rel=1e-9)
    assert value(found, "bus_bandwidth") == pytest.approx(value(whole, "bus_bandwidth") * share, rel=1e-9)
    with pytest.raises(AnalysisError, match="no machine 'c'"):
        ask(pair(turns), "collective", **ASKED, machines="c")


def test_on_the_clock_functions_share_the_port_only_while_both_send() -> None:
    """Alone on the clock it has its part, as analysed; a NIC is half full then, and no channel is ever overfull."""
    design = with_functions(1, 1)
    spec = WorkloadSpec(id="w", kind="collective", settings=ASKED)
    design = with_changes(design, workloads=replaced(design.workloads, [spec]))
    found = simulate(design, ["w"], until=5.0, bands=False)
    answer = ask(design, "collective", **ASKED)
    # its own machines are on the clock, those of the other functions are taken to send all the time
    assert found.metrics["w"]["communication_time"].value == pytest.approx(
        value(answer, "communication_time"), rel=1e-6
    )


def test_loads_are_told_of_the_whole_port() -> None:
    from designer.analysis.study import analyze

    spec = WorkloadSpec(id="w", kind="collective", settings=ASKED)
    design = with_functions(1, 1)
    loads = analyze(with_changes(design, workloads=replaced(design.workloads, [spec])), ["w"]).loads["w"]
    assert np.max(loads.utilization) == pytest.approx(0.5, rel=0.05)

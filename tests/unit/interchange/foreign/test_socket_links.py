"""Links between sockets are those the CPUs have: their own rate, shared among the sockets they join."""

from __future__ import annotations

import pytest

from designer.design.rates import raw_rate
from designer.interchange.foreign.cpus import CpuModel, processor, unknown_processor
from designer.interchange.foreign.machine import MachineDrawing
from designer.interchange.foreign.sockets import join_sockets
from designer.sources import Status


def _joined(model: CpuModel, sockets: int) -> list[tuple[int, float]]:
    machine = MachineDrawing("x", "a dump", "nccl-topology")
    cpus = [machine.add("cpu") for _ in range(sockets)]
    join_sockets(machine, cpus, model)
    assert all(link.status is Status.ASSUMED for link in machine.links.values())
    return [(link.count, raw_rate(link)[0]) for link in machine.links.values()]


@pytest.mark.parametrize(
    ("id", "sockets", "links"),
    [
        # four UPI links of 16 GT/s x 2 B = 32 GB/s, all to the one neighbour: 128 GB/s each way
        ("cpu/intel/xeon-spr", 2, [(4, 32e9)]),
        # six links shared among three neighbours: two to each, six pairs
        ("cpu/intel/xeon-cpx", 4, [(2, 20.8e9)] * 6),
        # three links among three neighbours
        ("cpu/intel/xeon-skx", 4, [(1, 20.8e9)] * 6),
        # four xGMI links of 16 lanes at 18 GT/s = 36 GB/s
        ("cpu/amd/epyc-rome", 2, [(4, 36e9)]),
        # the chip-to-chip link of two Graces
        ("cpu/nvidia/grace", 2, [(1, 450e9)]),
    ],
)
def test_links_of_the_part(id: str, sockets: int, links: list[tuple[int, float]]) -> None:
    assert _joined(processor(id), sockets) == links


def test_unknown_cpus_have_the_usual_links() -> None:
    assert _joined(unknown_processor(), 2) == [(3, 20.8e9)]


def test_what_nccl_plans_is_no_rate_of_a_link() -> None:
    """NCCL plans 10 GB/s between Skylake sockets; three links of 20.8 GB/s carry 62.4 GB/s."""
    ((count, rate),) = _joined(processor("cpu/intel/xeon-skx"), 2)
    assert count * rate == pytest.approx(62.4e9)

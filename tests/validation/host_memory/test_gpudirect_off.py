"""Without GPUDirect every byte stops in host memory: numbers worked out by hand.

A byte from an accelerator to the network goes up the uplink of its PCIe switch into host memory, comes down the same
uplink to the NIC, and crosses the memory bus twice. At the far end the same happens the other way round.
"""

from __future__ import annotations

from functools import cache

import pytest

from designer.analysis.study import analyze
from designer.design.document import Design, Policy, WorkloadSpec, with_changes
from designer.engine.network import Network, build_network
from designer.engine.routes.selection import resolve
from designer.engine.transfers import TransferAnswer, evaluate_transfer
from designer.families.collective.communicator import make_communicator
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.workload.program import Move
from tests.unit.engine.small_designs import draw

#: PCIe x16 after line encoding: 16 or 32 GT/s × 16 lanes × 128/130 ÷ 8 bit
GEN4, GEN5 = (rate * 16 * 128 / 130 / 8 for rate in (16e9, 32e9))
#: what a copy engine gets of them, and what each direction keeps when the other is as busy
COPY4, COPY5, BOTH5 = 0.82, 0.88, 0.85


@cache
def cluster(template: str, servers: int = 0, *, direct: bool = True) -> Design:
    design = open_design(template)
    if servers:
        design = apply_changes(design, {"servers": servers}, "test")
    return design if direct else with_changes(design, policy=Policy(gpudirect=False))


def moved(design: Design, source: str, target: str, **settings: object) -> TransferAnswer:
    return evaluate_transfer(build_network(design), Move(source, target, **settings), "t")  # type: ignore[arg-type]


def raw_between(design: Design) -> float:
    """What every server can send to the next while all rings run, before what a library achieves [B/s]."""
    network = build_network(design)
    return make_communicator(network, gpus(network), "t").situation.inter_bandwidth


def gpus(network: Network):
    return resolve(network, "gpus", "t")


def run(design: Design, kind: str, **settings: object) -> dict[str, float]:
    spec = WorkloadSpec.model_validate({"id": "w", "kind": kind, "settings": settings})
    found = analyze(with_changes(design, workloads={"w": spec}), curves=False).workloads[0]
    return {name: estimate.value for name, estimate in found.metrics.items()}


#: core time of handing batches on, per stored byte: 0.3 ms for each batch of 32 samples of 167.33 GB / 1,281,167
HANDING = 0.3e-3 / (32 * 167331925852.16 / 1281167)


class TestTwoDgxH100:
    ends = ("servers[0]/gpu0", "servers[1]/gpu0")

    def test_from_accelerator_to_accelerator(self) -> None:
        """One 400 Gb/s port carries 50 × 0.96 = 48 GB/s either way.

        Through memory the Gen5 uplink carries the flow up and down at once. Both directions of it together give
        2 × 63.0 × 0.85 = 107.1 GB/s, each byte takes 2 ÷ 0.88 of that: 47.1 GB/s, slightly less than the port.
        """
        assert moved(cluster("dgx-h100", 2), *self.ends).rate[0] == pytest.approx(50e9 * 0.96)
        off = moved(cluster("dgx-h100", 2, direct=False), *self.ends)
        assert off.rate[0] == pytest.approx(2 * GEN5 * BOTH5 / (2 / COPY5), rel=1e-3)
        assert off.rate[0] < 50e9 * 0.96

    def test_it_leaves_by_the_same_one_nic(self) -> None:
        """Rail 0 stays rail 0: the bytes stop in memory on their way, they do not look for other adapters."""
        via = moved(cluster("dgx-h100", 2, direct=False), *self.ends).flows[0].via
        assert {c for c in via if "cluster_switch" in c} == {"cluster_switch-nic0[0]:ab", "cluster_switch-nic0[1]:ba"}
        for server in range(2):
            assert sum(f"servers[{server}]/cpu0--psw0" in c for c in via) == 2
            assert sum(f"servers[{server}]/cpu0--memory0" in c for c in via) == 2

    def test_memory_holds_up_an_all_reduce(self) -> None:
        """Of B bytes a second that each server sends and receives, 2 B + 2 B cross its two memory buses.

        A bus of 8 channels DDR5-4800 moves 307.2 GB/s, so B is at most 2 × 307.2 ÷ 4 = 153.6 GB/s raw, where eight
        ports of 50 GB/s carry 400.
        """
        assert raw_between(cluster("dgx-h100", 2)) == pytest.approx(400e9)
        assert raw_between(cluster("dgx-h100", 2, direct=False)) == pytest.approx(153.6e9)


class TestFourHgxA100:
    def test_shared_uplinks_hold_up_an_all_reduce(self) -> None:
        """Four Gen4 uplinks carry 126 GB/s raw up and as much down; 103 GB/s is what copies get of one direction.

        Of B bytes a second that a server sends, B go up from the accelerators and B down to the NICs; of those it
        receives B go up from the NICs and B down to the accelerators. Up are 2 B, so B is 63 GB/s raw.
        """
        off = cluster("hgx-a100-8", 4, direct=False)
        assert raw_between(off) == pytest.approx(4 * GEN4 / 2)
        with_it, without = (run(d, "collective", size="1 GiB") for d in (cluster("hgx-a100-8", 4), off))
        assert with_it["bus_bandwidth"] > 170e9
        assert 0.5 * 4 * GEN4 / 2 < without["bus_bandwidth"] < 4 * GEN4 / 2 < 4 * GEN4 * COPY4

    def test_a_sharded_step_takes_longer(self) -> None:
        """Gathering weights and scattering gradients goes by the same uplinks: communication takes 2 to 4 × as long."""
        asked = {
            "model": "llama-2-7b",
            "software": "fsdp",
            "sharding": "parameters",
            "recompute": "full",
            "dataset": "",
            "source": "",
        }
        on, off = (run(cluster("hgx-a100-8", 4, direct=d), "training", **asked) for d in (True, False))
        assert off["step_time"] > 1.02 * on["step_time"]


def test_traffic_of_accelerators_keeps_off_storage_nics() -> None:
    """In a scalable unit GPU 0 leaves by NIC 0 of the compute rails, with GPUDirect and without."""
    for direct in (True, False):
        via = moved(cluster("su-h100-32", direct=direct), "servers[0]/gpu0", "servers[1]/gpu0").flows[0].via
        assert any("nic0" in c for c in via)
        assert not any("storage" in c for c in via)


PAIR = ("cpu0 mem0: memory_bus 204.8 GB/s", "cpu0 psw0: pcie 4x16", "psw0 gpu0: pcie 4x16", "psw0 gpu1: pcie 4x16")


def test_between_accelerators_of_one_server() -> None:
    """Below one Gen4 switch peers get 31.5 × 0.82 = 25.8 GB/s and leave the uplink alone.

    Through memory the flow goes up and comes down the uplink: both directions together give 2 × 31.5 × 0.72 GB/s,
    each byte takes 2 ÷ 0.82, which leaves 31.5 × 0.72 × 0.82 = 18.6 GB/s.
    """
    direct = moved(draw(*PAIR), "gpu0", "gpu1")
    assert direct.rate[0] == pytest.approx(GEN4 * COPY4, rel=1e-3)
    assert not any("cpu0" in c for c in direct.flows[0].via)
    stopped = moved(draw(*PAIR, policy=Policy(gpudirect=False)), "gpu0", "gpu1")
    assert stopped.rate[0] == pytest.approx(GEN4 * 0.72 * COPY4, rel=1e-3)
    assert stopped.flows[0].via == (
        "psw0--gpu0:ba",
        "cpu0--psw0:ba",
        "cpu0--mem0:ab",
        "cpu0--mem0:ba",
        "cpu0--psw0:ab",
        "psw0--gpu1:ab",
    )


def test_accelerator_links_are_no_pcie() -> None:
    """NVLink between two GPUs carries their copies whatever adapters may do."""
    design = draw(*PAIR, "gpu0 gpu1: nvlink 4* 25 GB/s", policy=Policy(gpudirect=False))
    assert moved(design, "gpu0", "gpu1").flows[0].via == ("gpu0--gpu1:ab",)


class TestCardsWithoutPeerAccess:
    """Two cards of the GeForce class below one Gen4 switch: copies go as they do without GPUDirect."""

    values = {"gpu0": {"peer_access": False}, "gpu1": {"peer_access": False}}

    def test_copies_stop_in_memory(self) -> None:
        rate = moved(draw(*PAIR, values=self.values), "gpu0", "gpu1").rate[0]
        assert rate == pytest.approx(GEN4 * 0.72 * COPY4, rel=1e-3)

    def test_one_card_without_is_enough(self) -> None:
        """Peers map each other's memory, so both must be able to."""
        one = draw(*PAIR, values={"gpu1": {"peer_access": False}})
        assert "cpu0--mem0:ab" in moved(one, "gpu0", "gpu1").flows[0].via

    def test_a_ring_runs_through_memory(self) -> None:
        """The ring takes each uplink once up and once down for both hops: 31.5 ÷ 2 GB/s raw instead of 31.5."""
        situations = [
            make_communicator(build_network(d), gpus(build_network(d)), "t").situation
            for d in (draw(*PAIR), draw(*PAIR, values=self.values))
        ]
        assert [s.intra_path.value for s in situations] == ["pcie-switch", "host-memory"]
        assert [s.intra_bandwidth for s in situations] == pytest.approx([GEN4, GEN4 / 2])

    def test_the_catalog_tells_which_cards(self) -> None:
        changes = {"parts": {"gpu*": {"type": "gpu/nvidia/rtx4090"}}}
        design = apply_changes(open_design("sm-4029gp-trt"), changes, "test")
        assert any("memory" in c for c in moved(design, "gpu0", "gpu1").flows[0].via)


NFS = (
    "cpu0 mem0: memory_bus 204.8 GB/s",
    "cpu0 gpu0: pcie 4x16",
    "cpu0 nic0: pcie 4x16",
    "nic0 sw0: ethernet 200 Gb/s",
    "store0 sw0: ethernet 200 Gb/s",
)


class TestStorageOverTcp:
    """TCP never lands in the memory of an accelerator: the kernel puts it in host memory, whatever the policy says."""

    @staticmethod
    def stored(protocol: str, cores: int = 64) -> Design:
        return draw(*NFS, values={"store0": {"protocol": protocol}, "cpu0": {"cores": cores}})

    def test_it_stops_in_memory(self) -> None:
        assert "cpu0--mem0:ab" in moved(self.stored("NFS, TCP"), "store0", "gpu0").flows[0].via
        assert "cpu0--mem0:ab" not in moved(self.stored("NFS, RDMA"), "store0", "gpu0").flows[0].via

    def test_cores_move_every_byte(self) -> None:
        """A byte takes 0.8 ns of one core: two cores move 2 ÷ 0.8 ns = 2.5 GB/s, far below the 25 GB/s of the link."""
        slow = moved(self.stored("NFS, TCP", cores=2), "store0", "gpu0")
        assert slow.rate[0] == pytest.approx(2.5e9)
        assert [b.id for b in slow.binding] == ["cores"]
        assert moved(self.stored("NFS, RDMA", cores=2), "store0", "gpu0").rate[0] > 20e9

    @pytest.mark.parametrize("port", ["nic", "dpu"])
    def test_a_dpu_takes_them_over_with_gpudirect_on_as_well(self, port: str) -> None:
        """20 GB/s cost 20 × 0.8 = 16 cores; a DPU on the way leaves 20 × 0.1 = 2 of them."""
        design = self.stored("NFS, TCP")
        parts = {**design.parts, "nic0": with_changes(design.parts["nic0"], kind=port)}
        found = run(with_changes(design, parts=parts), "data_loading", source="store0", decode="none")
        per_byte = found["input_cores"] / found["data_rate_per_gpu"]
        assert per_byte == pytest.approx({"nic": 0.8e-9, "dpu": 0.1e-9}[port] + HANDING)

    def test_a_dpu_beside_the_way_takes_over_nothing(self) -> None:
        design = draw(*NFS, "cpu0 nic1: pcie 4x16", values={"store0": {"protocol": "TCP"}, "cpu0": {"cores": 64}})
        parts = {**design.parts, "nic1": with_changes(design.parts["nic1"], kind="dpu")}
        found = run(with_changes(design, parts=parts), "data_loading", source="store0", decode="none")
        assert found["input_cores"] / found["data_rate_per_gpu"] == pytest.approx(0.8e-9 + HANDING)

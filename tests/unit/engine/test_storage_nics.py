"""Which NICs storage traffic takes: those nearest, then those whose role is storage, worked out by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from designer.design.document import Design
from designer.engine.network import build_network
from designer.engine.routes.gateways import find_doors
from tests.unit.engine.small_designs import draw, shares, transfer

COMPUTE, STORAGE = {"role": "compute"}, {"role": "storage"}


def one_server(uplink: str, *, storage_below: bool = False, protocol: str = "RDMA") -> Design:
    """Per socket two switches, each with two GPUs and a compute NIC; a storage NIC on each socket, or below a switch.

    All six NICs are cabled to one switch with the storage, by cables of `uplink`.
    """
    lines, values = ["cpu0 cpu1: upi 3* 32 GB/s"], {"store0": {"protocol": protocol}}
    for s in range(2):
        lines.append(f"cpu{s} mem{s}: memory_bus 300 GB/s")
        for k in (2 * s, 2 * s + 1):
            lines += [f"cpu{s} psw{k}: pcie 5x16", f"psw{k} nic{k}: pcie 5x16", f"nic{k} sw0: ethernet {uplink}"]
            lines += [f"psw{k} gpu{g}: pcie 5x16" for g in (2 * k, 2 * k + 1)]
            values[f"nic{k}"] = COMPUTE
        above = f"psw{2 * s}" if storage_below else f"cpu{s}"
        lines += [f"{above} nic{4 + s}: pcie 5x16", f"nic{4 + s} sw0: ethernet {uplink}"]
        values[f"nic{4 + s}"] = STORAGE
    return draw(*lines, "store0 sw0: ethernet 16* 400 Gb/s", values=values)


def nics_used(design: Design, source: str, target: str) -> Counter[str]:
    """How many flows enter the server through each NIC."""
    flows = transfer(design, source, target, pairing="all").flows
    return Counter(c.split("--")[0] for flow in flows for c in flow.via if c.startswith("nic") and "sw0" in c)


def test_every_gpu_reads_through_the_nic_below_its_own_switch() -> None:
    """Four NICs of 12.5 GB/s, two GPUs each; two storage NICs on the sockets would carry half of that."""
    design = one_server("100 Gb/s")
    assert nics_used(design, "store0", "gpus") == {f"nic{k}": 2 for k in range(4)}
    whole = sum(transfer(design, "store0", "gpus", pairing="all").rate)
    two = design.model_copy(
        update={
            "links": {
                name: link for name, link in design.links.items() if name[:4] not in {f"nic{k}" for k in range(4)}
            }
        }
    )
    alone = sum(transfer(two, "store0", "gpus", pairing="all").rate)
    assert whole == pytest.approx(2 * alone)


def test_of_nics_below_one_switch_the_one_for_storage_is_used() -> None:
    """With a second server on the same network the compute NICs are there for what the servers exchange."""
    design = one_server("100 Gb/s", storage_below=True)
    other = ["cpu8 mem8: memory_bus 300 GB/s", "cpu8 nic8: pcie 5x16", "nic8 sw0: ethernet 100 Gb/s"]
    more = draw(*other, values={"nic8": COMPUTE})
    both = design.model_copy(update={"parts": {**design.parts, **more.parts}, "links": {**design.links, **more.links}})
    used = nics_used(both, "store0", "gpus")
    # switches 0 and 2 have both kinds below them, switches 1 and 3 a compute NIC alone
    assert used == {"nic4": 2, "nic1": 2, "nic5": 2, "nic3": 2}


def test_nics_of_every_role_carry_what_a_storage_network_brings_to_host_memory() -> None:
    """Over TCP data ends in host memory: all three NICs of a socket, whether below a switch or not, share it."""
    design = one_server("100 Gb/s", protocol="NFS over TCP")
    assert not find_doors(build_network(design)).storage ^ {0}
    into = {c: s for c, s in shares(design, "store0", "mem0").items() if c.startswith("nic")}
    assert into == pytest.approx({"nic0--sw0:ba": 1 / 3, "nic1--sw0:ba": 1 / 3, "nic4--sw0:ba": 1 / 3})


def test_a_port_in_the_storage_network_makes_a_compute_nic_a_storage_nic() -> None:
    """The second ports of all NICs join a storage network that other servers use as well."""
    design = one_server("100 Gb/s", protocol="NFS over TCP")
    second = [f"nic{k} sw1: infiniband 400 Gb/s" for k in range(4)]
    other = ["cpu8 mem8: memory_bus 300 GB/s", "cpu8 nic8: pcie 5x16", "nic8 sw0: ethernet 100 Gb/s"]
    more = draw(*other, "nic8 sw1: infiniband 400 Gb/s", *second, values={"nic8": COMPUTE})
    parts = {**more.parts, **design.parts}
    both = design.model_copy(update={"parts": parts, "links": {**design.links, **more.links}})
    assert not find_doors(build_network(both)).storage
    into = {c for c in shares(both, "store0", "mem0") if c.startswith("nic") and "sw0" in c}
    assert {c[:4] for c in into} >= {"nic0", "nic1"}

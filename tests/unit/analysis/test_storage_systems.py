"""Storage systems drawn by their servers, by what they are provisioned for, or by their ports alone."""

from __future__ import annotations

import pytest

from designer.analysis.study import run_workload
from designer.design.document import WorkloadSpec
from designer.engine.network import build_network
from designer.engine.transfers import TransferAnswer, evaluate_transfer
from designer.errors import AnalysisError
from designer.families.training.checkpoints import restored, state_band
from designer.formulas.transfer._constants import NETWORK_WRITE
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.workload.program import Move


def answer(source: str, target: str, **given: str | int) -> TransferAnswer:
    """All flows between a storage system on one 100 Gb/s port and host memory."""
    changes = {"parts": {"storage": {"type": "storage/generic/storage", **given}}}
    return evaluate_transfer(
        build_network(apply_changes(open_design("serving-h100-8"), changes, "t")), Move(source, target), "w"
    )


def moved(source: str, target: str, **given: str | int) -> float:
    return float(answer(source, target, **given).rate.sum()) / 1e9


def test_servers_with_one_drive_each() -> None:
    """Two servers, one drive of 1 GB/s each: 2 × 0.9 read; 2 × 0.5 × 0.8 ÷ (6+2)/6 = 0.6 written."""
    two = {"servers": 2, "drives": 1, "drive_read_bandwidth": "1 GB/s", "drive_write_bandwidth": "0.5 GB/s"}
    assert moved("storage", "memory", redundancy="6+2", **two) == pytest.approx(1.8)
    assert moved("memory", "storage", redundancy="6+2", **two) == pytest.approx(0.6)


def test_provisioned_bandwidth_is_one_allowance() -> None:
    for ends in (("storage", "memory"), ("memory", "storage")):
        assert moved(*ends, provisioned_bandwidth="1.5 GB/s", servers=8) == pytest.approx(1.5)


def test_rates_that_are_given_rule() -> None:
    assert moved("storage", "memory", read_bandwidth="3 GB/s", servers=2, server_cores=1) == pytest.approx(3.0)


def test_a_client_in_the_kernel_is_held_by_the_sockets_of_its_host() -> None:
    """Two sockets write 2 × 3.2 GB/s through Lustre, whatever the system takes."""
    lustre = {"protocol": "Lustre", "write_bandwidth": "100 GB/s", "read_bandwidth": "100 GB/s"}
    found = answer("memory", "storage", **lustre)
    assert found.rate.sum() / 1e9 == pytest.approx(6.4)
    assert found.binding[0].id.startswith("client:")
    assert found.low.sum() < 4.5e9
    assert found.high.sum() > 10e9


def test_ports_alone_are_said_to_be_assumed() -> None:
    """Reads are what the links give, writes 0.6 ÷ (1 + 1.25) of the ports; where rates are given nothing is assumed."""
    ports = answer("storage", "memory")
    codes = [finding.code for finding in ports.findings]
    assert codes.count("STORE-ASSUMED") == 1
    for given in ({"read_bandwidth": "3 GB/s"}, {"servers": 2, "server_bandwidth": "100 Gb/s"}):
        assert "STORE-ASSUMED" not in [finding.code for finding in answer("storage", "memory", **given).findings]
    network = ports.asked.network
    store = network.net.paths(ports.traffic.source)[0]
    assert store == "storage"
    ports_rate = ports.rate.sum() / 0.87
    assert moved("memory", "storage") * 1e9 == pytest.approx(ports_rate * 0.6 / 2.25)
    assert ports.low.sum() <= 0.61 * ports_rate


def test_redundancy_that_cannot_be_read_names_the_part() -> None:
    with pytest.raises(AnalysisError, match="storage: redundancy 'twice'"):
        answer("storage", "memory", servers=2, redundancy="twice", server_cores=4)


def test_writes_fill_less_of_a_link_than_reads() -> None:
    """A system of 900 GB/s either way: links bind, and give writes 0.88 of what they give reads."""
    fast = {"protocol": "RDMA", "read_bandwidth": "900 GB/s", "write_bandwidth": "900 GB/s"}
    back, out = answer("storage", "memory", **fast), answer("memory", "storage", **fast)
    assert out.rate.sum() / back.rate.sum() == pytest.approx(NETWORK_WRITE.value)
    assert out.low.sum() / out.rate.sum() < back.low.sum() / back.rate.sum()


def test_a_checkpoint_may_take_longer_than_its_bytes() -> None:
    """Bytes of a parameter are 12 to 16 of 14; writing takes 0.95 to 1.35 times that, reading back 0.95 to 1.3."""
    assert state_band(back=False)[1:] == pytest.approx((0.95 * 12 / 14, 1.35 * 16 / 14))
    assert state_band(back=True)[1:] == pytest.approx((0.95 * 12 / 14, 1.3 * 16 / 14))


def back(**given: str | int) -> TransferAnswer:
    return restored(answer("storage", "memory", **given).asked.network, "storage", "memory", "w")


def test_servers_deliver_files_of_ranks_slower_than_samples() -> None:
    """Two servers of 12.5 GB/s: 0.7 of 25 GB/s for samples, over 2.3 for files; the band is 1.5 to 3.2 as well."""
    given: dict[str, str | int] = {"servers": 2, "server_bandwidth": "100 Gb/s"}
    steady, files = answer("storage", "memory", **given), back(**given)
    assert steady.rate.sum() == pytest.approx(0.7 * 25e9)
    assert files.rate.sum() == pytest.approx(0.7 * 25e9 / 2.3)
    assert files.high.sum() <= steady.high.sum() * (1 + 1e-9)
    assert "reading files of ranks" in files.binding[0].label


def test_a_given_rate_is_what_files_are_read_at() -> None:
    given: dict[str, str | int] = {"read_bandwidth": "3 GB/s"}
    assert back(**given).rate.sum() == pytest.approx(answer("storage", "memory", **given).rate.sum())


def test_the_rate_of_a_checkpoint_is_as_unsure_as_how_files_are_written() -> None:
    """A steady write to the same drives is surer; both have the same value."""
    network = build_network(open_design("hgx-h100-8"))
    settings = {"model": "llama-2-7b", "target": "drives"}
    found = run_workload(network, WorkloadSpec(id="w", kind="checkpointing", settings=settings))[0].metrics["rate"]
    steady = run_workload(network, WorkloadSpec(id="w", kind="transfer", settings={"from": "memory", "to": "drives"}))
    rate = steady[0].metrics["rate"]
    assert found.value == pytest.approx(rate.value, rel=0.01)
    assert found.low < rate.low / 1.05
    # 1.35 times as long at worst, and deviations of drives besides
    assert found.low < found.value / 1.35

"""Remote GPUs: what the network adds to each batch."""

from __future__ import annotations

from typing import Any

import pytest

import designer
from designer.errors import DesignerError


def metrics(**settings: Any) -> dict[str, float]:
    design = designer.open_design("vsphere-cluster-4")
    asked = {"client": "hosts[3]/memory0", "group": "hosts[0]/gpu0", **settings}
    design = designer.with_workload(design, "r", "remote_gpu", **asked)
    return {name: m.value for name, m in designer.analyze(design, "r").workloads[0].metrics.items()}


def test_a_batch_is_sent_called_for_computed_and_returned() -> None:
    found = metrics()
    # 20 MB and 1 MB at the rate of one flow between the hosts, 20 calls of 50 us, 50 ms of computing
    ends = {"from": "hosts[3]/memory0", "to": "hosts[0]/gpu0"}
    link = designer.with_workload(designer.open_design("vsphere-cluster-4"), "t", "transfer", **ends)
    rate = designer.analyze(link, "t").workloads[0].metrics["rate"].value
    assert found["send_time"] == pytest.approx(20e6 / rate, rel=0.02)
    assert found["return_time"] == pytest.approx(1e6 / rate, rel=0.1)
    whole = found["send_time"] + 20 * 50e-6 + 0.050 + found["return_time"]
    assert found["batch_time"] == pytest.approx(whole, rel=1e-6)
    assert found["batches_per_second"] == pytest.approx(1 / whole, rel=1e-6)


def test_many_small_calls_cost_more_than_the_bytes() -> None:
    chatty, quiet = metrics(calls=2000), metrics(calls=0)
    assert chatty["batch_time"] - quiet["batch_time"] == pytest.approx(2000 * 50e-6, rel=1e-6)


def test_clients_of_one_host_share_its_link() -> None:
    """Two programs whose GPUs are in one host: their inputs meet on its port when they are sent at the same time."""
    one = metrics(group="hosts[0]/gpu0", sent="2 GB")["send_time"]
    two = metrics(group="hosts[0]/gpu0,hosts[0]/gpu1", sent="2 GB")["send_time"]
    assert two == pytest.approx(2 * one, rel=0.05)


def test_the_page_says_how_long_a_batch_takes() -> None:
    design = designer.open_design("vsphere-cluster-4")
    asked = {"client": "hosts[3]/memory0", "group": "hosts[0]/gpu0"}
    page = designer.page(designer.with_workload(design, "r", "remote_gpu", **asked), "r")
    assert page.headline.startswith("A batch takes 52.8 ms")


def test_nothing_to_compute_is_refused() -> None:
    with pytest.raises(DesignerError, match="computes nothing"):
        metrics(computing="0 s")

"""Datasets, tables of users, remote GPUs."""

from __future__ import annotations

from typing import Any

import pytest

import designer
from designer.errors import CatalogError, DesignerError, ExchangeError
from designer.families.serving.traces import parse_trace
from designer.interchange.importers.netbox_cables import _from_csv
from designer.units import Bytes
from designer.workload.datasets import Dataset, dataset, datasets, load_dataset
from designer.workload.job_lists import parse_jobs

# Datasets and the steps they make.


def mean_sample(name: str) -> float:
    """Bytes of a sample in the mean [B]."""
    return dataset(name).size / dataset(name).samples


def test_imagenet_makes_forty_thousand_steps_of_32() -> None:
    imagenet = dataset("imagenet-1k")
    assert imagenet.samples == 1281167
    assert imagenet.size == 155.84 * 2**30
    assert imagenet.samples / 32 == pytest.approx(40_000, rel=0.001)
    assert imagenet.size / imagenet.samples == pytest.approx(130.6e3, rel=0.001)


def test_shipped_datasets() -> None:
    assert {
        "imagenet-1k",
        "cifar-10",
        "cifar-100",
        "mlperf-storage-unet3d",
        "mlperf-storage-resnet50",
        "mlperf-storage-cosmoflow",
        "c4-en",
    } <= set(datasets())
    assert mean_sample("mlperf-storage-unet3d") == pytest.approx(146_600_628, rel=1e-6)
    assert mean_sample("mlperf-storage-resnet50") == pytest.approx(114_660.07, rel=1e-3)
    assert mean_sample("mlperf-storage-cosmoflow") == pytest.approx(2_828_486, rel=1e-6)
    assert mean_sample("cifar-10") == pytest.approx(3072, rel=1e-3)


@pytest.mark.parametrize(("samples", "size"), [(0, 10.0), (-1, 10.0), (10, 0.0), (10, -5.0)])
def test_an_empty_dataset_is_refused(samples: int, size: float) -> None:
    with pytest.raises(CatalogError, match="samples"):
        Dataset("empty", "Empty", samples, Bytes(size))


def test_an_unknown_dataset_is_answered_with_the_known() -> None:
    with pytest.raises(CatalogError, match="imagenet-1k"):
        dataset("imagenet")


@pytest.mark.parametrize(
    "text",
    [
        "samples = 3",
        'id = "y"\ntitle = "Y"\nsamples = 1\nsize = "1 B"\nsource = "s"\nstatus = "primary"',
        'id = "x"\ntitle = "X"\nsamples = 1\nsize = "1"\nsource = "s"\nstatus = "primary"',
        'id = "x"\ntitle = "X"\nsamples = 1\nsize = "1 B"\nsource = "s"\nstatus = "sure"',
        'id = "x"\ntitle = "X"\nsamples = 0\nsize = "1 B"\nsource = "s"\nstatus = "primary"',
    ],
)
def test_a_wrong_dataset_file_is_refused_by_name(tmp_path, text: str) -> None:
    file = tmp_path / "x.toml"
    file.write_text(text)
    with pytest.raises(CatalogError, match=r"x\.toml"):
        load_dataset(file)


# Tables that users point at: what is no CSV is refused with its line, wherever it is read.

LONG = "1" * 131_073


@pytest.mark.parametrize("line", [1, 2])
def test_a_cell_too_long_for_csv_is_refused_with_its_line(line: int) -> None:
    def table(head: str, row: str) -> str:
        return f"{head},{LONG}\n{row}\n" if line == 1 else f"{head}\n{row}{LONG}\n"

    with pytest.raises(ExchangeError, match=f"line {line}: not CSV"):
        parse_trace(table("TIMESTAMP,ContextTokens,GeneratedTokens", "2023-11-16 18:15:46,1,"))
    with pytest.raises(ExchangeError, match=f"line {line}: not CSV"):
        parse_jobs(table("job_id,gpu_num,submit_time,duration", "x,1,"))
    with pytest.raises(ExchangeError, match=f"line {line}: not CSV"):
        _from_csv(table("side_a_device,side_a_type,side_a_name", "x,dcim.interface,"), "cables.csv")


# Remote GPUs: what the network adds to each batch.


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

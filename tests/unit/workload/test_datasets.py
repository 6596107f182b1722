"""Datasets and the steps they make."""

import pytest

from designer.errors import CatalogError
from designer.units import Bytes
from designer.workload.datasets import Dataset, dataset, datasets, load_dataset


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

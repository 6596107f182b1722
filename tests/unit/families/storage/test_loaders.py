"""Programs that load pictures, and samples that are described: by hand and by published rates."""

from __future__ import annotations

from typing import Any

import pytest

from designer.analysis.study import run_workload
from designer.design.document import WorkloadSpec
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from designer.errors import DesignerError
from designer.formulas.storage.loaders import slowest_batch
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.sources import Estimate
from designer.units import Ratio

IMAGES = 1281167
#: FFCV, dataset sizes: JPEG quality 90 of side 512, raw of side 256 and of side 512
JPEG_512, RAW_256, RAW_512 = (f"{size * 1e9 / IMAGES:.0f} B" for size in (65.47, 169.79, 616.18))


def loaded(cores: int = 0, drive: str = "", **settings: Any) -> WorkloadResult:
    """Eight A100 that load ImageNet out of the page cache, 16 workers each."""
    given = {"dataset": "imagenet-1k", "source": "drives", "workers": 16, "batch": 256, "cached": 1, **settings}
    design = open_design("hgx-a100-8")
    parts: dict[str, Any] = {}
    if cores:
        parts["cpu*"] = {"cores": cores}
    if drive:
        parts["nvme*"] = {"read_bandwidth": drive}
    if parts:
        design = apply_changes(design, {"parts": parts}, "test")
    return run_workload(build_network(design), WorkloadSpec(id="w", kind="data_loading", settings=given))[0]


def pictures(**settings: Any) -> Estimate:
    return loaded(**settings).metrics["samples_per_second"]


def test_processes_that_read_files_do_what_was_published() -> None:
    """128 cores of 60 MB/s, pictures of 602 kB: 12.8k/s; MosaicML was held at 17,800/s on 8 A100 (2022)."""
    found = pictures()
    assert found.value == pytest.approx(128 * 60e6 / 602112, rel=0.01)
    assert found.low < 17800 < found.high


def test_compiled_loading_does_what_was_published() -> None:
    """FFCV on 48 cores: 31,278/s of JPEG and 172,801/s of raw pictures out of memory."""
    jpeg = pictures(cores=24, loader="ffcv", sample_size=JPEG_512)
    raw = pictures(cores=24, loader="ffcv", decode="none", sample_size=RAW_256)
    assert jpeg.value == pytest.approx(31278, rel=0.01)
    assert raw.value == pytest.approx(172801, rel=0.01)


def test_compiled_loading_keeps_what_was_trained_with_it_busy() -> None:
    """ResNet-18 on eight A100 of 48 cores took 35 minutes for 16 epochs each: 78k/s, of which a tenth is JPEG."""
    trained = 8 * 16 * IMAGES / (35 * 60)
    rates = [pictures(cores=24, loader="ffcv", decode=decode, sample_size=RAW_256).value for decode in ("cpu", "none")]
    assert 1 / (0.1 / rates[0] + 0.9 / rates[1]) > trained


def test_accelerators_that_decode_do_what_was_published() -> None:
    """Eight A100 of 5,000 to 7,000 pictures a second each."""
    found = pictures(loader="dali", decode="gpu")
    assert found.value == pytest.approx(8 * 6000)
    assert found.low < 8 * 5000
    assert found.high > 8 * 7000
    assert pictures(loader="dali", decode="gpu", decode_rate="5000 1/s").value == pytest.approx(8 * 5000)


@pytest.mark.parametrize(("size", "decode", "published"), [(JPEG_512, "cpu", 16631), (RAW_256, "none", 6870)])
def test_a_slow_drive_gives_what_its_bytes_do(size: str, decode: str, published: float) -> None:
    """FFCV from a network drive: 1,956 raw pictures of side 512 say 0.94 GB/s, which others keep within a tenth."""
    # four drives share the rate
    rate = 1956 * float(RAW_512.split()[0])
    found = pictures(drive=f"{rate / 4:.0f} B/s", loader="ffcv", cached=0, sample_size=size, decode=decode)
    assert found.value == pytest.approx(published, rel=0.11)


def test_a_picture_of_twice_the_side_costs_four_times_the_cores() -> None:
    assert pictures(resolution=448).value == pytest.approx(pictures().value / 4, rel=0.01)


def test_eight_bits_a_value_are_a_quarter_of_the_copy() -> None:
    """Compiled loading of raw pictures moves 150,528 B each, not 602,112."""
    found = loaded(loader="ffcv", decode="none", sample_size=RAW_256)
    assert found.metrics["data_rate_per_gpu"].value * 8 == pytest.approx(
        found.metrics["samples_per_second"].value * float(RAW_256.split()[0]), rel=0.01
    )


def test_custom_samples_are_what_is_given() -> None:
    """One MB each from drives of 6.9 GB/s, read at random at 0.7 of that: 4,830 a second and accelerator."""
    given: dict[str, Any] = {
        "dataset": "custom",
        "sample_size": "1 MB",
        "epoch_samples": 1_000_000,
        "decode": "none",
        "cached": 0,
    }
    found = loaded(drive="6.9 GB/s", **given).metrics
    assert found["rate"].value == pytest.approx(found["samples_per_second"].value * 1e6)
    assert found["epoch_time"].value == pytest.approx(1e6 / found["samples_per_second"].value)
    with pytest.raises(DesignerError, match="custom dataset"):
        loaded(dataset="custom")


def test_samples_of_different_size_wait_for_the_largest_batch() -> None:
    """Eight readers, batches of 4 with 2 ahead: 1 + 0.5 / root 12 times 1.42 of the mean."""
    assert slowest_batch(Ratio(0.5), 12, 8) == pytest.approx(1 + 0.5 / 12**0.5 * 1.4237, rel=0.01)
    assert slowest_batch(Ratio(0.5), 12, 1) == 1
    even, uneven = pictures(batch=4), pictures(batch=4, sample_spread=0.5)
    assert even.value / uneven.value == pytest.approx(slowest_batch(Ratio(0.5), 12, 8), rel=1e-3)
    with pytest.raises(DesignerError, match="spread"):
        pictures(sample_spread=11)

"""Measured kernel times: what files hold, how they are interpolated, and what carries them beyond what was measured."""

from __future__ import annotations

import ast
import csv
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from designer.families.serving.devices import is_measured, kernel_table, with_kernels
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._kernels import KERNELS
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas._release import Overheads
from designer.families.serving.formulas.kernel_table import ExpertShape, KernelTable
from designer.families.serving.formulas.step_time import Joins, Split, StepTime
from designer.resources import assets
from designer.units import Bytes
from designer.workload.models import model
from designer.workload.shape import TransformerShape

ROOT = Path(__file__).resolve().parents[4]
ENGINES = ("vllm", "sglang", "tensorrt-llm")
B200 = Device(
    "B200",
    {"bf16": 2250e12, "fp16": 2250e12, "fp8": 4500e12, "fp4": 9000e12},
    8e12,
    180e9,
    148,
    KERNELS,
    architecture="Blackwell GB100",
    part="gpu/nvidia/b200",
)
H100 = Device(
    "H100",
    {"bf16": 989e12, "fp16": 989e12, "fp8": 1979e12},
    3.35e12,
    80e9,
    132,
    KERNELS,
    architecture="Hopper GH100",
    part="gpu/nvidia/h100-sxm5",
)
NOTHING = Overheads(0.0, 0.0, 0.0, 0.0, 1.0, 0.0)


def table(part: str, engine: str) -> KernelTable:
    found = kernel_table(f"gpu/nvidia/{part}", "", 1e12, engine)
    assert found is not None
    assert (found.part, found.engine) == (f"gpu/nvidia/{part}", engine)
    return found


def steps(device: Device, name: str = "llama-3-70b", weights: str = "nvfp4", tensor: int = 1) -> StepTime:
    shape = model(name)
    assert isinstance(shape, TransformerShape)
    return StepTime(shape, device, Split(tensor), number_format(weights), number_format("fp8"), NOTHING, Joins())


def with_table(device: Device = B200, engine: str = "tensorrt-llm") -> Device:
    return replace(device, table=kernel_table(device.part, device.architecture, device.bandwidth, engine))


# H100 under vLLM 0.24.0 and bf16, as published: rows, columns, inner length and microseconds
PUBLISHED = ((1, 8192, 4096, 24.057), (256, 6144, 3072, 19.106), (8192, 8192, 8192, 1541.7))


@pytest.mark.parametrize(("rows", "columns", "inner", "published"), PUBLISHED)
def test_products_on_the_grid_are_those_published(rows: int, columns: int, inner: int, published: float) -> None:
    """Within 1 %: times that fall with size are levelled, and a stored time has steps of a thousandth."""
    time, at = table("h100-sxm5", "vllm").products["bf16"].at(rows, columns, inner)
    assert time == pytest.approx(published * 1e-6, rel=0.01)
    assert at == (rows, columns, inner)


def test_experts_are_those_published() -> None:
    """gpt-oss-120b on one H100 under vLLM: 128 experts of 2,880 by 2,880, four a token; 16 and 4,096 tokens.

    Even routing takes 367.6 and 1,510.0 us, skewed routing 286.4 and 2,461.5: the quicker of the two counts.
    """
    experts = table("h100-sxm5", "vllm").experts["mxfp4-bf16"]
    shape = ExpertShape(2880, 2880, 4, 128, 1, 1)
    assert experts.nearest(shape) == ((shape, 1.0),)
    assert experts.time(shape, 16)[0] == pytest.approx(286.4e-6, rel=0.01)
    assert experts.time(shape, 4096)[0] == pytest.approx(1510.0e-6, rel=0.01)


def test_attention_meets_what_was_measured() -> None:
    """H100, vLLM, 8 query heads on one of keys and values, context 4,096: 37.1, 101.1 and 189.3 us for 32, 128, 256."""
    fit = table("h100-sxm5", "vllm").decode.at(8, 1, 128, 2.0)
    assert fit is not None
    for requests, published in ((32, 37.06e-6), (128, 101.07e-6), (256, 189.33e-6)):
        read = requests * 4096 * 2 * 128 * 2
        found = fit.floor + requests * fit.each + read / (fit.share * 3.35e12)
        assert found == pytest.approx(published, rel=0.08)


def test_between_points_a_time_lies_between_theirs_and_beyond_them_it_is_the_last() -> None:
    products = table("b200", "sglang").products["fp8"]
    low, middle, high = (products.at(rows, 4096, 4096)[0] for rows in (512, 600, 768))
    assert low <= middle <= high
    time, at = products.at(100_000, 300_000, 64)
    assert at == (32768, 65536, 128)
    assert time == products.at(32768, 65536, 128)[0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "part", ["a100-80-sxm4", "l40s", "h100-sxm5", "h200-sxm", "b200", "gb300", "rtxpro6000-server"]
)
def test_no_product_is_below_its_roofline_or_falls_with_its_size(part: str, engine: str) -> None:
    found = table(part, engine)
    sheet = found.sheet
    rate = {"bf16": "bf16", "fp8": "fp8", "fp8-block": "fp8", "nvfp4": "fp4", "int4": "bf16", "fp8-static": "fp8"}
    size = {"bf16": 2.0, "fp8": 1.0, "fp8-block": 1.0, "fp8-static": 1.0, "nvfp4": 0.5625, "int4": 0.53125}
    for how, products in found.products.items():
        for columns, inner in ((1024, 4096), (7168, 2048), (28672, 8192)):
            times = [products.at(rows, columns, inner)[0] for rows in (1, 7, 64, 300, 2048, 20000)]
            assert all(later >= earlier * (1 - 1e-12) for earlier, later in pairwise(times)), how
            for rows, time in zip((1, 7, 64, 300, 2048, 20000), times, strict=True):
                flops = sheet.flops.get(rate[how]) or sheet.flops["bf16"]
                least = max(2 * rows * columns * inner / flops, columns * inner * size[how] / sheet.bandwidth)
                # a stored time has steps of a thousandth
                assert time >= least * (1 - 1e-3), (how, rows, columns, inner)


def test_a_step_on_the_measured_gpu_is_made_of_its_tables() -> None:
    """Llama 3 70B in NVFP4 on one B200, 64 requests: four products a layer as TensorRT-LLM ran them, and the head.

    By hand: 80 layers x (10,240 x 8,192 + 8,192 x 8,192 + 57,344 x 8,192 + 8,192 x 28,672), head in bf16 by the law.
    """
    one = steps(with_table())
    products = table("b200", "tensorrt-llm").products["nvfp4"]
    shapes = ((10240, 8192), (8192, 8192), (57344, 8192))
    by_hand = 80 * sum(products.at(64, *shape)[0] for shape in shapes)
    plain = steps(B200)
    # the last product is longer inside than the grid: the time at its end, times what the law says of the rest
    inside = products.at(64, 8192, 16384)[0]
    law = [plain._gemm(64, 8192, inner, number_format("nvfp4")) for inner in (28672, 16384)]  # pyright: ignore
    by_hand += 80 * inside * law[0] / law[1]
    layers = one._layers_at(64)  # pyright: ignore[reportPrivateUsage]
    between = one._between * 64  # pyright: ignore[reportPrivateUsage]
    assert layers - between == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("part", ["b200", "rtxpro6000-server"])
@pytest.mark.parametrize("name", ["llama-3-70b", "qwen3-30b-a3b", "deepseek-v3"])
def test_more_compute_bandwidth_or_fewer_tokens_never_take_longer(part: str, name: str) -> None:
    found = table(part, "tensorrt-llm")
    base = replace(
        B200,
        flops=dict(found.sheet.flops),
        bandwidth=found.sheet.bandwidth,
        units=found.sheet.units,
        part=found.part,
        architecture="Blackwell GB202" if "rtx" in part else "Blackwell GB100",
        table=found,
    )
    faster = replace(base, flops={kind: 2 * rate for kind, rate in base.flops.items()})
    wider = replace(base, bandwidth=2 * base.bandwidth)
    weights = "fp8" if name == "deepseek-v3" else "nvfp4"
    for tokens in (1, 16, 200, 2048):
        times = [
            steps(device, name, weights, 8 if name == "deepseek-v3" else 1).tokens(tokens, min(tokens, 64))
            for device in (base, faster, wider, replace(faster, bandwidth=wider.bandwidth))
        ]
        assert times[0] >= max(times[1], times[2]) * (1 - 1e-12)
        assert min(times[1], times[2]) >= times[3] * (1 - 1e-12)
    one = steps(base, name, weights, 8 if name == "deepseek-v3" else 1)
    line = [one.tokens(tokens, 1) for tokens in (1, 2, 8, 33, 100, 500, 513, 1000, 4096)]
    assert all(later >= earlier * (1 - 1e-9) for earlier, later in pairwise(line))


def test_gpus_without_a_table_take_the_nearest_of_their_architecture() -> None:
    assert is_measured("gpu/nvidia/gb300")
    assert not is_measured("gpu/nvidia/rtx5090")
    near = kernel_table("gpu/nvidia/rtx5090", "Blackwell GB202", 1.79e12, "vllm")
    assert near is not None
    assert near.part == "gpu/nvidia/rtxpro6000-server"
    assert kernel_table("gpu/amd/mi300x", "CDNA 3", 5.3e12, "vllm") is None


def test_no_product_in_a_run_comes_nearer_to_its_peak_than_whole_runs_did() -> None:
    """8,192 rows of 8,192 x 8,192 in FP8 on H100: the table has 1,361 TFLOP/s at most, runs reached .554 of 1,979.

    By hand: 2 x 8,192^3 / (.554 x 1,979e12) = 1,003 us.
    """
    one = steps(with_table(H100, "vllm"), weights="fp8")
    time = one._gemm(8192, 8192, 8192, number_format("fp8"))  # pyright: ignore[reportPrivateUsage]
    assert time == pytest.approx(
        max(1003e-6, table("h100-sxm5", "vllm").products["fp8"].at(8192, 8192, 8192)[0]), rel=2e-3
    )


def test_what_an_engine_adds_for_a_layer_of_experts_is_in_no_table() -> None:
    """65 us for each of 36 layers of gpt-oss, whose experts follow the law, and of 32 of Mixtral, which has a table."""
    own = replace(NOTHING, expert_layer=65e-6)
    for name, weights, extra in (("gpt-oss-120b", "mxfp4", 36 * 65e-6), ("mixtral-8x7b", "bf16", 32 * 65e-6)):
        shape = model(name)
        assert isinstance(shape, TransformerShape)
        how, bf16 = number_format(weights), number_format("bf16")
        times = [StepTime(shape, with_table(H100), Split(), how, bf16, o, Joins()).decode(4) for o in (NOTHING, own)]
        assert times[1] - times[0] == pytest.approx(extra, abs=1e-9)


def test_prompts_of_a_mixture_wait_for_every_doubling_of_its_devices() -> None:
    """16 ms a doubling: eight devices 48 ms, groups of attention counted; one device, a dense model, decoding none."""
    bf16, own = number_format("bf16"), replace(NOTHING, expert_prompts=16e-3)
    for name, split, extra in (
        ("gpt-oss-120b", Split(8), 48e-3),
        ("gpt-oss-120b", Split(2, data=2, expert=4), 32e-3),
        ("gpt-oss-120b", Split(1), 0.0),
        ("llama-3-70b", Split(8), 0.0),
    ):
        shape = model(name)
        assert isinstance(shape, TransformerShape)
        pair = [StepTime(shape, H100, split, bf16, bf16, o, Joins()) for o in (NOTHING, own)]
        prompts = [one.step(1024, 524288, 1, 3, 3000.0) for one in pair]
        assert prompts[1] - prompts[0] == pytest.approx(extra, abs=1e-9)
        assert pair[1].decode(4) == pair[0].decode(4)


def test_fixed_scales_save_the_pass_that_finds_them() -> None:
    """H100, TensorRT-LLM, 8,192 x 8,192: 37.4 and 46.9 us for 1 and 256 rows, of which 7.2 and 8.8 find the scale."""
    products = table("h100-sxm5", "tensorrt-llm").products
    for rows, whole, scale in ((1, 37.40e-6, 7.19e-6), (256, 46.91e-6, 8.78e-6)):
        assert products["fp8"].at(rows, 8192, 8192)[0] == pytest.approx(whole, rel=0.02)
        assert products["fp8-static"].at(rows, 8192, 8192)[0] == pytest.approx(whole - scale, rel=0.02)


def test_a_release_whose_models_have_fixed_scales_takes_products_without_that_pass() -> None:
    """Llama 3 70B in FP8 on one B200 under TensorRT-LLM, 64 requests; the product of the head is in 16 bit."""
    shape, fp8 = model("llama-3-70b"), number_format("fp8")
    assert isinstance(shape, TransformerShape)
    own = replace(NOTHING, narrow=1.2)
    plain, fixed = (StepTime(shape, with_table(), Split(), fp8, fp8, o, Joins()) for o in (NOTHING, own))
    products = table("b200", "tensorrt-llm").products
    for one, name in ((plain, "fp8"), (fixed, "fp8-static")):
        time = one._gemm(64, 8192, 8192, fp8)  # pyright: ignore[reportPrivateUsage]
        assert time == pytest.approx(products[name].at(64, 8192, 8192)[0], rel=1e-9)
    assert fixed.decode(64) < plain.decode(64)


def test_refused_times_are_listed_and_few_but_where_a_kernel_waits_for_the_host() -> None:
    with (assets() / "kernels" / "refused.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    listed = sum(
        int(r["refused"]) for r in rows if (r["gpu"], r["engine"], r["format"]) == ("b200", "vllm", "fp8-block")
    )
    assert listed == table("b200", "vllm").refused["fp8-block"] > 10_000
    assert table("b200", "sglang").refused["fp8-block"] < 100


def test_prompts_of_latent_attention_are_read_as_they_are_by_sglang() -> None:
    """Its table has them compressed, 576 + 512 values a head in place of 192 + 128: .196 of the peak on H200.

    TensorRT-LLM at 16 heads reaches .647 of the peak, which takes its place; on B200 SGLang was measured at .646.
    """
    for part, share in (("h200-sxm", 0.647), ("b200", 0.646)):
        found = table(part, "sglang").prefill.at(16, 0, 320, Bytes(2.0))
        assert found is not None
        assert found.share == pytest.approx(share, abs=2e-3)
    # 8,192 tokens on each of eight H200, 61 layers: 61 x 2 x 16 x 320 x 8,192^2 / 2 / (.647 x 989e12) = 32.8 ms
    shape, fp8, bf16 = model("deepseek-v3"), number_format("fp8"), number_format("bf16")
    assert isinstance(shape, TransformerShape)
    h200 = replace(H100, bandwidth=4.8e12, part="gpu/nvidia/h200-sxm")
    one = StepTime(shape, with_kernels(h200, "sglang"), Split(8), fp8, bf16, NOTHING, Joins())
    assert one.per_pair * 8192**2 / 2 == pytest.approx(32.8e-3, rel=0.01)


def test_attention_of_no_engine_takes_three_times_that_of_another_within_the_data_sheet() -> None:
    counted = 0
    for part in ("a100-80-sxm4", "l40s", "h100-sxm5", "h200-sxm", "b200", "gb300", "rtxpro6000-server"):
        tables = [table(part, engine) for engine in ("vllm", "sglang", "tensorrt-llm")]
        for kind in ("prefill", "decode"):
            cells = [
                {tuple(cell): fit[2] for cell, fit in zip(one.cells, one.fits, strict=True)}
                for one in (getattr(each, kind) for each in tables)
            ]
            for mine in cells:
                for cell, inverse in mine.items():
                    others = [o[cell] for o in cells if o is not mine and o.get(cell, 0) >= 1]
                    assert not others or inverse <= 3.001 * min(others), (part, kind, cell)
                    counted += bool(others)
    assert counted > 1000


def test_a_refused_table_is_no_slower_than_three_times_another_engine() -> None:
    """Block-scaled FP8 on B200 under vLLM: 4,096 x 4,096 with 32 rows was measured at 171 us, 10 to 11 elsewhere."""
    slow, quick = (table("b200", engine).products["fp8-block"].at(32, 4096, 4096)[0] for engine in ("vllm", "sglang"))
    assert slow <= 3 * quick
    assert slow < 35e-6


def test_files_are_small_and_quick_to_read() -> None:
    files = sorted((assets() / "kernels").glob("*.npz"))
    assert len(files) == 27
    assert sum(path.stat().st_size for path in files) < 3e6


def test_the_script_reads_tables_of_kernels_alone() -> None:
    """The package also holds runs of whole models, which are kept for judging and must not be read."""
    source = (ROOT / "packaging" / "kernel_tables.py").read_text(encoding="utf-8")
    texts = [n.value for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    assert not any("silicon" in text for text in texts)
    assert [text for text in texts if text.endswith(".csv")] == ["refused.csv"]
    assert 'DATA = "aiconfigurator_core/systems/data/"' in source
    assert "name.startswith(DATA)" in source


def test_nothing_names_the_files_of_whole_runs() -> None:
    """What the package holds of whole runs is kept for judging: no script, module or test opens it."""
    names = ("silicon" + "_sample", "silicon" + "_refs")
    for folder in ("designer", "packaging", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert not any(name in text for name in names), path


def test_a_table_is_only_read_where_it_is_needed() -> None:
    assert math.isfinite(steps(B200).decode(1))
    assert B200.table is None

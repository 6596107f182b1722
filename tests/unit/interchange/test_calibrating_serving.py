"""A served model fitted to a benchmark: the formats, the fit by hand, and what it changes."""

from __future__ import annotations

import json
import math

import pytest

from designer.analysis.study import analyze
from designer.design.document import Design, with_changes
from designer.errors import AnalysisError, ExchangeError
from designer.families.serving.calibration import Calibration, read_calibration
from designer.families.serving.engines import calibrated, release
from designer.interchange.calibrating import calibrate_serving
from designer.interchange.serving_runs import ServingRun, read_runs
from designer.interchange.templates import open_design

BLOCK = """
Traffic request rate:                    inf
============ Serving Benchmark Result ============
Successful requests:                     100
Maximum request concurrency:             16
Total input tokens:                      102400
Total generated tokens:                  25600
---------------Time to First Token----------------
Mean TTFT (ms):                          65.0
Median TTFT (ms):                        60.0
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          16.5
Median TPOT (ms):                        16.0
==================================================
"""
SCRIPT = {
    "request_rate": "inf",
    "max_concurrency": 16,
    "completed": 100,
    "total_input_tokens": 102400,
    "total_output_tokens": 25600,
    "mean_ttft_ms": 65.0,
    "median_ttft_ms": 60.0,
    "mean_tpot_ms": 16.5,
    "median_tpot_ms": 16.0,
}
AIPERF = {
    "time_to_first_token": {"unit": "ms", "avg": 65.0, "p50": 60.0},
    "inter_token_latency": {"unit": "ms", "avg": 16.5, "p50": 16.0},
    "input_sequence_length": {"unit": "tokens", "avg": 1024.0},
    "output_sequence_length": {"unit": "tokens", "avg": 256.0},
    "input_config": {"loadgen": {"concurrency": 16}},
}
GENAI_PERF = {**AIPERF, "input_config": {"perf_analyzer": {"stimulus": {"concurrency": 16}}}}
GUIDELLM = {
    "benchmarks": [
        {
            "config": {"strategy": {"type_": "concurrent", "streams": 16}},
            "metrics": {
                "time_to_first_token_ms": {"successful": {"mean": 65.0, "median": 60.0}},
                "inter_token_latency_ms": {"successful": {"mean": 16.5, "median": 16.0}},
                "prompt_token_count": {"successful": {"mean": 1024.0}},
                "output_token_count": {"successful": {"mean": 256.0}},
            },
        }
    ]
}
RUN = ServingRun(16, 0.0, 1024.0, 256.0, 0.060, 0.016, median=True)


@pytest.mark.parametrize(
    "text",
    [
        BLOCK,
        json.dumps(SCRIPT),
        json.dumps(SCRIPT) + "\n",
        json.dumps(AIPERF, indent=1),
        json.dumps(GENAI_PERF),
        json.dumps(GUIDELLM),
    ],
    ids=["printed", "script", "line", "aiperf", "genai-perf", "guidellm"],
)
def test_the_same_run_in_each_format(text: str) -> None:
    assert read_runs(text) == (RUN,)


def test_a_line_or_a_table_for_each_run() -> None:
    lines = "\n".join(json.dumps(SCRIPT | {"max_concurrency": n}) for n in (1, 8, 64))
    assert [run.clients for run in read_runs(lines)] == [1, 8, 64]
    assert len(read_runs(BLOCK + BLOCK.replace("16  ", "32  "))) == 2


def test_a_rate_without_a_limit_on_clients() -> None:
    (run,) = read_runs(json.dumps(SCRIPT | {"max_concurrency": None, "request_rate": 2.5}))
    assert (run.clients, run.rate) == (0, 2.5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no benchmark at all", "no serving benchmark"),
        ("{", "no serving benchmark"),
        (json.dumps(SCRIPT | {"max_concurrency": None}), "clients or rate"),
        (json.dumps(SCRIPT | {"mean_tpot_ms": 0.0, "median_tpot_ms": 0.0}), "time per token"),
        (json.dumps(SCRIPT | {"completed": 0}), "input tokens"),
    ],
)
def test_what_is_missing_is_named(text: str, words: str) -> None:
    with pytest.raises(ExchangeError, match=words):
        read_runs(text)


def served(design: Design, **settings: object) -> Design:
    """The design with a served model of these settings alone."""
    spec = design.workloads["chat-70b"]
    changed = with_changes(spec, settings={**spec.settings, **settings})
    return with_changes(design, workloads=[changed], default_workload="", assertions=[])


def asked(design: Design, calibration: str = "", clients: int = 16) -> tuple[float, float]:
    """Time per token and median first token of 1,024 + 256 tokens [s]."""
    same = {"load": "clients", "clients": clients, "prompt": 1024, "output": 256, "spread": "0.2", "lengths": ""}
    (result,) = analyze(served(design, calibration=calibration, **same), curves=False).workloads
    return result.metrics["tpot"].value, result.metrics["ttft_p50"].value


def test_a_benchmark_of_what_is_predicted_changes_nothing() -> None:
    design = open_design("serving-h100-8")
    each, first = asked(design)
    run = ServingRun(16, 0.0, 1024.0, 256.0, first, each, median=True)
    _, found = calibrate_serving(served(design), [run])
    assert found.calibration.steps == pytest.approx(1.0, abs=0.01)
    assert found.calibration.prompts == pytest.approx(1.0, abs=0.03)


def test_a_machine_of_other_factors_is_recovered_from_one_run_and_so_are_its_other_loads() -> None:
    """Steps 1.3 times and prompts 0.8 times as slow: one run of 16 clients finds both; 4 and 64 follow within 2 %."""
    design = open_design("serving-h100-8")
    true = Calibration(1.3, 0.8, 0.1, 0.1).text()
    each, first = asked(design, true)
    fitted, found = calibrate_serving(served(design), [ServingRun(16, 0.0, 1024.0, 256.0, first, each, median=True)])
    assert found.calibration.steps == pytest.approx(1.3, rel=0.01)
    assert found.calibration.prompts == pytest.approx(0.8, rel=0.03)
    text = str(fitted.workloads["chat-70b"].settings["calibration"])
    for clients in (4, 64):
        assert asked(design, text, clients) == pytest.approx(asked(design, true, clients), rel=0.02)


def test_more_runs_that_agree_narrow_the_band_and_runs_that_do_not_widen_it() -> None:
    design = served(open_design("serving-h100-8"))
    each, first = asked(design)
    runs = [ServingRun(16, 0.0, 1024.0, 256.0, first, each * factor, median=True) for factor in (1, 1, 1, 1)]
    off = [ServingRun(16, 0.0, 1024.0, 256.0, first, each * factor, median=True) for factor in (0.6, 1, 1, 1.7)]
    one, four, apart = (calibrate_serving(design, some)[1].calibration.step_spread for some in (runs[:1], runs, off))
    assert four < one < apart
    # by hand: 1.2816 × .06 × √(1 + 1) of one run; √(3 ÷ 6) × √(1 + ¼) in place of √2 of four without a residual
    assert one == pytest.approx(1.2816 * 0.06 * math.sqrt(2), rel=1e-6)
    assert four == pytest.approx(1.2816 * 0.06 * math.sqrt(3 / 6) * math.sqrt(1.25), rel=1e-3)


def test_other_models_of_the_engine_stay_as_they_are() -> None:
    changed, found = calibrate_serving(open_design("serving-h100-8"), [RUN], "chat-70b", "bench.json")
    assert changed.sources["calibration-serving"].locator == "bench.json"
    assert found.workloads == ("chat-70b",)
    assert "calibration" in changed.workloads["chat-70b"].settings
    assert "calibration" not in changed.workloads["code-8b"].settings


def test_what_one_model_shows_holds_in_part_for_another_by_hand() -> None:
    """Half of ln 1.21 is ln 1.1 of steps; .3 of ln 2 is ln 1.231 of prompts, whose path has both."""
    shipped = release("vllm", "0.12.0")
    one = Calibration(1.21, 2.0, 0.1, 0.2, "llama-3-8b", "bf16")
    same, other, unnamed = (
        calibrated(shipped, one, name).release.overheads for name in ("llama-3-8b", "qwen3-32b", "")
    )
    assert same == unnamed
    assert same.slower == pytest.approx(1.21)
    assert other.slower == pytest.approx(1.1)
    assert other.prefill_step / shipped.release.overheads.prefill_step == pytest.approx(2**0.3)
    assert other.path / shipped.release.overheads.path == pytest.approx(1.1 * 2**0.3)


def test_which_model_was_measured_has_to_be_said_where_several_are_served() -> None:
    with pytest.raises(ExchangeError, match="which was measured"):
        calibrate_serving(open_design("serving-h100-8"), [RUN])
    with pytest.raises(ExchangeError, match="serves no model"):
        calibrate_serving(open_design("hgx-h100-8"), [RUN])


def test_a_calibration_is_read_as_it_is_written() -> None:
    for one in (
        Calibration(1.25, 0.8, 0.1, 0.2),
        Calibration(0.5, 2.0, 0.05, 0.4, "llama-3-8b", "bf16", "Hopper"),
    ):
        back = read_calibration(one.text())
        assert back is not None
        assert back.text() == one.text()
        assert (back.steps, back.prompts, back.model) == (one.steps, one.prompts, one.model)
    with pytest.raises(AnalysisError, match="is no calibration"):
        read_calibration("twice as fast")
    assert read_calibration("  ") is None

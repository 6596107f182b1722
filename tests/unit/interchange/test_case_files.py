"""Files of measurements: what is read, what is said about wrong ones, and served models fitted to benchmarks."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from designer.analysis.study import analyze
from designer.cli.main import run
from designer.decisions.validation import predict
from designer.design.document import Design, with_changes
from designer.errors import AnalysisError, ExchangeError, FormatError
from designer.families.serving.engines import Calibration, calibrated, read_calibration, release
from designer.interchange.calibrating import calibrate_serving
from designer.interchange.cases import MAX_CASES, look_into
from designer.interchange.serving_runs import ServingRun, read_runs
from designer.interchange.templates import open_design
from tests.case_files import read_cases

# Files of measurements: what is read, and what is said about those that are wrong.

REDUCE = {"kind": "collective", "settings": {"collective": "all-reduce", "group": "gpus", "size": "1 GiB"}}


TRAIN = {"kind": "training", "settings": {"model": "llama-2-7b", "sharding": "parameters"}}


def case(**changes: Any) -> dict[str, Any]:
    one = {"design": "hgx-a100-8", "source": "s", "workload": REDUCE, "metric": "bus_bandwidth", "value": "230 GB/s"}
    return {k: v for k, v in {**one, **changes}.items() if v is not None}


def written(folder: Path, *cases: dict[str, Any], name: str = "cases.json", **more: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps({"format": "designer-cases", "version": 1, "cases": list(cases), **more}))
    return path


def training(**settings: Any) -> dict[str, Any]:
    return {
        "workload": {"kind": "training", "settings": {**TRAIN["settings"], **settings}},
        "metric": "step_time",
        "value": "1 s",
    }


@pytest.mark.parametrize(
    ("wrong", "said", "remedy"),
    [
        ({"metric": "communication_time", "value": "12 GB"}, "is not a unit of duration", "8.9 us"),
        ({"value": 230}, "without a unit", "230 GB/s"),
        ({"value": "230"}, "no unit", "230 GB/s"),
        ({"value": 0}, "was not measured", "more than zero"),
        ({"value": "-5 GB/s"}, "was not measured", "more than zero"),
        ({"value": "nan GB/s"}, "number", "400 Gb/s"),
        ({"design": "hgx-a100"}, "no template 'hgx-a100'", "hgx-a100-8"),
        ({"design": 5}, "no design", "template id"),
        ({"changes": {"parts": {"gpuX": {"type": "x"}}}}, "no part 'gpuX'", "gpu7"),
        ({"changes": {"part": {}}}, "no 'part'", "parts"),
        ({"changes": {"parts": {"gpu*": {"type": "gpu/nvidia/h300"}}}}, "gpu/nvidia/h300", "h100"),
        ({"changes": {"remove": ["nothing"]}}, "nothing", "summary --ids"),
        ({"changes": {"add": {"wirings": []}}}, "cannot be added", "parts, links"),
        ({"changes": {"vms": {"web9": None}}}, "no virtual machine", "its host"),
        ({"changes": {"servers": 0}}, "no number of servers", "1 or more"),
        ({"changes": {"servers": {"count": 2, "nics": "zz*"}}}, "no NIC 'zz*'", "NICs"),
        ({"metric": "bus_bandwith"}, "bus_bandwith", "bus_bandwidth"),
        ({"workload": {"kind": "trainings"}}, "trainings", "training"),
        ({"workload": {"settings": {}}}, "kind is missing", "collective"),
        ({"workload": {"kind": "training", "settings": {"modle": "x"}}}, "modle", "model"),
        ({"workload": {"kind": "training", "tp": 2, "tensor": 2}}, "given twice", "one of them"),
        ({"sided": "left"}, "no side", "lower"),
        (training(micro_batch=0), "no samples", "1 or more"),
        (training(global_batch=13), "does not divide", "multiple of 8"),
        (training(tensor=3), "do not divide", "divides"),
        (training(model="llama-3-405b", sharding="none"), "needs", "spread the model"),
        (training(model="llama-2-8b"), "no model", "llama-2-7b"),
        ({"workload": {"kind": "collective", "settings": {"group": "gpu9"}}}, "no part 'gpu9'", "did you mean"),
        ({"workload": {"kind": "collective", "settings": {"size": 1073741824}}}, "unit", "80 GiB"),
        ({"workload": {"kind": "collective", "settings": {"size": "0 B"}}}, "prediction is 0", "sizes"),
        ({"metric": None}, "metric missing", "a case has"),
        ({"colour": "red"}, "colour unknown", "may have"),
    ],
)
def test_one_message_names_file_place_and_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: dict[str, Any], said: str, remedy: str
) -> None:
    assert run(["validate", str(written(tmp_path, case(id="one", **wrong)))]) == 2
    stated = capsys.readouterr().err
    assert stated.count("\n") == 1
    assert all(piece in stated for piece in ("cases.json", "cases[0] (one)", said, remedy)), stated


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("empty.json", "", "the file is empty"),
        ("plain.json", "hello", "this is not JSON"),
        ("plain.txt", "hello: there", "neither JSON nor TOML"),
        ("cases.yaml", "cases:\n  - design: x\n", "YAML is not read"),
        ("cases.toml", "[[cases]\n", "this is not TOML"),
        ("broken.json", '{"format": "designer-cases", "cases": [{', "ends in the middle"),
        ("nan.json", '{"cases": [{"value": NaN}]}', "NaN"),
        ("other.json", '{"format": "designer-design", "version": 1}', "designer-design"),
        ("newer.json", '{"format": "designer-cases", "version": 7, "cases": [1]}', "version '7'"),
        ("none.json", '{"format": "designer-cases", "version": 1, "cases": []}', "no cases"),
        ("many.json", '{"cases": [' + ",".join(['{"a": 1}'] * (MAX_CASES + 1)) + "]}", "more than 20,000"),
        ("huge.json", '{"cases": [' + ",".join(['{"a": 1}'] * 25 * MAX_CASES) + "]}", "more than 20,000"),
    ],
)
def test_files_that_hold_no_cases_say_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    assert run(["validate", str(tmp_path / name)]) == 2
    stated = capsys.readouterr().err
    assert name in stated
    assert said in stated
    assert stated.count("\n") == 1


def test_a_wrong_case_does_not_hide_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [case(id="right"), case(id="wrong", metric="happiness"), case(id="right"), case(id="too", value=3)]
    assert run(["validate", str(written(tmp_path, *cases)), str(tmp_path / "gone.json"), "--json"]) == 1
    streams = capsys.readouterr()
    found = json.loads(streams.out)
    assert [c["id"] for c in found["cases"]] == ["right"]
    assert [p["place"].partition(":")[0] for p in found["problems"][1:]] == [
        "cases[1] (wrong)",
        "cases[2].id",
        "cases[3] (too)",
    ]
    assert all(p["file"] and p["text"] and p["remedy"] for p in found["problems"])
    assert streams.err.count("\n") == 4


def test_a_mistake_of_the_program_is_the_problem_of_its_case_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("gone")

    ((design, measured),) = read_cases(written(tmp_path, case()))
    monkeypatch.setattr("designer.decisions.validation.analyze", broken)
    monkeypatch.delenv("DESIGNER_TRACEBACK", raising=False)
    assert "mistake in the program" in predict(design, measured).problem


def test_many_messages_of_one_kind_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", str(written(tmp_path, *[case(metric="x", id=str(k)) for k in range(50)]))]) == 2
    stated = capsys.readouterr().err.splitlines()
    assert len(stated) == 21
    assert "30 more" in stated[-1]


@pytest.mark.parametrize(
    ("kind", "spelled", "meant", "each"),
    [
        ("collective", "busbw", "bus_bandwidth", False),
        ("collective", "Bus Bandwidth", "bus_bandwidth", False),
        ("collective", "algbw", "algorithm_bandwidth", False),
        ("transfer", "throughput", "rate", False),
        ("training", "throughput", "samples_per_second", False),
        ("training", "iteration time", "step_time", False),
        ("training", "tokens/s/GPU", "tokens_per_second", True),
        ("training", "samples_per_second_per_gpu", "samples_per_second", True),
        ("training", "memory_per_gpu", "memory_per_gpu", False),
        ("vmotion", "downtime", "switchover_time", False),
        ("storage_sizing", "max_accelerators", "accelerators", False),
    ],
)
def test_metrics_are_understood_as_publications_name_them(kind: str, spelled: str, meant: str, each: bool) -> None:
    from designer.interchange import spellings
    from designer.workload.kind import workload_kinds

    assert spellings.metric(workload_kinds()[kind], spelled) == (meant, each)


@pytest.mark.parametrize(
    ("stated", "meant"),
    [("torchtitan, torch.compile", "fsdp-compiled"), ("NeMo 24.09", "transformer-engine"), ("FSDP", "fsdp")],
)
def test_frameworks_are_understood_as_people_name_them(tmp_path: Path, stated: str, meant: str) -> None:
    one = case(**training(framework=stated))
    ((_, measured),) = read_cases(written(tmp_path, one))
    assert measured.workload.settings["software"] == meant


def test_settings_are_understood_as_publications_name_them(tmp_path: Path) -> None:
    loose = {
        "kind": "Training",
        "model": "llama-2-7b",
        "tp": 8.0,
        "gbs": "1,024",
        "dtype": "BFloat16",
        "activation checkpointing": "FULL",
        "zero": "ZeRO-3",
        "sequence-parallel": "yes",
    }
    ((_, measured),) = read_cases(written(tmp_path, case(workload=loose, metric="step time", value=12, unit="s")))
    assert measured.value == 12
    assert measured.workload.kind == "training"
    assert dict(measured.workload.settings) == {
        "model": "llama-2-7b",
        "tensor": 8,
        "global_batch": 1024,
        "precision": "bf16",
        "recompute": "full",
        "sharding": "parameters",
        "sequence_parallel": True,
    }


def test_a_workload_of_the_design_may_have_other_settings(tmp_path: Path) -> None:
    asked = {"id": "all-reduce", "settings": {"size": "8 GiB"}}
    ((_, measured),) = read_cases(written(tmp_path, case(workload=asked)))
    assert measured.workload.settings["size"] == "8 GiB"
    assert measured.workload.settings["collective"] == "all-reduce"


def test_what_is_reported_of_one_gpu_is_a_share_of_all(tmp_path: Path) -> None:
    stated = {"workload": TRAIN, "value": "3000 tokens/s"}
    whole, each = read_cases(
        written(tmp_path, case(metric="tokens/s", **stated), case(metric="tokens/s/GPU", id="e", **stated))
    )
    all_of_it, one = predict(*whole).predicted, predict(*each).predicted
    assert all_of_it is not None
    assert one is not None
    assert one.value == pytest.approx(all_of_it.value / 8)
    assert one.low <= one.value <= one.high


def test_toml_and_defaults_say_the_same_as_json(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(
        'format = "designer-cases"\nversion = 1\n[defaults]\nsource = "s"\ndesign = "hgx-a100-8"\n'
        '[[cases]]\nmetric = "busbw"\nvalue = "230 GB/s"\n'
        'workload = {kind = "collective", collective = "AllReduce", group = "gpus", size = "1 GiB"}\n'
    )
    (toml,) = read_cases(tmp_path / "c.toml")
    (plain,) = read_cases(written(tmp_path, case()))
    assert predict(*toml).predicted == predict(*plain).predicted
    assert toml[1].group == plain[1].group == "s"


def test_a_missing_source_is_noted_and_the_file_is_the_group(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, case(source=None), name="ours.json")
    assert run(["validate", str(path), "--json"]) == 0
    streams = capsys.readouterr()
    assert json.loads(streams.out)["cases"][0]["group"] == "ours"
    assert "1 of 1 cases do not say their source" in streams.err


def test_a_file_named_twice_counts_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, case())
    assert run(["validate", str(path), str(tmp_path), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["cases"]) == 1


def test_reading_strictly_raises_the_first_problem(tmp_path: Path) -> None:
    path = written(tmp_path, case(), case(id="b", value=-1))
    assert len(look_into(path).cases) == 1
    with pytest.raises(FormatError, match="was not measured"):
        read_cases(path)


def test_bands_are_reported_by_area(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, case(area="near"), case(id="b", area="far", value="2 GB/s"))
    assert run(["validate", str(path), "--json"]) == 0
    bands = json.loads(capsys.readouterr().out)["bands"]
    assert (bands["near"]["coverage"], bands["far"]["coverage"]) == (1, 0)
    assert bands["far"]["points"] == 1


def test_metrics_are_listed_with_their_units(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", "--metrics", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["collective"]["bus_bandwidth"]["unit"] == "B/s"
    assert run(["validate", "--metrics"]) == 0
    assert "stun_time" in capsys.readouterr().out


def test_no_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate"]) == 2
    assert "--help" in capsys.readouterr().err


# A served model fitted to a benchmark: the formats, the fit by hand, and what it changes.

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

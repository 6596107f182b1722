"""Files of measurements: what is read, and what is said about those that are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from designer.cli.main import run
from designer.decisions.validation import predict
from designer.errors import FormatError
from designer.interchange.cases import MAX_CASES, look_into
from tests.case_files import read_cases

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

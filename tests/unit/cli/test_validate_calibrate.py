"""``designer validate`` and ``designer calibrate``: scores, fits that the engine follows, and clear refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from designer.analysis.study import analyze
from designer.cli.main import run
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.interchange.templates import open_design
from tests.case_files import read_cases

pytestmark = pytest.mark.without_qt

NCCL = """# nThread 1 nGpus 8 minBytes 67108864 maxBytes 1073741824
# Using all_reduce_perf
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
    67108864      16777216     float     sum      -1    400.0  167.77  293.60      0    400.0  167.77  293.60      0
  1073741824     268435456     float     sum      -1   5368.7  200.00  350.00      0   5368.7  200.00  350.00      0
"""
NVBANDWIDTH = """Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     20.00     20.00

SUM host_to_device_memcpy_ce 40.00
"""


def case(**changes: Any) -> dict[str, Any]:
    one = {
        "id": "h2d",
        "area": "transfers",
        "group": "g",
        "source": "s",
        "design": "hgx-a100-8",
        "workload": {"kind": "transfer", "settings": {"from": "memory", "to": "gpu0"}},
        "metric": "rate",
        "value": 26e9,
    }
    return {**one, **changes}


def written(folder: Path, *cases: dict[str, Any]) -> str:
    path = folder / "cases.json"
    path.write_text(json.dumps({"format": "designer-cases", "version": 1, "cases": list(cases)}))
    return str(path)


def metric(design: Design, kind: str, name: str, **settings: Any) -> float:
    spec = WorkloadSpec(id="w", kind=kind, settings=settings)
    asked = with_changes(design, workloads=[spec], default_workload="")
    return analyze(asked, curves=False).workloads[0].metrics[name].value


def test_validate_scores_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slower = case(id="slow", changes={"links": {"psw0--gpu0": {"generation": 3}}}, value=13e9)
    cases = written(tmp_path, case(), slower, case(id="l", sided="lower", value=1e9))
    assert run(["validate", cases, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [c["id"] for c in found["cases"]] == ["h2d", "slow", "l"]
    assert found["cases"][0]["low"] <= found["cases"][0]["predicted"] <= found["cases"][0]["high"]
    assert found["cases"][2]["error"] == 0
    assert found["groups"]["g"] == found["areas"]["transfers"] == found["error"]


IMPOSSIBLE = {"kind": "training", "settings": {"model": "llama-3-405b", "tensor": 3}}


def test_a_case_that_cannot_be_predicted_does_not_hide_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beyond = case(id="beyond", workload=IMPOSSIBLE, metric="step_time", value="1 s")
    assert run(["validate", written(tmp_path, case(), beyond), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["cases"][0]["error"] == found["error"] > 0
    assert found["cases"][1]["predicted"] is None
    assert "divide" in found["cases"][1]["problem"] or "tensor" in found["cases"][1]["problem"]
    assert run(["validate", written(tmp_path, beyond)]) == 2


@pytest.mark.parametrize(
    ("spelled", "number", "changes"),
    [
        ("26 GB/s", 26e9, {}),
        ("208 Gb/s", 26e9, {}),
        ("120 ms", 0.12, {"workload": {"kind": "training", "settings": {}}, "metric": "step_time"}),
        ("17 500 samples/s".replace(" ", "", 1), 17500, {"workload": "resnet-50", "metric": "samples_per_second"}),
        ("71.8 k/s", 71800, {"workload": "llama-2-7b-fsdp", "metric": "tokens_per_second"}),
        ("41 %", 0.41, {"workload": "llama-2-7b-fsdp", "metric": "mfu"}),
    ],
)
def test_values_are_spelled_with_units(tmp_path: Path, spelled: str, number: float, changes: dict[str, Any]) -> None:
    ((_, measured),) = read_cases(Path(written(tmp_path, case(value=spelled, design="hgx-h100-8", **changes))))
    assert measured.value == pytest.approx(number)


def test_only_what_says_where_a_number_comes_from_is_needed(tmp_path: Path) -> None:
    short = {k: v for k, v in case(source="our lab").items() if k not in ("id", "area", "group")}
    ((_, measured),) = read_cases(Path(written(tmp_path, short)))
    assert (measured.id, measured.group, measured.area) == ("1", "our lab", "transfer")


def test_folders_are_searched_for_case_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("b/two", "a/one"):
        (tmp_path / name).mkdir(parents=True)
        written(tmp_path / name, case(id=name))
    (tmp_path / "a" / "package.json").write_text('{"name": "no cases"}')
    assert run(["validate", str(tmp_path), "--json"]) == 0
    assert [c["id"] for c in json.loads(capsys.readouterr().out)["cases"]] == ["a/one", "b/two"]
    (tmp_path / "c").mkdir()
    assert run(["validate", str(tmp_path / "c")]) == 2
    assert "no file of measurements" in capsys.readouterr().err


def test_the_example_of_the_help_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(["validate", "--help"])
    stated = capsys.readouterr().out
    example = stated[stated.index("  {") : stated.index("  ]}") + 4]
    path = tmp_path / "example.json"
    path.write_text(example)
    assert run(["validate", str(path), "--json"]) == 0
    cases = json.loads(capsys.readouterr().out)["cases"]
    assert [c["group"] for c in cases] == ["our lab, 2026-11, nccl-tests 2.14", "our lab"]
    assert all(c["predicted"] for c in cases)


@pytest.mark.parametrize(
    "wrong",
    [
        {"design": "no-such-template"},
        {"value": -1},
        {"value": "26 ms"},
        {"value": "26"},
        {"value": "0 GB/s"},
        {"value": True},
        {"metric": "happiness"},
        {"workload": {"kind": "transfers"}},
        {"workload": ["h2d"]},
        {"workload": {"settings": {}}},
        {"changes": []},
        {"changes": {"parts": ["gpu0"]}},
        {"changes": {"links": {"psw0--gpu0": {"generation": "fast"}}}},
        {"changes": {"parts": {"gpu0": {"memory_capacity": 80}}}},
        {"sided": "left"},
        {"changes": {"parts": {"nobody": {"x": 1}}}},
        {"changes": {"weather": {}}},
        {"workload": "nothing"},
        {"extra": 1},
    ],
)
def test_wrong_cases_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: dict[str, Any]) -> None:
    assert run(["validate", written(tmp_path, case(**wrong))]) == 2
    stated = capsys.readouterr().err
    assert "cases[0]" in stated
    assert "cases.json" in stated
    assert stated.count("\n") == 1


def test_no_case_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.json"
    path.write_text("[]")
    assert run(["validate", str(path)]) == 2
    assert "x.json" in capsys.readouterr().err


def test_collectives_follow_what_nccl_tests_measured(tmp_path: Path) -> None:
    output, fitted = tmp_path / "nccl.txt", tmp_path / "fitted.design.json"
    output.write_text(NCCL)
    assert run(["calibrate", "hgx-h100-8", str(output), "--tool", "nccl-tests", "-o", str(fitted)]) == 0
    design = open_design(fitted)
    asked = {"collective": "all-reduce", "group": "gpus", "size": "1 GiB"}
    before = metric(open_design("hgx-h100-8"), "collective", "bus_bandwidth", **asked)
    after = metric(design, "collective", "bus_bandwidth", **asked)
    assert abs(after - 350e9) < abs(before - 350e9) / 3
    assert design.sources["calibration-nccl-tests"].locator == "nccl.txt"
    h2d = {"from": "memory", "to": "gpu0"}
    assert metric(design, "transfer", "rate", **h2d) == metric(open_design("hgx-h100-8"), "transfer", "rate", **h2d)


def test_copies_follow_what_nvbandwidth_measured(tmp_path: Path) -> None:
    output, fitted = tmp_path / "nv.txt", tmp_path / "fitted.design.json"
    output.write_text(NVBANDWIDTH)
    assert run(["calibrate", "hgx-a100-8", str(output), "--tool", "nvbandwidth", "-o", str(fitted)]) == 0
    assert metric(open_design(fitted), "transfer", "rate", **{"from": "memory", "to": "gpu0"}) == pytest.approx(
        20e9, rel=0.01
    )


def test_drives_and_storage_take_the_rates_that_were_measured(tmp_path: Path) -> None:
    fio, mlperf, fitted = tmp_path / "fio.json", tmp_path / "mlperf.json", tmp_path / "fitted.design.json"
    fio.write_text(json.dumps({"jobs": [{"read": {"bw_bytes": 3_000_000_000}}]}))
    mlperf.write_text(json.dumps({"num_hosts": 2, "metric": {"train_io_mean_MB_per_second": 2400.0}}))
    assert run(["calibrate", "hpe-apollo-6500-nfs", str(fio), "--tool", "fio", "-o", str(fitted)]) == 0
    assert open_design(fitted).parts["nvme0"].overrides["read_bandwidth"].value == "3 GB/s"
    assert run(["calibrate", str(fitted), str(mlperf), "--tool", "mlperf-storage", "-o", str(fitted)]) == 0
    design = open_design(fitted)
    assert metric(design, "data_loading", "rate", decode="gpu") == pytest.approx(1.2e9, rel=0.01)
    assert {"calibration-fio", "calibration-mlperf-storage"} <= set(design.sources)


def fio_output(rate: float, way: str, **options: str) -> str:
    """What fio prints with ``--output-format=json``: a warning, shared options, and jobs."""
    job = {way: {"bw_bytes": rate, "iops": 1.0}, "job options": options}
    return "fio: warning\n" + json.dumps({"global options": {"direct": "1"}, "jobs": [job]})


def test_requests_that_fio_measured_come_out_again(tmp_path: Path) -> None:
    """Streams, one request, many, and writes: a transfer with the same requests gives each rate back."""
    fitted = tmp_path / "fitted.design.json"
    runs: list[tuple[float, str, dict[str, str], dict[str, object]]] = [
        (3.2e9, "read", {"bs": "1M", "iodepth": "32"}, {}),
        (1.1e9, "write", {"bs": "1024k", "iodepth": "32"}, {}),
        # 60 us and 1.28 us of transfer
        (4096 / 61.28e-6, "read", {"bs": "4k", "iodepth": "1"}, {"io_size": "4 KiB"}),
        (
            1.6e9,
            "read",
            {"bs": "4k", "iodepth": "32", "numjobs": "8", "group_reporting": ""},
            {"io_size": "4 KiB", "queue_depth": 32, "threads": 8},
        ),
    ]
    given = "hgx-h100-8"
    for rate, way, options, _ in runs:
        output = tmp_path / "fio.json"
        output.write_text(fio_output(rate, way, **options))
        assert run(["calibrate", given, str(output), "--tool", "fio", "-o", str(fitted)]) == 0
        given = str(fitted)
    drive = open_design(fitted).parts["nvme0"].overrides
    assert drive["access_latency"].value == "60 us"
    for rate, way, _, asked in runs:
        ends = ("nvme0", "memory0") if way == "read" else ("memory0", "nvme0")
        found = metric(open_design(fitted), "transfer", "rate", **{"from": ends[0], "to": ends[1]}, **asked)
        assert found == pytest.approx(rate, rel=1e-3)


def test_jobs_of_fio_that_differ_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "fio.json"
    jobs = [{"read": {"bw_bytes": 1e9}, "job options": {"bs": size}} for size in ("4k", "1M")]
    output.write_text(json.dumps({"jobs": jobs}))
    assert run(["calibrate", "hgx-h100-8", str(output), "--tool", "fio", "-o", str(tmp_path / "o.design.json")]) == 2
    assert "several sizes" in capsys.readouterr().err


@pytest.mark.parametrize("tool", ["nccl-tests", "nvbandwidth", "fio", "mlperf-storage", "tea-leaves"])
def test_outputs_of_nothing_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], tool: str) -> None:
    output = tmp_path / "empty.txt"
    output.write_text("nothing here\n")
    assert run(["calibrate", "hgx-h100-8", str(output), "--tool", tool, "-o", str(tmp_path / "o.design.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_example_of_the_accuracy_page_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).resolve().parents[3] / "docs" / "accuracy.md"
    example = page.read_text(encoding="utf-8").split("```json\n")[1].split("```")[0]
    path = tmp_path / "page.json"
    path.write_text(example)
    assert run(["validate", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["error"] < 0.2


def test_validate_draws_a_point_with_a_band_for_each_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = written(
        tmp_path, case(), case(id="b", group="other", value=20e9), case(id="c", metric="transfer_time", value="1 s")
    )
    picture, pixels = tmp_path / "cases.svg", tmp_path / "cases.png"
    assert run(["validate", cases, "--figure", str(picture)]) == 1
    drawn = picture.read_text("utf-8")
    # two cases and the keys of their two groups; the third has no prediction
    assert drawn.count('rx="3"') == 4
    assert "2 points" in drawn
    assert run(["validate", cases, "--figure", str(pixels)]) == 1
    assert pixels.read_bytes().startswith(b"\x89PNG")
    capsys.readouterr()


@pytest.mark.parametrize(("name", "stated"), [("cases.txt", ".svg or .png"), ("missing/cases.svg", "folder")])
def test_a_figure_that_cannot_be_written_is_refused_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, stated: str
) -> None:
    assert run(["validate", written(tmp_path, case()), "--figure", str(tmp_path / name)]) == 2
    out, problem = capsys.readouterr()
    assert stated in problem
    assert not out


def test_what_could_not_be_predicted_is_named_with_file_case_and_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {"kind": "collective", "settings": {"sizee": "1 GiB"}}
    cases = written(tmp_path, case(id="typo", workload=wrong, metric="bus_bandwidth"))
    assert run(["validate", cases]) == 2
    out, problem = capsys.readouterr()
    assert problem.startswith(
        f"designer: {cases}: cases[0] (typo): workload.settings: collective has no setting 'sizee'"
    )
    assert "did you mean size" in problem
    assert not out
    assert len(problem.splitlines()) == 1


def test_a_model_that_hardly_fits_is_predicted_but_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It ran, so a little too much is the fault of the estimate; far too much is another run."""
    tight = {"kind": "training", "settings": {"model": "llama-2-7b", "sharding": "optimizer", "micro_batch": 2}}
    tight["settings"]["recompute"] = "none"
    far = {"kind": "training", "settings": {"model": "llama-3-405b", "sharding": "none", "recompute": "none"}}
    asked = {"metric": "step_time", "value": "1 s", "design": "hgx-h100-8"}
    cases = written(tmp_path, case(id="tight", workload=tight, **asked), case(id="far", workload=far, **asked))
    assert run(["validate", cases, "--json"]) == 1
    out, problem = capsys.readouterr()
    assert [bool(c["predicted"]) for c in json.loads(out)["cases"]] == [True, False]
    assert [line.count("needs") for line in problem.splitlines()] == [1, 1]


def test_a_newer_file_of_measurements_is_reported_by_its_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "newer.json"
    path.write_text(json.dumps({"format": "designer-cases", "version": 2, "cases": [case()]}))
    assert run(["validate", str(path)]) == 2
    assert "version '2'" in capsys.readouterr().err

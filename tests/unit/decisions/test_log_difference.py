"""Two logs on two machines: what each cause explains, and the rest."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import pytest

import designer
from designer.analysis.study import analyze
from designer.cli.main import run as main
from designer.decisions.log_difference import Difference, explain
from designer.decisions.measured_logs import read_log
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.errors import ExchangeError
from designer.interchange.changes import apply_changes

GIB, MIB = 2**30, 2**20
#: all_reduce_perf of one server, GB/s: 8 × A100 (stas00/ml-engineering), 8 × H100 (AWS p5, awsome-distributed-training)
A100 = {64 * MIB: 171.54, 256 * MIB: 194.07, GIB: 229.04, 16 * GIB: 234.89}
H100 = {64 * MIB: 359.54, 256 * MIB: 418.91, GIB: 441.81, 16 * GIB: 483.05}


def _nccl(rows: Mapping[int, float], ranks: int = 8, collective: str = "all_reduce", each: int = 1) -> str:
    head = f"# {collective}_perf\n# nThread 1 nGpus {each} minBytes 8 maxBytes 8 graph: 0\n" + "".join(
        f"#  Rank {k} Group 0 Pid 1 on host device {k}\n" for k in range(ranks)
    )
    return head + "".join(
        f"{s:>13} {s // 4} float sum -1 1.0 {bus / 1.75:.2f} {bus:.2f} 0\n" for s, bus in rows.items()
    )


def _product(found: Difference) -> None:
    for one in found.sizes:
        product = math.prod(c.factor for c in one.causes)
        assert product == pytest.approx(one.predicted[1] / one.predicted[0], rel=2e-3)
        assert product * one.rest == pytest.approx(one.ratio, rel=2e-3)
        assert sum(c.share(one.ratio) for c in one.causes) + math.log(one.rest) / math.log(one.ratio) == pytest.approx(
            1.0, abs=5e-3
        )


def _slower_links(design: Design, rate: str) -> Design:
    links = [with_changes(x, bandwidth_per_direction=rate) if x.kind == "nvlink" else x for x in design.links.values()]
    return with_changes(design, links=links)


def test_one_machine_measured_twice_leaves_all_of_it_to_the_rest() -> None:
    design = designer.open_design("hgx-h100-8")
    half = {size: rate / 2 for size, rate in H100.items()}
    found = explain(read_log(_nccl(H100)), read_log(_nccl(half)), (design, design))
    assert [one.causes for one in found.sizes] == [(), (), ()]
    assert found.sizes[0].rest == pytest.approx(0.5, rel=1e-3)


def test_links_of_half_the_rate_halve_a_large_message() -> None:
    design = designer.open_design("hgx-h100-8")
    rows = {16 * GIB: 480.0}
    other = _slower_links(design, "12.5 GB/s")
    found = explain(read_log(_nccl(rows)), read_log(_nccl({16 * GIB: 240.0})), (design, other)).sizes[0]
    (cause,) = (c for c in found.causes if c.name == "Rate of a link between GPUs")
    assert (cause.a, cause.b) == ("25 GB/s", "12.5 GB/s")
    assert cause.factor == pytest.approx(0.5, rel=0.02)
    assert found.rest == pytest.approx(1.0, rel=0.02)


def test_a_pair_of_published_logs() -> None:
    designs = (designer.open_design("hgx-a100-8"), designer.open_design("hgx-h100-8"))
    found = explain(read_log(_nccl(A100)), read_log(_nccl(H100)), designs)
    _product(found)
    main_size = found.sizes[0]
    # 18 links instead of 12 are half as much again; the switch adds from Hopper on
    first, second = main_size.causes[:2]
    assert (first.name, first.a, first.b) == ("Links between GPUs, at each", "12", "18")
    assert first.factor == pytest.approx(1.5, rel=0.02)
    assert second.name == "Algorithm of the library"
    assert second.a.startswith("ring")
    assert second.b.startswith("nvls")
    assert main_size.is_within


def test_launch_and_least_time_of_a_call_explain_small_messages() -> None:
    """1 MiB: 8 A100 of one process take 102 us, 8 H100 28.6; by the line from 8 MiB an empty call takes 97.5 and 20.6.

    A100: 1.75 x 1 MiB / 18 GB/s = 101.9 us, x 8 MiB / 109.93 GB/s = 133.5 us, so 101.9 - 31.6 / 7 = 97.4 us.
    """
    a, h = {MIB: 18.0, 8 * MIB: 109.93}, {MIB: 64.24, 8 * MIB: 174.16}
    designs = (designer.open_design("hgx-a100-8"), designer.open_design("hgx-h100-8"))
    found = explain(read_log(_nccl(a, each=8)), read_log(_nccl(h)), designs)
    _product(found)
    large, small = found.sizes[0], found.sizes[-1]
    assert "Least time of a call, by its log" not in {c.name for c in large.causes}
    causes = {c.name: c for c in small.causes}
    assert causes["Launch of the kernels"].a == "one thread for all GPUs"
    least = causes["Least time of a call, by its log"]
    assert (least.a, least.b) == ("97.4 µs", "20.6 µs")
    assert small.ratio == pytest.approx(3.57, rel=0.01)
    assert small.rest == pytest.approx(1.13, abs=0.1)
    assert small.is_within


def test_how_a_log_was_launched_is_read() -> None:
    assert read_log(_nccl({MIB: 18.0})).launch == "eager"
    assert read_log(_nccl({MIB: 18.0}, each=8)).launch == "one-process"
    assert read_log(_nccl({MIB: 18.0}, each=8).replace("graph: 0", "graph: 10")).launch == "graph"


def test_ranks_are_a_cause_of_their_own() -> None:
    design = designer.open_design("hgx-a100-8")
    found = explain(read_log(_nccl({64 * MIB: 189.0}, 4)), read_log(_nccl({64 * MIB: 171.5})), (design, design))
    assert [c.name for c in found.sizes[0].causes] == ["Ranks"]
    _product(found)


def test_logs_without_a_common_size_have_the_size_as_a_cause() -> None:
    design = designer.open_design("hgx-a100-8")
    found = explain(read_log(_nccl({MIB: 18.0})), read_log(_nccl({GIB: 229.0})), (design, design))
    names = [c.name for c in found.sizes[0].causes]
    assert "Message size" in names
    _product(found)


def test_host_links_of_another_generation_explain_nvbandwidth() -> None:
    log = "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n 0     {0}     {0}\n\n"
    designs = (designer.open_design("hgx-a100-8"), designer.open_design("hgx-h100-8"))
    found = explain(read_log(log.replace("{0}", "24.5")), read_log(log.replace("{0}", "55.2")), designs).sizes[0]
    (cause,) = (c for c in found.causes if c.name == "Rate of a GPU's PCIe or C2C link")
    # PCIe 5 has twice the rate of PCIe 4
    assert cause.factor == pytest.approx(2.0, rel=0.05)


def test_the_bandwidth_sample_and_fio_are_read() -> None:
    sample = (
        " Host to Device Bandwidth, 1 Device(s)\n PINNED Memory Transfers\n"
        "   Transfer Size (Bytes)\tBandwidth(MB/s)\n   33554432\t\t\t12043.3\n"
    )
    log = read_log(sample)
    assert (log.tool, log.what, dict(log.points)) == ("bandwidthTest", "host to GPU", {33554432: 12043.3e6})
    fio = read_log(json.dumps({"jobs": [{"read": {"bw_bytes": 3e9}}, {"read": {"bw_bytes": 2e9}}]}))
    assert (fio.what, dict(fio.points)) == ("drive", {0: 5e9})


def _training(template: str, rate: str = "", **settings: object) -> Design:
    """Two servers that train Llama 2 7B over NICs of 400 Gb/s, or of the rate given."""
    design = apply_changes(designer.open_design(template), {"servers": 2}, "test")
    one = {"model": "llama-2-7b", "sharding": "parameters", "software": "fsdp", "micro_batch": 1, **settings}
    spec = WorkloadSpec.model_validate({"id": "t", "kind": "training", "settings": one})
    wirings = [with_changes(x, bandwidth_per_direction=rate) if rate else x for x in design.wirings.values()]
    return with_changes(design, workloads=[spec], default_workload="t", wirings=wirings, assertions=[])


def _steps(design: Design, factor: float = 1.0) -> str:
    """A log of Megatron-LM of what the design is estimated to do."""
    metrics = analyze(design, curves=False).workloads[0].metrics
    batch, rate = 64, metrics["samples_per_second"].value * factor
    line = (
        f"elapsed time per iteration (ms): {batch / rate * 1e3:.3f} | learning rate: 1 | global batch size: {batch:5d}"
    )
    return "\n".join(
        ["iteration 1 | elapsed time per iteration (ms): 90000.0 | global batch size: 64", line, line, line]
    )


def test_the_network_explains_two_trainings_on_two_servers() -> None:
    """The same machine with NICs of a twentieth: the cause is their rate, and 10 % less than estimated is the rest."""
    fast, slow = _training("dgx-h100"), _training("dgx-h100", "2.5 GB/s")
    found = explain(read_log(_steps(fast)), read_log(_steps(slow, 0.9)), (fast, slow)).sizes[0]
    assert found.ratio < 0.7
    (cause,) = found.causes
    assert (cause.name, cause.a, cause.b) == ("Rate of a NIC's port", "50 GB/s", "2.5 GB/s")
    assert cause.factor == pytest.approx(found.ratio / 0.9, rel=0.01)
    assert found.rest == pytest.approx(0.9, rel=0.01)


def test_settings_of_a_training_are_a_cause() -> None:
    usual, more = _training("dgx-h100"), _training("dgx-h100", micro_batch=2)
    found = explain(read_log(_steps(usual)), read_log(_steps(more)), (usual, more)).sizes[0]
    (cause,) = found.causes
    assert (cause.name, cause.a, cause.b) == ("Settings of the training", "micro_batch 1", "micro_batch 2")
    assert cause.factor > 1
    assert found.rest == pytest.approx(1, rel=1e-3)


def test_logs_of_trainings_are_read() -> None:
    mlperf = "".join(
        f':::MLLOG {{"key": "tracked_stats", "value": {{"throughput": {rate}}}, "metadata": {{}}}}\n'
        for rate in (1.0, 52.0, 50.0, 51.0)
    )
    assert (read_log(mlperf).tool, dict(read_log(mlperf).points)) == ("MLPerf", {0: 51.0})
    steps = ':::MLLOG {"key": "global_batch_size", "value": 128}\n' + "".join(
        f':::MLLOG {{"key": "tracked_stats", "value": {{"train_step_time": {s}, "throughput": 1}}}}\n'
        for s in (9.0, 0.5)
    )
    assert dict(read_log(steps).points) == {0: 256.0}
    assert read_log("{'train_runtime': 9, 'train_samples_per_second': 12.5}").points == {0: 12.5}
    tokens = read_log("step 1 tokens/s: 7.2e4\nstep 2 tokens/s: 8e4\n")
    assert (tokens.what, dict(tokens.points), tokens.unit) == ("training token", {0: 8e4}, "1/s")


def test_a_training_without_one_in_its_design_is_refused() -> None:
    log = read_log("samples_per_second: 12.5")
    design = with_changes(designer.open_design("dgx-h100"), workloads=[], default_workload="", assertions=[])
    with pytest.raises(ExchangeError, match="0 trainings"):
        explain(log, log, (design, design))


def test_logs_of_different_collectives_are_refused() -> None:
    design = designer.open_design("hgx-a100-8")
    with pytest.raises(ExchangeError, match="all-gather"):
        explain(read_log(_nccl({GIB: 229.0})), read_log(_nccl({GIB: 229.0}, collective="all_gather")), (design, design))


def test_more_ranks_than_accelerators_are_refused() -> None:
    design = designer.open_design("hgx-a100-8")
    with pytest.raises(ExchangeError, match="16 ranks"):
        explain(read_log(_nccl({GIB: 229.0}, 16)), read_log(_nccl({GIB: 229.0})), (design, design))


def test_the_command_answers_and_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, empty = tmp_path / "a.log", tmp_path / "b.log", tmp_path / "empty.log"
    a.write_text(_nccl(A100))
    b.write_text(_nccl(H100))
    empty.write_text("nothing here\n")
    machines = ["--topo", "hgx-a100-8", "--topo", "hgx-h100-8"]
    assert main(["explain", str(a), str(b), *machines, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["sizes"][0]["ratio"] == pytest.approx(483.05 / 234.89)
    assert {c["name"] for c in document["sizes"][0]["causes"]} >= {"Links between GPUs, at each"}
    assert main(["explain", str(a), str(b), *machines, "--all"]) == 0
    assert "Rest, not explained" in capsys.readouterr().out
    for wrong in ([str(a), str(b)], [str(a), str(empty), *machines], [str(a), str(tmp_path / "none"), *machines]):
        assert main(["explain", *wrong]) == 2
        assert "Traceback" not in capsys.readouterr().err

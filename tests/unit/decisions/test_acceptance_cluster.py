"""Acceptance of a cluster: scripts that run on tools of the tests, and a folder of results judged by place."""

from __future__ import annotations

import json
import shutil
import subprocess
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

from designer.analysis.study import analyze
from designer.cli.main import run
from designer.decisions.acceptance_cluster import STAGES, Cluster, Verdict, judge
from designer.decisions.acceptance_results import served_rate
from designer.design.document import Design
from designer.errors import FormatError
from designer.interchange.acceptance_scripts import expectations, scripts
from designer.interchange.generating import generate
from designer.interchange.templates import open_design
from designer.testing.formats import acceptance_junit

#: tools that print what the real ones print, at a rate that RATE scales
_TOOLS = {
    "nvbandwidth": """
name=$2
echo "Running $name."
case $name in
host_to_all*) echo "SUM host_to_all_memcpy_ce $(rate 400)"; exit;;
device_to_device*) for i in 0 1 2 3 4 5 6 7; do head="$head $i"; done; echo "$head"
  for i in 0 1 2 3 4 5 6 7; do line=$i; for j in 0 1 2 3 4 5 6 7; do
    if [ $i = $j ]; then line="$line N/A"; else line="$line $(rate 392)"; fi; done; echo "$line"; done; exit;;
esac
echo "  0 1 2 3 4 5 6 7"
r=$(rate 55.4)
echo "0 $r $r $r $r $r $r $r $r"
""",
    "cuda-stream": 'echo "Triad       $(rate 2850000)     0.1 0.1 0.1"\n',
    "all_reduce_perf": """
for i in 0 1 2 3 4 5 6 7; do echo "#  Rank  $i"; done
echo "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong"
r=$(rate ${BUS:-460})
echo "  $2  268435456  float  sum  -1  1000  10.0  $r  0  1000  10.0  $r  0"
""",
    "all_gather_perf": 'BUS=345 exec all_reduce_perf "$@"\n',
    "alltoall_perf": 'BUS=345 exec all_reduce_perf "$@"\n',
    "ib_write_bw": """
case "$*" in *"-D 10 "*) ;; *) exit 0;; esac
echo " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
echo " 1048576    100000           395.0            $(rate 388)          0.05"
""",
    "fio": """
for w in "$@"; do case $w in --name=*) name=${w#--name=};; esac; done
echo "$name: (g=0): rw=read"
echo "   READ: bw=6500MiB/s ($(rate 6900)MB/s), 6500MiB/s-6500MiB/s"
""",
    "gpu_burn": 'r=$(rate 400000); echo "100.0%  proc\'d: 1 ($r Gflop/s) - 1 ($r Gflop/s)"\n',
    "mpirun": 'shift 4; BUS=460 "$@"\n',
}
_RATE = """#!/bin/sh
rate() { awk -v r="$1" -v s="${RATE:-1}" 'BEGIN { printf "%.2f", r * s }'; }
"""


@pytest.fixture(scope="module")
def pod() -> Design:
    return generate("rail-optimized", {"nodes": "4", "unit": "4"}, {"server": "dgx-h100", "switch": "qm9700"})


@pytest.fixture(scope="module")
def cluster(pod: Design) -> Cluster:
    return Cluster(pod)


def _run(folder: Path, cluster: Cluster, slow: str = "", stages: str = "") -> subprocess.CompletedProcess[str]:
    """The scripts as they are written, with tools of the tests; SLOW matches the address and command of a slow run."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name, body in _TOOLS.items():
        (tools / name).write_text(f"{_RATE}{body}")
        (tools / name).chmod(0o755)
    reach = tools / "reach"
    reach.write_text(
        '#!/bin/sh\ncase "$1 $2" in ${SLOW:-never}) RATE=0.4;; esac\nexport RATE=${RATE:-1}\nexec sh -c "$2"\n'
    )
    reach.chmod(0o755)
    for name, text in scripts(cluster).items():
        (folder / name).write_text(text)
    usual = "/usr/bin:/bin"
    env = {"PATH": f"{tools}:{usual}", "SSH": str(reach), "RAIL_WAIT": "0", "SLOW": slow}
    return subprocess.run(
        ["sh", "run.sh", *stages.split()], cwd=folder, env=env, capture_output=True, text=True, timeout=240, check=False
    )


def _by_place(verdict: Verdict) -> set[str]:
    return {o.place for o in verdict.failed}


@pytest.mark.skipif(shutil.which("awk") is None, reason="the scripts need awk")
def test_a_sound_cluster_passes_every_stage(tmp_path: Path, cluster: Cluster) -> None:
    """Four nodes: three tests of eight GPUs each in stage 1, three pairs on eight rails, groups of two and four."""
    done = _run(tmp_path, cluster)
    assert done.returncode == 0, done.stderr
    assert "all stages ran" in done.stderr
    verdict = judge(cluster, tmp_path / "results")
    by_stage = {stage: [o for o in verdict.outcomes if o.stage == stage] for stage in STAGES}
    assert len(by_stage[1]) == 4 * 8 * 3
    assert {o.place for o in by_stage[3]} == {f"servers-{k}+servers-{k + 1}" for k in range(3)}
    assert len(by_stage[3]) == 3 * 8
    assert {o.place for o in by_stage[5]} == {"2-nodes", "4-nodes"}
    assert not verdict.unread
    assert not verdict.untested
    assert not verdict.failed, [(o.place, o.judged) for o in verdict.failed]


def test_a_rail_slow_with_both_neighbours_names_its_node(tmp_path: Path, cluster: Cluster) -> None:
    """mlx5_4 of the second node is slow to the first and to the third: its own cable, transceiver or port."""
    _run(tmp_path, cluster, "*servers-[01]*mlx5_4*", "3")
    verdict = judge(cluster, tmp_path / "results", (3,))
    assert _by_place(verdict) == {"servers-0+servers-1", "servers-1+servers-2"}
    assert {o.cause for o in verdict.failed} == {
        "mlx5_4 of servers-1 is slow to all it was tested with: its cable, transceiver or port"
    }


def test_a_rail_slow_everywhere_names_its_switch(tmp_path: Path, cluster: Cluster) -> None:
    _run(tmp_path, cluster, "*mlx5_4*", "3")
    verdict = judge(cluster, tmp_path / "results", (3,))
    assert len(verdict.failed) == 3
    assert all("leaf switch" in o.cause for o in verdict.failed)


def test_a_slow_node_has_the_cause_that_explains_it(tmp_path: Path, cluster: Cluster) -> None:
    """One GPU of the third node reads its memory at 40 %: the fault is of that GPU, in the words of that node."""
    _run(tmp_path, cluster, "servers-2*--device 5*", "1")
    verdict = judge(cluster, tmp_path / "results", (1,))
    assert _by_place(verdict) == {"servers-2"}
    assert len(verdict.failed) == 1
    assert "servers-2" in verdict.failed[0].cause
    assert "gpu5" in verdict.failed[0].cause


def test_nodes_without_results_are_named(tmp_path: Path, cluster: Cluster) -> None:
    _run(tmp_path, cluster, stages="1")
    shutil.rmtree(tmp_path / "results" / "devices" / "servers-3")
    (tmp_path / "results" / "devices" / "servers-0" / "hbm-gpu0.txt").write_text("killed")
    verdict = judge(cluster, tmp_path / "results", (1,))
    assert verdict.untested == ("devices: servers-3",)
    assert len(verdict.unread) == 1


def test_limits_are_those_of_the_promises(cluster: Cluster) -> None:
    rows = expectations(cluster)
    stated = json.loads(scripts(cluster)["limits.json"])
    assert len(stated["tests"]) == len(rows)
    assert {t["stage"] for t in stated["tests"]} == {name for name, _, _ in STAGES.values()} - {"serving"}
    assert all(t["limit"] <= t["expected"] for t in stated["tests"])
    assert stated["nodes"] == list(cluster.nodes)


def test_sheets_as_junit_and_as_a_report(
    tmp_path: Path, cluster: Cluster, pod: Design, capsys: pytest.CaptureFixture[str]
) -> None:
    from designer.interchange.native.writer import save

    _run(tmp_path, cluster, "servers-2*--device 5*", "1")
    verdict = judge(cluster, tmp_path / "results", (1,))
    tree = xml.fromstring(acceptance_junit(verdict, "pod"))
    assert (tree.get("tests"), tree.get("failures")) == (str(len(verdict.outcomes)), "1")
    assert len(tree.findall(".//failure")) == 1
    save(pod, tmp_path / "pod.design.json")
    words = ["accept", str(tmp_path / "pod.design.json"), "--folder", str(tmp_path / "results"), "--stage", "1"]
    assert run(words) == 1
    assert "FAIL" in capsys.readouterr().out
    for suffix in (".md", ".pdf", ".xml", ".html"):
        assert run([*words, "-o", str(tmp_path / f"sheet{suffix}")]) == 1
        assert (tmp_path / f"sheet{suffix}").stat().st_size > 500
    assert "servers-2" in (tmp_path / "sheet.md").read_text()
    assert run([*words, "-o", str(tmp_path / "sheet.md")]) == 2
    assert run([*words, "-o", str(tmp_path / "sheet.doc")]) == 2


def test_the_command_writes_scripts_that_a_shell_reads(tmp_path: Path) -> None:
    assert run(["accept", "su-h100-32", "--scripts", str(tmp_path / "s")]) == 0
    assert subprocess.run(["sh", "-n", str(tmp_path / "s" / "run.sh")], check=False).returncode == 0
    assert len((tmp_path / "s" / "hosts.txt").read_text().splitlines()) == 32
    assert run(["accept", "su-h100-32", "--scripts", str(tmp_path / "s")]) == 2
    assert run(["accept", "su-h100-32", "--stage", "1"]) == 2
    assert run(["accept", "su-h100-32", "--folder", str(tmp_path)]) == 2


_BENCH = """#!/bin/sh
cat <<END
============ Serving Benchmark Result ============
Successful requests:                     1600
Failed requests:                         0
Request throughput (req/s):              $SERVED
Output token throughput (tok/s):         3000.0
==================================================
END
"""


def _serve(folder: Path, served: Cluster, rate: float, model: str = "meta-llama/Llama-3-70B") -> Verdict | None:
    """What stage 7 makes of a benchmark that states a rate; None where it was not run."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "vllm").write_text(_BENCH)
    (tools / "vllm").chmod(0o755)
    for name, text in scripts(served).items():
        (folder / name).write_text(text.replace(":8000\n", f":8000 {model}\n") if name == "served.txt" else text)
    env = {"PATH": f"{tools}:/usr/bin:/bin", "SERVED": f"{rate:.3f}"}
    done = subprocess.run(
        ["sh", "run.sh", "7"], cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return judge(served, folder / "results", (7,)) if (folder / "results").exists() else None


@pytest.fixture(scope="module")
def served() -> Cluster:
    return Cluster(open_design("serving-h100-8"))


@pytest.mark.skipif(shutil.which("awk") is None, reason="the scripts need awk")
def test_a_served_model_is_held_to_the_most_it_can_answer(tmp_path: Path, served: Cluster) -> None:
    """Sent without a pause it answers what the drawing promises at most: that passes, three quarters of it do not."""
    promised = served.served["chat-70b"].estimate
    most = analyze(served.design, ["chat-70b"]).workloads[0].metrics["most_requests_per_second"]
    assert (promised.value, promised.low, promised.high) == pytest.approx((most.value, most.low, most.high))
    command = served.served["chat-70b"].trial.command
    assert "--random-input-len 2000 --random-output-len 256" in command
    assert "--request-rate inf --num-prompts 1600" in command, "12.6 a second over two minutes, in hundreds"
    for share, passes in ((1.0, True), (0.75, False), (0.5, False)):
        folder = tmp_path / f"{share}"
        folder.mkdir()
        verdict = _serve(folder, served, promised.value * share)
        assert verdict is not None
        (outcome,) = verdict.outcomes
        assert outcome.place == "chat-70b"
        assert outcome.judged.share == pytest.approx(share, rel=1e-3)
        assert outcome.passed is passes
        assert ("replicas" in outcome.cause) == (share == 0.5)


def test_a_model_without_a_name_is_not_tested(tmp_path: Path, served: Cluster) -> None:
    """The stage neither fails nor passes; failed requests are not a result."""
    assert _serve(tmp_path, served, 1.0, "") is None
    with pytest.raises(FormatError, match="3 requests failed"):
        served_rate("Failed requests:      3\nRequest throughput (req/s):     7.0\n")


def test_limits_for_superbench(cluster: Cluster) -> None:
    """SuperBench takes the variance of each metric of a rule from its baseline and flags what the criteria hold for:
    the same results as the limit of the test. Names as its runner makes them of the benchmarks of the configuration."""
    yaml = pytest.importorskip("yaml")
    files = scripts(cluster)
    baseline = json.loads(files["superbench-baseline.json"])
    run, rules = (yaml.safe_load(files[name])["superbench"] for name in ("superbench.yaml", "superbench-rules.yaml"))
    nodes = [e for _, place, e in expectations(cluster) if place == "each node"]
    rows = {(e.trial.sort, e.trial.parts[:2], e.trial.size): e for e in nodes}
    gpus = cluster.machine.gpus
    expected = {
        "nvbandwidth/host_to_device_memcpy_ce_cpu0_gpu3_bw": rows["h2d", (gpus[3],), 0],
        "nvbandwidth/device_to_device_memcpy_write_ce_gpu2_gpu5_bw": rows["d2d", (gpus[2], gpus[5]), 0],
        "nvbandwidth/host_to_all_memcpy_ce_sum_bw": rows["h2d_all", gpus[:2], 0],
        f"nccl-bw:allreduce/allreduce_{1 << 30}_busbw": rows["all_reduce", gpus[:2], 1 << 30],
        f"nccl-bw:alltoall/alltoall_{1 << 30}_busbw": rows["alltoall", gpus[:2], 1 << 30],
    }
    failed = rules["rules"].pop("failed")
    assert failed["metrics"] == [f"{name}/return_code" for name in run["benchmarks"]]
    judged = {metric: rule for rule in rules["rules"].values() for metric in rule["metrics"]}
    assert judged.keys() == baseline.keys()
    assert sum(len(rule["metrics"]) for rule in rules["rules"].values()) == len(baseline)
    assert {metric.partition("/")[0] for metric in baseline} == run["benchmarks"].keys()
    for metric, e in expected.items():
        assert baseline[metric] == pytest.approx(e.estimate.value / 1e9, rel=1e-5)
        flags = eval(judged[metric]["criteria"])
        for share, flagged in ((0.999, True), (1.001, False)):
            assert flags(share * e.limit / e.estimate.value - 1) is flagged, metric


@pytest.mark.parametrize(
    ("printed", "rate"),
    [
        (
            "Successful requests:           300       \nRequest throughput (req/s):              0.61      \n",
            0.61,
        ),
        ("Request throughput (req/s):              1.58\nInput token throughput (tok/s):          316.20\n", 1.58),
        ("Token Throughput (tokens/sec):\t1585.7480\nRequest Throughput (req/sec):\t0.7743\n", 0.7743),
        (
            "Output Token Throughput (per sec) │ 937.59 │ N/A │\n│  Request Throughput (per sec) │ 1,022.55 │   N/A │",
            1022.55,
        ),
        ("Output token throughput (per sec): 548.66\r\nRequest throughput (per sec): 15.80\r\n", 15.8),
    ],
)
def test_rates_as_tools_print_them(printed: str, rate: float) -> None:
    """vLLM 0.11, SGLang, trtllm-bench, and both layouts of genai-perf, as their users published them."""
    assert served_rate(printed) == rate
    with pytest.raises(FormatError, match="no request rate"):
        served_rate(printed.replace("equest", "oken"))


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not here")
def test_shellcheck_finds_nothing(tmp_path: Path, served: Cluster) -> None:
    for name, one in (("one", served), ("many", Cluster(open_design("su-h100-32")))):
        file = tmp_path / f"{name}.sh"
        file.write_text(scripts(one)["run.sh"])
        found = subprocess.run(["shellcheck", str(file)], capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stdout

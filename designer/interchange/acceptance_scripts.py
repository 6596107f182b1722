"""Scripts for the acceptance of a cluster: ``run.sh`` runs stages one after the other; hosts and limits are files."""

from __future__ import annotations

import csv
import io
import json
import shlex
from typing import Final

from designer.decisions.acceptance import Expected, Trial
from designer.decisions.acceptance_cluster import PAIR, STAGES, Cluster, device_name
from designer.errors import ExchangeError

#: name of the design next to the scripts
DESIGN: Final = "design.design.json"
#: collectives of SuperBench by sort of trial
_COLLECTIVES: Final = {"all_reduce": "allreduce", "all_gather": "allgather", "alltoall": "alltoall"}
_HEAD: Final = r"""#!/bin/sh
# Acceptance of {title}: {nodes} nodes. Written by designer.
# Usage: sh run.sh [STAGE ...]   stages: {stages}
# hosts.txt has a line a node: its name in the design and the address to reach it by; edit the addresses.
# Each stage is judged when designer is in PATH, and the script stops where a stage fails: repair, then run it again.
# Served models are tested where served.txt names them: a line a workload, its address and the name of its model.
# Results that exist are kept; delete the file of a test to repeat it. SSH names another way to reach a node.
set -u
cd "$(dirname "$0")" || exit 2
SSH=${{SSH:-ssh -o BatchMode=yes}}
MPIRUN=${{MPIRUN:-mpirun}}
AT_ONCE=${{AT_ONCE:-32}}
failed=0
on() {{ # stage place test address command
    out=results/$1/$2/$3.txt
    [ -s "$out" ] && return 0
    mkdir -p "results/$1/$2"
    {{ printf '# %s\n' "$5"; $SSH "$4" "$5"; }} </dev/null >"$out.part" 2>"$out.err"
    code=$?
    if [ $code -ne 0 ]; then echo "$1 $2 $3: exit code $code, see $out.err" >&2; fi
    mv "$out.part" "$out"
}}
every() {{ # stage test command: on all nodes, some at a time
    running=0
    while read -r name address; do
        [ -n "$name" ] || continue
        on "$1" "$name" "$2" "${{address:-$name}}" "$3" &
        running=$((running + 1))
        if [ $running -ge "$AT_ONCE" ]; then wait; running=0; fi
    done <hosts.txt
    wait
}}
pair() {{ # test device name address next-name next-address
    out=results/rails/$3{pair}$5/$1.txt
    [ -s "$out" ] && return 0
    $SSH "$6" "ib_write_bw -d $2 -q 4 -s 1048576 --report_gbits -D 10" </dev/null >/dev/null 2>&1 &
    server=$!
    sleep "${{RAIL_WAIT:-2}}"
    on rails "$3{pair}$5" "$1" "$4" "ib_write_bw -d $2 -q 4 -s 1048576 --report_gbits -D 10 $6"
    kill $server 2>/dev/null
    wait $server 2>/dev/null
}}
rail() {{ # test device: each node to the next, first from even lines, then from odd ones
    for parity in 0 1; do
        line=0 before='' before_at=''
        while read -r name address; do
            [ -n "$name" ] || continue
            address=${{address:-$name}}
            if [ -n "$before" ] && [ $((line % 2)) -ne $parity ]; then
                pair "$1" "$2" "$before" "$before_at" "$name" "$address" &
            fi
            before=$name before_at=$address line=$((line + 1))
        done <hosts.txt
        wait
    done
}}
group() {{ # nodes GPUs-a-node
    out=results/groups/$1-nodes/all_reduce.txt
    [ -s "$out" ] && return 0
    mkdir -p "results/groups/$1-nodes"
    hosts=$(head -n "$1" hosts.txt | awk '{{print ($2 == "" ? $1 : $2)}}' | paste -s -d , -)
    $MPIRUN -np "$1" -H "$hosts" all_reduce_perf -b {message} -e {message} -g "$2" -n 20 \
        </dev/null >"$out.part" 2>"$out.err"
    mv "$out.part" "$out"
}}
serve() {{ # workload url model command
    out=results/serving/$1/bench.txt
    [ -s "$out" ] && return 0
    if [ -z "$3" ]; then echo "serving $1: not tested, name its model in served.txt" >&2; return 0; fi
    mkdir -p "results/serving/$1"
    URL=$2 MODEL=$3 sh -c "$4" </dev/null >"$out.part" 2>"$out.err"
    code=$?
    if [ $code -ne 0 ]; then echo "serving $1: exit code $code, see $out.err" >&2; fi
    mv "$out.part" "$out"
}}
judged() {{ # number name
    [ -d "results/$2" ] || {{ echo "stage $1, $2: nothing to test" >&2; return 0; }}
    command -v designer >/dev/null 2>&1 || {{ echo "stage $1, $2: designer is not in PATH, not judged" >&2; return 0; }}
    designer accept {design} --folder results --stage "$1" || {{
        failed=$1
        echo "stage $1, $2, failed: repair, delete the results of what failed, and run: sh run.sh" >&2
    }}
}}
"""


def scripts(cluster: Cluster, limits: list[tuple[int, str, Expected]] | None = None) -> dict[str, str]:
    """The files by name: ``run.sh``, ``hosts.txt``, ``limits.csv``, ``limits.json`` and files of SuperBench.

    Designs that serve models have ``served.txt`` too, where their addresses and names are entered.

    Raises
    ------
    ExchangeError
        If a name of a node or device cannot be part of a path or a command.
    """
    for name in cluster.nodes:
        if name != shlex.quote(name) or "/" in name or PAIR in name:
            raise ExchangeError(f"{name[:60]!r} cannot be the name of a folder", remedy="give the nodes plain names")
    rows = expectations(cluster) if limits is None else limits
    first = cluster.nodes[0]
    served = {"served.txt": "".join(f"{w} http://{first}:8000\n" for w in cluster.served)} if cluster.served else {}
    return {
        **served,
        "run.sh": _run(cluster),
        "hosts.txt": "".join(f"{name} {name}\n" for name in cluster.nodes),
        "limits.csv": _csv(rows),
        "limits.json": _json(cluster, rows),
        **_superbench(cluster, rows),
    }


def expectations(cluster: Cluster) -> list[tuple[int, str, Expected]]:
    """All promises: stage, where they count, and what to expect."""
    found: list[tuple[int, str, Expected]] = []
    for stage, (name, _, _) in STAGES.items():
        if name == "groups":
            sized = ((n, cluster.group(n)) for n in cluster.sizes)
            found += [(stage, f"{n}-nodes", e) for n, e in sized if e is not None]
            continue
        if name == "serving":
            found += [(stage, workload, e) for workload, e in cluster.served.items()]
            continue
        place = "each node and the next" if name == "rails" else "each node"
        promised = (cluster.promises.of(trial) for trial in cluster.trials(stage))
        found += [(stage, place, e) for e in promised if e is not None]
    return found


def _run(cluster: Cluster) -> str:
    stages = " ".join(str(n) for n in STAGES)
    title = "".join(c if c.isprintable() else " " for c in cluster.design.title or cluster.design.name)
    head = _HEAD.format(title=title, nodes=len(cluster.nodes), stages=stages, pair=PAIR, message=1 << 30, design=DESIGN)
    lines = [head]
    for stage, (name, stated, _) in STAGES.items():
        lines += [f"stage_{stage}() {{ # {stated}", f"    echo 'stage {stage}, {name}: {stated}' >&2"]
        lines += [f"    {line}" for line in _stage(cluster, stage, name)] or ["    :"]
        lines += [f"    judged {stage} {name}", "}"]
    lines += [
        f"[ $# -gt 0 ] || set -- {stages}",
        'for stage in "$@"; do',
        '    "stage_$stage" || exit 2',
        "    [ $failed -eq 0 ] || exit 1",
        "done",
        'echo "all stages ran" >&2',
        "",
    ]
    return "\n".join(lines)


def _stage(cluster: Cluster, stage: int, name: str) -> list[str]:
    trials = cluster.trials(stage)
    if name == "rails":
        devices = dict.fromkeys(device_name(cluster.machine, t.parts[0]) for t in trials)
        return [f"rail {_word(f'ib_write_bw-{d}')} {_word(d)}" for d in devices]
    if name == "groups":
        each = len(cluster.machine.gpus)
        return [f"group {n} {each}" for n in cluster.sizes]
    if name == "serving":
        return [line for workload, e in cluster.served.items() for line in _served(workload, e)]
    if name == "long":
        return ["every long gpu_burn 'gpu_burn -tc 600'"] if trials else []
    found: dict[str, str] = {}
    for trial in trials:
        found.setdefault(_file(trial), trial.command)
    return [f"every {name} {_word(file)} {shlex.quote(command)}" for file, command in found.items()]


def _served(workload: str, expected: Expected) -> list[str]:
    """Read address and model of a served model, and load it."""
    word = _word(workload)
    return [
        f"url=$(awk '$1 == \"{workload}\" {{print $2}}' served.txt)",
        f"model=$(awk '$1 == \"{workload}\" {{print $3}}' served.txt)",
        "# shellcheck disable=SC2016 # the command expands URL and MODEL",
        f'serve {word} "$url" "$model" {shlex.quote(expected.trial.command)}',
    ]


def _file(trial: Trial) -> str:
    """The name of the file of a trial; those of one command share it."""
    if trial.tool == "nvbandwidth":
        return trial.command.rpartition(" ")[2]
    about = trial.parts[0].rpartition("/")[2] if trial.sort in ("hbm", "fio", "store") else ""
    size = f"-{trial.size}" if trial.size else ""
    return f"{trial.sort}{'-' if about else ''}{about}{size}"


def _word(text: str) -> str:
    quoted = shlex.quote(text)
    if "/" in text:
        raise ExchangeError(f"{text[:60]!r} cannot be the name of a file", remedy="give the devices plain names")
    return quoted


def _csv(rows: list[tuple[int, str, Expected]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("stage", "name", "place", "test", "tool", "unit", "expected", "low", "high", "limit", "command"))
    for stage, place, e in rows:
        writer.writerow((stage, STAGES[stage][0], place, e.trial.id, e.trial.tool, *_numbers(e), e.trial.command))
    return out.getvalue()


def _numbers(expected: Expected) -> tuple[str | float, ...]:
    e = expected.estimate
    return (e.unit, *(float(f"{v:.6g}") for v in (e.value, e.low, e.high, expected.limit)))


def _superbench(cluster: Cluster, rows: list[tuple[int, str, Expected]]) -> dict[str, str]:
    """Configuration of ``sb run`` for the tests of a node, with rules and baselines [GB/s] of ``sb result diagnosis``.

    Source: microsoft/superbenchmark 0.12 at 700d6501 (2026-04-23): docs/superbench-config, data-diagnosis and
    micro-benchmarks; names of metrics from runner.py, nvbandwidth.py and cuda_nccl_bw_performance.py.
    """
    baseline: dict[str, float] = {}
    rules: dict[tuple[str, float], list[str]] = {}
    cases: dict[str, list[str]] = {}
    for _, place, e in rows:
        named = _metric(cluster, e.trial) if place == "each node" else None
        if named is None:
            continue
        benchmark, case, metric = named
        cases[benchmark] = list(dict.fromkeys((*cases.get(benchmark, ()), case)))
        baseline[metric] = float(f"{e.estimate.value / 1e9:.6g}")
        rules.setdefault((benchmark, round(e.limit / e.estimate.value - 1, 4)), []).append(metric)
    if not baseline:
        return {}
    lines = ["version: v0.12", "superbench:", "  rules:", "    failed:", "      function: failure_check"]
    lines += ['      criteria: "lambda x: x>0"', "      categories: FailedTest"]
    lines += ["      metrics:", *(f"        - {benchmark}/return_code" for benchmark in cases)]
    for k, ((benchmark, below), metrics) in enumerate(rules.items(), 1):
        lines += [f"    limit{k}:", "      function: variance", f'      criteria: "lambda x: x<{below:.4f}"']
        lines += [f"      categories: {benchmark.partition(':')[0]}", "      metrics:"]
        lines += [f"        - {metric}" for metric in metrics]
    return {
        "superbench.yaml": _superbench_run(len(cluster.machine.gpus), cases),
        "superbench-baseline.json": json.dumps(baseline, indent=1) + "\n",
        "superbench-rules.yaml": "\n".join(lines) + "\n",
    }


def _metric(cluster: Cluster, trial: Trial) -> tuple[str, str, str] | None:
    """Benchmark of SuperBench, its test case or size, and the metric; None where it runs no such test."""
    gpus = cluster.machine.gpus
    numbers = [gpus.index(one) for one in trial.parts if one in gpus]
    if trial.tool == "nvbandwidth":
        case = trial.command.rpartition(" ")[2]
        ends = {1: "cpu0_gpu{0}", 2: "gpu{0}_gpu{1}"} if trial.sort != "h2d_all" else {}
        place = ends.get(len(numbers), "sum").format(*numbers)
        return "nvbandwidth", case, f"nvbandwidth/{case}_{place}_bw"
    name = _COLLECTIVES.get(trial.sort)
    if name is None:
        return None
    return f"nccl-bw:{name}", str(trial.size), f"nccl-bw:{name}/{name}_{trial.size}_busbw"


def _superbench_run(gpus: int, cases: dict[str, list[str]]) -> str:
    """The configuration of ``sb run``: each benchmark once on every node, in one process."""
    lines = ["version: v0.12", "superbench:", "  enable: null", "  benchmarks:"]
    for benchmark, which in cases.items():
        lines += [f"    {benchmark}:", "      enable: true", "      modes:", "        - name: local"]
        lines += ["          proc_num: 1", "          parallel: no", "      parameters:"]
        if benchmark == "nvbandwidth":
            lines += ["        test_cases:", *(f"          - {case}" for case in which)]
            continue
        sizes = sorted(int(size) for size in which)
        factor = 2 if len(sizes) > 1 else 1
        lines += [f"        operation: {benchmark.partition(':')[2]}", f"        ngpus: {gpus}", "        iters: 20"]
        lines += [f'        minbytes: "{sizes[0]}"', f'        maxbytes: "{sizes[-1]}"']
        lines += [f"        stepfactor: {factor}"] if factor > 1 else []
    return "\n".join(lines) + "\n"


def _json(cluster: Cluster, rows: list[tuple[int, str, Expected]]) -> str:
    """Limits for tools that validate clusters: one entry a test, rates in SI units."""
    heads = ("unit", "expected", "low", "high", "limit")
    tests = [
        {
            "stage": STAGES[stage][0],
            "place": place,
            "test": e.trial.id,
            "tool": e.trial.tool,
            **dict(zip(heads, _numbers(e), strict=True)),
            "sources": list(e.estimate.sources),
        }
        for stage, place, e in rows
    ]
    return json.dumps({"design": cluster.design.name, "nodes": list(cluster.nodes), "tests": tests}, indent=1) + "\n"

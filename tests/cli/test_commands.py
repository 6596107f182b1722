"""Every command: exit code, what it prints, the JSON that scripts rely on, names as people type them."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from designer.cli.commands.completion import candidates
from designer.cli.main import commands, run
from designer.design.document import Design, VirtualMachine, VmDevice, WorkloadSpec
from designer.design.ids import find_workload
from designer.errors import AnalysisError
from designer.interchange.native.writer import save
from designer.interchange.templates import find_template, open_design, template_ids
from designer.spelling import did_you_mean, known_name, near
from tests.cli.calling import call, process
from tests.unit.families.machines.machines import cluster, with_vms

# Every command: exit code, what it prints, and the JSON that scripts rely on.

pytestmark = pytest.mark.without_qt


PARTS = {
    "server",
    "cpu",
    "numa",
    "memory",
    "pcie_switch",
    "gpu",
    "nvswitch",
    "nic",
    "dpu",
    "switch",
    "storage",
    "drive",
}


LINKS = {"pcie", "nvlink", "xgmi", "upi", "infinity_fabric", "x_bus", "c2c", "memory_bus"} | {
    "ethernet",
    "infiniband",
    "fabric",
}


MATRIX = (
    "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV12\tPXB\t0-15\t0\nGPU1\tNV12\t X \tSYS\t16-31\t1\n"
    "NIC0\tPXB\tSYS\t X \t\t\n\nLegend:\n  X = Self\n\nNIC Legend:\n  NIC0: mlx5_0\n"
)


def asked(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> Any:
    found = call(capsys, *arguments, "--json")
    assert found.code == code, found.err
    return json.loads(found.out)


@pytest.mark.parametrize("name", commands())
def test_help_shows_an_example_that_names_the_command(capsys: pytest.CaptureFixture[str], name: str):
    found = call(capsys, name, "--help")
    assert found.code == 0
    assert f"example: designer {name}" in found.out


def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str]):
    found = call(capsys, "--help")
    assert found.code == 0
    assert all(f"  {name} " in found.out for name in commands())
    assert call(capsys, "--version").out.startswith("designer ")


def test_templates(capsys: pytest.CaptureFixture[str]):
    listed = asked(capsys, "templates")
    assert {"id", "title", "intent", "gpus", "servers"} <= set(listed[0])
    assert {"dgx-a100", "hgx-h100-8"} <= {t["id"] for t in listed}
    assert all(t["intent"] for t in listed)
    assert "dgx-a100" in call(capsys, "templates").out


def test_parts(capsys: pytest.CaptureFixture[str]):
    listed = asked(capsys, "parts", "h100")
    assert listed
    assert "h100" in json.dumps(listed).lower()
    assert call(capsys, "parts", "gpu/nvidia/h100-sxm5").code == 0


def test_new_summary_and_the_name_of_the_file(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    file = tmp_path / "mine.design.json"
    assert call(capsys, "new", "--template", "dgx-a100", "-o", file).code == 0
    again = call(capsys, "new", "--template", "dgx-a100", "-o", file)
    assert again.code == 2
    assert str(file) in again.message
    assert call(capsys, "new", "--template", "dgx-a100", "-o", file, "--force").code == 0
    summary = asked(capsys, "summary", file)
    assert summary["design"]["file"] == str(file)
    assert set(summary) >= {"design", "parts", "links", "groups", "workloads", "vms"}
    assert set(summary["parts"]) <= PARTS | {"rack"}
    assert set(summary["links"]) <= LINKS
    assert summary["parts"]["gpu"] == 8
    assert asked(capsys, "summary", "dgx-a100")["design"]["file"] is None


def test_new_is_the_same_to_the_byte(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    files = [tmp_path / f"{i}.design.json" for i in range(2)]
    for file in files:
        call(capsys, "new", "--template", "dgx2", "-o", file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_counts_multiply_replicas_and_bundles(capsys: pytest.CaptureFixture[str]):
    assert asked(capsys, "summary", "cluster-1024")["parts"]["gpu"] == 1024
    assert asked(capsys, "summary", "hgx-h100-8")["links"]["nvlink"] == 8 * 18


@pytest.mark.parametrize("template", ["hgx-h100-8", "dgx2", "su-h100-32", "gb200-nvl72"])
def test_analyze(capsys: pytest.CaptureFixture[str], template: str):
    found = asked(capsys, "analyze", template)
    design = open_design(template)
    assert set(found) >= {"design", "workloads", "channels", "findings"}
    assert [w["id"] for w in found["workloads"]] == list(design.workloads)
    channels = {c["id"]: c for c in found["channels"]}
    for channel in channels.values():
        assert set(channel) >= {"id", "from", "to", "kind", "capacity", "load", "utilization"}
        assert channel["kind"] in LINKS
        assert channel["load"] <= channel["capacity"] * (1 + 1e-9)
    for workload in found["workloads"]:
        assert workload["kind"] in {"training", "inference", "migration", "transfer", "collective"}
        for metric in workload["metrics"].values():
            assert set(metric) >= {"value", "unit", "low", "high", "sources"}
            assert metric["unit"] in {"B/s", "s", "1/s", "B", "1"}
            assert metric["low"] <= metric["value"] <= metric["high"]
        for bottleneck in workload["binding"]:
            assert set(bottleneck) >= {"what", "id", "label", "why", "gain_if_doubled"}
            assert bottleneck["what"] in {"channel", "part", "compute", "limit"}
            if bottleneck["what"] == "channel" and len(channels) == 2 * sum(1 for _ in found["channels"]) // 2:
                assert bottleneck["id"] in channels
        for flow in workload["flows"]:
            assert set(flow) >= {"id", "from", "to", "via", "rate", "unit", "bound_by"}
            assert flow["unit"] == "B/s"
    for finding in found["findings"]:
        assert set(finding) >= {"code", "severity", "text", "where", "remedy"}
        assert finding["severity"] in {"error", "warning", "info"}


def test_via_is_the_way_from_source_to_target(capsys: pytest.CaptureFixture[str]):
    found = asked(capsys, "analyze", "dgx-a100", "--workload", "h2d")
    ends = {c["id"]: (c["from"], c["to"]) for c in found["channels"]}
    for flow in found["workloads"][0]["flows"]:
        at = flow["from"]
        for channel in flow["via"]:
            assert ends[channel][0] == at
            at = ends[channel][1]
        assert at == flow["to"]
        assert set(flow["bound_by"]) <= set(flow["via"])


def test_analyze_for_people(capsys: pytest.CaptureFixture[str]):
    found = call(capsys, "analyze", "dgx-a100", "--workload", "h2d")
    assert found.code == 0
    assert "GB/s" in found.out
    assert "binding" in found.out
    assert "\x1b" not in found.out


def test_an_error_finding_is_exit_code_1(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """A GPU that cannot be reached: the others are answered, and the exit code tells."""
    file = tmp_path / "broken.design.json"
    call(capsys, "new", "--template", "dgx-a100", "-o", file)
    content = json.loads(file.read_text("utf-8"))
    design = content["design"]
    design["links"] = [k for k in design["links"] if "gpu3" not in (k["a"], k["b"])]
    file.write_text(json.dumps(content), "utf-8")
    found = call(capsys, "analyze", file, "--workload", "h2d", "--json")
    assert found.code == 1
    assert [f["where"] for f in json.loads(found.out)["findings"] if f["severity"] == "error"] == [["gpu3"]]


def test_assertions_that_do_not_hold_are_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """A promise far out of reach passed for one that was kept: exit code 0 and not a word."""
    file = tmp_path / "promised.design.json"
    call(capsys, "new", "--template", "dgx-a100", "-o", file)
    content = json.loads(file.read_text("utf-8"))
    promise = {"id": "fast", "workload": "h2d", "metric": "data_rate_per_gpu", "value": "500 GB/s"}
    content["design"]["assertions"] = [promise]
    file.write_text(json.dumps(content), "utf-8")
    found = call(capsys, "analyze", file, "--workload", "h2d", "--json")
    assert found.code == 1
    (error,) = (f for f in json.loads(found.out)["findings"] if f["severity"] == "error")
    assert error["where"] == ["fast"]
    assert error["code"] == "ASSERT-BROKEN"
    assert "expected >= 500 GB/s, got " in error["text"]


def test_import(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    dump, file = tmp_path / "topo.txt", tmp_path / "mine.design.json"
    dump.write_text(MATRIX, "utf-8")
    found = asked(capsys, "import", dump, "-o", file)
    assert found["parts"]["gpu"] == 2
    assert found["links"]["nvlink"] == 12
    assert {"code", "severity", "text", "where", "remedy"} <= set(found["findings"][0])
    assert asked(capsys, "summary", file)["parts"] == found["parts"]
    assert process("import", "-", "--json", stdin=MATRIX.encode()).code == 0


def test_self_check(capsys: pytest.CaptureFixture[str]):
    counts = asked(capsys, "self-check")
    assert all(n > 0 for n in counts.values())


def test_as_a_process():
    """The module and its exit code; JSON alone on stdout."""
    found = process("analyze", "hgx-h100-8", "--workload", "h2d", "--json")
    assert found.code == 0
    assert json.loads(found.out)["design"]["name"]
    assert found.err == ""


def test_nothing_is_said_when_the_reader_has_gone():
    import subprocess
    import sys

    from tests.cli.calling import CHECKOUT

    closed = subprocess.run(
        f"'{sys.executable}' -m designer analyze hgx-h100-8 --workload h2d --json | head -c 10",
        shell=True,
        cwd=CHECKOUT,
        capture_output=True,
        check=False,
    )
    assert closed.stderr == b""


def test_pictures_of_a_part_and_with_loads(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    plain, loaded, part = (tmp_path / f"{name}.svg" for name in ("plain", "loaded", "part"))
    assert call(capsys, "export", "dgx-a100", "--to", "svg", "-o", str(plain)).code == 0
    assert call(capsys, "export", "dgx-a100", "--to", "svg", "--workload", "h2d", "-o", str(loaded)).code == 0
    assert call(capsys, "export", "dgx-a100", "--to", "svg", "--only", "gpu0", "-o", str(part)).code == 0
    assert "GB/s" in loaded.read_text()
    assert "GPU 1" in plain.read_text()
    assert "GPU 1" not in part.read_text()
    for wrong in (["--only", "nobody"], ["--scale", "0"], ["--workload", "nothing"]):
        refused = tmp_path / "refused.svg"
        assert call(capsys, "export", "dgx-a100", "--to", "svg", *wrong, "-o", str(refused)).message
        assert not refused.exists()


def test_tidy_places_everything_and_changes_nothing_else(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    target = tmp_path / "tidy.design.json"
    assert call(capsys, "tidy", "dgx-a100", "-o", target).code == 0
    before, after = open_design("dgx-a100"), open_design(target)
    assert set(after.parts) == set(before.parts)
    assert after.links == before.links
    assert all(p.position is not None for p in after.parts.values())
    # twice tidied is once tidied
    again = tmp_path / "again.design.json"
    assert call(capsys, "tidy", target, "-o", again).code == 0
    assert open_design(again).parts == after.parts
    # a file that is there is not written over unasked; a part that is not there is named
    assert call(capsys, "tidy", "dgx-a100", "-o", target).code == 2
    refused = call(capsys, "tidy", "dgx-a100", "--inside", "nowhere", "-o", tmp_path / "x.design.json")
    assert "nowhere" in refused.message


def test_analyze_lists_at_most_so_many_channels(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(call(capsys, "analyze", "hgx-h100-8", "--workload", "h2d", "--json", "--channels", "3").out)
    whole = json.loads(call(capsys, "analyze", "hgx-h100-8", "--workload", "h2d", "--json").out)
    assert found["channels"] == whole["channels"][:3]
    assert {k: v for k, v in found.items() if k != "channels"} == {k: v for k, v in whole.items() if k != "channels"}


# The command line on designs with virtual machines.


def test_an_evacuation_is_reported_machine_by_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", "vsphere-cluster-4", "--workload", "evacuate"]) == 0
    out, err = capsys.readouterr()
    rows = {line.split("  ")[1].strip(): line for line in out.splitlines() if "ESXi host 1" in line}
    assert "14.2 s" in rows["Inference 0"]
    assert "alone" in rows["Inference 0"]
    assert "stays" in rows["Training 0"]
    assert "vMotion NIC → vMotion switch" in out
    assert "warning: MIG-STAYS: Training 0 cannot move" in err


def test_tables_are_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", "vsphere-cluster-4", "--workload", "evacuate", "--json"]) == 0
    workload = json.loads(capsys.readouterr().out)["workloads"][0]
    assert workload["kind"] == "migration"
    assert {"evacuation_time", "stun_time", "switchover_time", "transferred", "rate"} <= set(workload["metrics"])
    machines = workload["tables"]["machines"]
    names = [column["name"] for column in machines["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in machines["rows"]]
    assert {row["machine"]: row["to"] for row in rows} == {
        "Front end": "hosts[2]/server",
        "Inference 0": "hosts[2]/server",
        "Training 0": None,
    }


def test_the_summary_lists_machines_and_what_they_break(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = VirtualMachine(id="bad", host="hosts[0]/server", devices=(VmDevice(kind="vgpu", profile="7C"),))
    file = tmp_path / "bad.design.json"
    save(with_vms(cluster(), bad), file)
    assert run(["summary", str(file)]) == 0
    out, err = capsys.readouterr()
    assert "grid_a100d-80c" in out
    assert "VM-PROFILE: bad" in err
    assert run(["summary", str(file), "--json"]) == 0
    stated = json.loads(capsys.readouterr().out)
    assert stated["vms"] == 11
    assert len(stated["virtual_machines"]) == 11
    assert run(["analyze", str(file), "--workload", "h2d"]) == 1


def test_a_group_of_three_is_reported_and_a_wrong_machine_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    design = cluster()
    group = VirtualMachine(id="g", host="hosts[1]/server", devices=(VmDevice(kind="device_group", count=3),))
    file = tmp_path / "group.design.json"
    save(with_vms(design, group), file)
    assert run(["analyze", str(file), "--workload", "vmotion"]) == 1
    assert "no device group of 3 GPUs" in capsys.readouterr().err
    text = file.read_text().replace('"vms": "lab0"', '"vms": "lab9"')
    file.write_text(text)
    assert run(["analyze", str(file), "--workload", "vmotion"]) == 2
    assert "there is no virtual machine 'lab9'" in capsys.readouterr().err


# Names on the command line: letter case does not matter, a near name is suggested, and shells complete them.


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("anlyze", "hgx-h100-8"), "analyze"),
        (("hgx-h100-88",), "hgx-h100-8"),
        (("analyze", "hgx-h100-9"), "hgx-h100-8"),
        (("analyze", "hgx-h100-8", "--workload", "h2dd"), "h2d"),
        (("survive", "hgx-h100-8", "--workload", "resnet50"), "resnet-50"),
        (("simulate", "hgx-h100-8", "--workload", "resnet-5"), "resnet-50"),
        (("sweep", "hgx-h100-8", "--workload", "h2dd", "--vary", "policy.gpudirect=true,false"), "h2d"),
        (("analyze", "hgx-h100-8", "--set", "workloads.h2dd.to=gpu0"), "h2d"),
        (("analyze", "hgx-h100-8", "--set", "workloads.resnet-50.microbatch=4"), "micro_batch"),
        (("workloads", "traning"), "training"),
        (("new", "dgx-a10", "-o", "never.design.json"), "dgx-a100"),
        (("help", "anlyze"), "analyze"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_name_that_is_close_is_suggested(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], meant: str
) -> None:
    message = call(capsys, *arguments).message
    assert "did you mean" in message
    assert meant in message


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Analyze", "hgx-h100-8", "--json"), ("analyze", "hgx-h100-8", "--json")),
        (
            ("analyze", "HGX-H100-8", "--workload", "H2D", "--json"),
            ("analyze", "hgx-h100-8", "--workload", "h2d", "--json"),
        ),
        (("self_check", "--help"), ("self-check", "--help")),
        (("workloads", "Data-Loading"), ("workloads", "data_loading")),
        (("help",), ("--help",)),
        (("help", "analyze"), ("analyze", "--help")),
    ],
    ids=lambda words: " ".join(words),
)
def test_case_and_dashes_do_not_matter(
    capsys: pytest.CaptureFixture[str], one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    given, plain = call(capsys, *one), call(capsys, *other)
    assert given.code == plain.code == 0
    assert given.out == plain.out


def test_a_name_that_two_things_share_but_for_case_is_not_guessed() -> None:
    assert known_name("B", ["b", "c"]) == "b"
    assert known_name("b", ["b", "B"]) == "b"
    assert known_name("Ab", ["ab", "AB"]) is None
    design = Design(name="d", workloads={w: WorkloadSpec(id=w, kind="transfer") for w in ("ab", "AB")})
    with pytest.raises(AnalysisError, match="ab"):
        find_workload(design, "Ab")
    assert near("LLAMA", ["llama", "other"]) == ["llama"]
    assert did_you_mean("qqqq", ["llama"], "look it up") == "look it up"


def test_a_template_is_named_in_one_place(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    made = tmp_path / "mine.design.json"
    assert call(capsys, "new", "dgx-a100", "-o", made).code == 0
    assert made.read_bytes() == find_template("dgx-a100").read_bytes()
    again = tmp_path / "again.design.json"
    assert call(capsys, "new", "--template", "DGX-A100", "-o", again).code == 0
    assert again.read_bytes() == made.read_bytes()
    assert "no template" in call(capsys, "new", "-o", tmp_path / "x.design.json").message
    assert (
        "two templates"
        in call(capsys, "new", "dgx-a100", "--template", "dgx-h100", "-o", tmp_path / "x.design.json").message
    )


def test_what_the_last_word_may_become() -> None:
    assert candidates(["an"]) == ["analyze"]
    assert set(candidates([""])) == {*commands(), "gui"}
    assert candidates(["analyze", "hgx-h100-"]) == [t for t in template_ids() if t.startswith("hgx-h100-")]
    assert candidates(["analyze", "hgx-h100-8", "--workload", "h"]) == ["h2d"]
    assert candidates(["analyze", "--workload", "x", "hgx-h100-"]) == candidates(["analyze", "hgx-h100-"])
    assert candidates(["check", "--profile", ""]) == ["lab", "superpod", "vsphere"]
    assert candidates(["survive", "--pa"]) == ["--pairs"]
    assert candidates(["survive", "--pairs", ""]) == []
    assert candidates(["help", "surv"]) == ["survive"]
    assert candidates(["new", "--template", "dgx-a"]) == ["dgx-a100"]
    assert "training" in candidates(["workloads", "tr"])
    assert candidates(["no-such-command", ""]) == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes_with_the_script(tmp_path: Path, checkout: Path) -> None:
    program = tmp_path / "designer"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m designer "$@"\n')
    program.chmod(0o755)
    asked = "source <(designer completion bash); COMP_WORDS=(designer survive dgx-a); COMP_CWORD=2; _designer_complete"
    done = subprocess.run(
        ["bash", "-c", f'PATH="{tmp_path}:$PATH"; {asked}; printf "%s\\n" "${{COMPREPLY[@]}}"'],
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.split() == ["dgx-a100"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    found = call(capsys, "completion", shell)
    assert found.code == 0
    assert "designer completion candidates --" in found.out
    if shutil.which(shell) is not None:
        subprocess.run([shell, "-n", "/dev/stdin"], input=found.out, text=True, check=True, timeout=60)


@pytest.mark.parametrize("more", [(), ("--choose", "nodes=1"), ("--with", "dataset=c4-en")])
def test_a_proposal_without_a_limit_asks_for_one(capsys: pytest.CaptureFixture[str], more: tuple[str, ...]) -> None:
    message = call(capsys, "propose", "train", "--with", "model=llama-2-7b", *more).message
    assert "--within" in message or "--with dataset" in message
    message = call(capsys, "propose", "train", "--with", "model=llama-2-7b", "--within", "20 d").message
    assert "does not state how much is trained" in message
    assert "--with dataset=c4-en" in message


def test_a_table_for_programs_has_no_row_of_prose(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "bill.csv"
    found = call(capsys, "bom", "hgx-h100-8", "-o", out)
    rows = list(csv.reader(out.read_text("utf-8").splitlines()))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert "Empty cells are not stated by a source." in found.err


def test_type_checkers_find_that_the_package_is_typed(checkout: Path) -> None:
    assert (checkout / "designer" / "py.typed").is_file()

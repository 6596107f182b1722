"""Answers in a terminal: the answer first, at most thirty lines of 80 columns, a command to go on with."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from designer.__main__ import main
from designer.checks.analysing import analyze
from designer.cli.pages import command_text, has_colour, wrapped_command
from designer.interchange.templates import open_design
from designer.pages.workload import page_of
from tests.cli.calling import call
from tests.terminals import terminal_of

pytestmark = pytest.mark.without_qt

DECISIONS = [
    ["analyze", "hgx-h100-8", "--workload", "llama-2-7b-fsdp"],
    ["analyze", "serving-h100-8"],
    ["summary", "cluster-1024"],
    ["check", "vsphere-cluster-4"],
    ["suggest", "vsphere-cluster-4", "--workload", "evacuate"],
    ["suggest", "hgx-h100-8", "--workload", "h2d"],
    ["survive", "hgx-h100-8", "--workload", "h2d"],
    ["compare", "hgx-h100-8", "dgx-h200"],
    ["size", "serving-l40s-4", "--for", "chat-8b"],
    ["accept", "hgx-h100-8"],
    ["sweep", "hgx-h100-8", "--workload", "resnet-50", "--vary", "workloads.resnet-50.micro_batch=64..512*2"],
    ["simulate", "hgx-h100-8", "--workload", "h2d", "--until", "10 ms"],
]


@pytest.mark.parametrize("command", DECISIONS, ids=lambda command: "-".join(command[:2]))
def test_the_answer_comes_first_in_thirty_lines_of_80_columns(command: list[str]) -> None:
    with terminal_of(80) as terminal:
        assert main(command) == 0
    lines = terminal.getvalue().splitlines()
    assert 4 <= len(lines) <= 30
    assert [line for line in lines if len(line) > 80] == []
    # what was asked, a blank line, and the answer as a sentence
    head = lines.index("") + 1
    assert head <= 3
    paragraph = lines[head : lines.index("", head)]
    assert " ".join(" ".join(paragraph).split()).rstrip().endswith((".", "targets", "target"))
    assert not re.search(r"\b(alike|told|holds? it back|binding)\b", terminal.getvalue())
    assert "\x1b" not in terminal.getvalue(), "a stream without a descriptor takes no colours"


@pytest.mark.parametrize("command", DECISIONS[:1] + DECISIONS[3:4], ids=lambda command: command[0])
def test_a_pipe_gets_everything_and_no_page(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    piped = call(capsys, *command)
    with terminal_of(80) as terminal:
        main([*command, "--all"])
    assert "add --all" not in piped.out
    assert "What to do next" not in piped.out
    assert "What to do next" in terminal.getvalue()


def test_all_prints_the_page_and_behind_it_what_a_pipe_gets(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["survive", "hgx-h100-8", "--workload", "h2d"]
    piped = call(capsys, *command).out
    everything = call(capsys, *command, "--all").out
    assert everything.startswith("Single failures under")
    assert piped.splitlines()[0] in everything.splitlines()
    assert len(everything) > len(piped)


def test_sources_are_named_where_they_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with terminal_of(80) as terminal:
        main(["analyze", "hgx-h100-8", "--workload", "h2d", "--sources"])
    text = terminal.getvalue()
    assert re.search(r"^Sources$", text, re.MULTILINE)
    assert re.search(r"^   1  \w", text, re.MULTILINE)
    assert "assumed-spread" not in text


def test_the_json_knows_no_pages(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(call(capsys, "analyze", "hgx-h100-8", "--workload", "h2d", "--json").out)
    assert set(document) == {"design", "workloads", "channels", "findings"}
    assert set(document["workloads"][0]["binding"][0]) >= {"what", "id", "label", "why", "gain_if_doubled"}
    assert "share" not in document["workloads"][0]["binding"][0]


def test_a_workload_that_does_not_fit_says_what_fits(capsys: pytest.CaptureFixture[str]) -> None:
    change = "workloads.resnet-50-imagenet.global_batch=8192"
    with terminal_of(80) as terminal:
        assert main(["analyze", "m60-server", "--workload", "resnet-50-imagenet", "--set", change]) == 1
    text = terminal.getvalue()
    assert re.search(r"Does not fit: needs 803 GB per GPU of 8 GB\. Micro-batch 32 fits \(5\.54 GB\)\.", text)
    assert "Time to train" not in text, "no figure that would not hold"
    assert "--set workloads.resnet-50-imagenet.micro_batch=32" in text


def test_a_design_without_workloads_has_a_page(tmp_path: Path) -> None:
    file = tmp_path / "x.design.json"
    text = json.loads((Path("templates") / "hgx-h100-8.design.json").read_text("utf-8"))
    text["design"]["workloads"], text["design"]["assertions"] = [], []
    text["design"].pop("default_workload", None)
    file.write_text(json.dumps(text), "utf-8")
    with terminal_of(80) as terminal:
        assert main(["analyze", str(file)]) == 0
    assert "The design has no workload." in terminal.getvalue()


def test_no_color_and_streams_without_a_terminal_get_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shown(io.StringIO):
        def fileno(self) -> int:
            return 1

    monkeypatch.setattr("os.isatty", lambda _: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert has_colour(Shown())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not has_colour(Shown())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not has_colour(Shown())
    assert not has_colour(io.StringIO())


def test_a_command_of_several_lines_is_one_for_a_shell() -> None:
    words = ("sweep", "x.design.json", "--workload", "chat", "--vary", "workloads.chat.rate=2 1/s..14 1/s")
    lines = wrapped_command(words, 50, "    ")
    assert len(lines) > 1
    assert all(line.endswith(" \\") for line in lines[:-1])
    joined = " ".join(" ".join(line.removesuffix("\\").split()) for line in lines)
    assert joined == command_text(words)
    assert '"workloads.chat.rate=2 1/s..14 1/s"' in joined


def test_commands_of_what_to_change_make_it_fit() -> None:
    """Each change of the page of a workload that does not fit is a command that runs and whose workload fits."""
    import shlex

    command = ["analyze", "dgx-h100", "--workload", "llama-2-7b-fsdp"]
    with terminal_of(80) as terminal:
        assert main([*command, "--set", "workloads.llama-2-7b-fsdp.sharding=none"]) == 1
    text = terminal.getvalue().replace("\\\n", " ")
    assert "Sharding the optimizer (ZeRO-1) fits (72.0 GB)." in " ".join(text.split())
    commands = [shlex.split(line)[1:] for line in text.splitlines() if line.startswith("    designer ")]
    assert len(commands) >= 2
    for words in commands:
        with terminal_of(80) as terminal:
            assert main(words) == 0, words
        assert "Trains in" in terminal.getvalue()


def test_a_load_above_what_is_served_says_what_was_asked() -> None:
    change = "workloads.chat-8b.rate=60 1/s"
    with terminal_of(80) as terminal:
        assert main(["analyze", "serving-l40s-4", "--workload", "chat-8b", "--set", change]) == 1
    text = terminal.getvalue()
    assert re.search(r"Serves 3\d\.\d requests/s; you ask for 60\. Queues would grow without limit\.", text)
    assert re.search(r"Most requests .* asked: 60  not met", text)
    assert "no latency is given" in " ".join(text.split())


def test_commands_proposed_for_a_changed_design_repeat_the_change() -> None:
    change = ["--set", "gpu*.type=gpu/nvidia/h200-sxm"]
    with terminal_of(120) as terminal:
        main(["survive", "hgx-h100-8", "--workload", "h2d", *change])
    commands = [line for line in terminal.getvalue().splitlines() if "designer " in line]
    assert len(commands) == 2
    assert all('--set "gpu*.type=gpu/nvidia/h200-sxm" --workload h2d' in line for line in commands)


def test_a_failure_that_stops_a_workload_without_targets_misses_none() -> None:
    with terminal_of(80) as terminal:
        main(["survive", "hgx-h100-8", "--workload", "h2d"])
    assert "1 of 108 single failures stops it" in terminal.getvalue()
    assert "target" not in terminal.getvalue()


def test_a_simulation_says_what_a_rate_loses_and_repeats_its_times(tmp_path: Path) -> None:
    # 53,000 images a second of some 130 kB are 7 of the 444 GB/s
    command = ["simulate", "hgx-h100-8", "--workload", "resnet-50", "--workload", "h2d"]
    times = ["--until", "3 s", "--start", "h2d=1 s"]
    with terminal_of(120) as terminal:
        assert main([*command, *times]) == 0
    page = " ".join(terminal.getvalue().replace("\\\n", " ").split())
    assert "comes to 437 GB/s instead of 444 GB/s" in page
    assert "without slowing" not in page
    assert '--until "3 s" --start "h2d=1 s" --trace trace.json' in page
    with terminal_of(120) as terminal:
        assert main([*command, *times, "--trace", str(tmp_path / "step.json")]) == 0
    assert "--trace" not in terminal.getvalue()


def test_the_sweep_that_a_served_load_proposes_runs() -> None:
    design = open_design("serving-l40s-4")
    (result,) = analyze(design, ["chat-8b"], curves=False).workloads
    (command,) = [
        one.command for one in page_of(result, design, "serving-l40s-4").changes if one.command[:1] == ("sweep",)
    ]
    with terminal_of(80) as terminal:
        assert main(list(command)) == 0
    text = terminal.getvalue()
    said = " ".join(text.split())
    assert re.search(r"First token, p95: [\d.]+ ms at rate 3 requests/s, [\d.]+ ms at rate [\d.]+ requests/s\.", said)
    assert "The best of them" not in text, "no load that comes is the best"


def test_one_replica_is_not_each() -> None:
    with terminal_of(80) as terminal:
        assert main(["size", "serving-l40s-4", "--for", "chat-8b", "--with", "rate=1 1/s"]) == 0
    assert re.search(r"\b1 replica on 1 GPU\.", terminal.getvalue())


def test_two_failures_at_once_are_answered_on_the_page() -> None:
    with terminal_of(80) as terminal:
        assert main(["survive", "hgx-h100-8", "--workload", "h2d", "--pairs", "20"]) == 0
    page = " ".join(terminal.getvalue().split())
    assert "1 of 20 double failures stops it; 11% is lost on average. The worst: " in page
    assert "Two at a time" not in page, "it was asked already"


def test_a_check_names_parts_as_its_full_list_does() -> None:
    with terminal_of(120) as terminal:
        assert main(["check", "sm-4029gp-trt3"]) == 0
    assert "The GPUs below PCIe switch 0 and PCIe switch 1 can take 4.0 times" in terminal.getvalue()
    assert "psw" not in terminal.getvalue()


def test_the_largest_shares_are_kept_where_room_is_short() -> None:
    """38.2 + 29.0 ms of 68.5 ms leave 1.2 ms, more than the 0.1 ms of the network."""
    with terminal_of(80) as terminal:
        assert main(["analyze", "su-h100-32", "--workload", "resnet-50"]) == 0
    text = terminal.getvalue()
    assert re.search(r"Other +1\.\d\d ms +2%", text)
    assert not re.search(r" 0%", text)


def test_an_import_keeps_to_the_width_of_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\t0-47\t0\nGPU1\tNV18\t X \t48-95\t1\n"
    (tmp_path / "topo.txt").write_text(matrix)
    monkeypatch.chdir(tmp_path)
    with terminal_of(60) as terminal:
        assert main(["import", "topo.txt"]) == 0
    assert [line for line in terminal.getvalue().splitlines() if len(line) > 60] == []
    assert "The file holds 2 CPUs, 2 GPUs" in terminal.getvalue()


def test_a_simulation_too_short_for_a_figure_says_so_in_words() -> None:
    with terminal_of(120) as terminal:
        main(["simulate", "vsphere-cluster-4", "--workload", "evacuate", "--workload", "h2d", "--until", "60 s"])
    page = " ".join(terminal.getvalue().split())
    assert "Evacuation time of evacuate not known after 60 s." in page
    assert "evacuation_time" not in page


def test_a_comparison_names_parts_as_the_design_they_are_in() -> None:
    with terminal_of(120) as terminal:
        assert main(["compare", "dgx1-v100", "dgx2"]) == 0
    assert "moved from GPU 0 → GPU 1 (NVLink) to GPU 0 → NVSwitch 0" in " ".join(terminal.getvalue().split())


def test_a_command_of_two_designs_takes_changes() -> None:
    with terminal_of(80) as terminal:
        assert main(["compare", "hgx-h100-8", "--set", "links.*--gpu*.lanes=8"]) == 0
    assert "as it is and changed" in " ".join(terminal.getvalue().split())


def test_an_import_and_a_summary_name_products_and_speeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slurm.conf").write_text("SwitchName=leaf0 Nodes=n[0-3]\nSwitchName=leaf1 Nodes=n[4-7]\n")
    with terminal_of(80) as terminal:
        main(["import", "slurm.conf", "-o", "machine.design.json"])
        main(["summary", "hgx-h100-8"])
    text = terminal.getvalue()
    # a network without a workload is checked, not analyzed
    assert "designer check machine.design.json" in text
    assert "designer analyze machine.design.json" not in text
    assert re.search(r"Fabric links +100 Gb/s +8\n", text)
    assert re.search(r"GPU +NVIDIA H100 SXM5 80 GB +8\n", text)
    assert re.search(r"PCIe links +Gen5 x16 +26\n", text)


def test_a_comparison_begins_with_the_workload_that_gains_most() -> None:
    with terminal_of(80) as terminal:
        main(["compare", "hgx-h100-8", "hgx-h200-8"])
    first = terminal.getvalue().partition("──\n")[2].splitlines()[0]
    assert first.split()[0] == "ResNet-50"

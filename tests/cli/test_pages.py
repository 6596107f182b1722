"""Answers in a terminal: the answer first, lines of 80 columns, and commands to go on with that run when pasted."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from functools import cache
from pathlib import Path

import pytest

import designer
from designer.__main__ import main
from designer.checks.analysing import analyze
from designer.cli.pages import command_text, has_colour, wrapped_command
from designer.decisions.suggest import suggest
from designer.interchange.templates import open_design
from designer.pages.suggest import page_of_suggestions
from designer.pages.workload import page_of
from designer.report.assembly import compose_report
from designer.report.settings import Chosen, Settings
from tests.cli.calling import call
from tests.cli.next_commands import page_of as printed
from tests.cli.next_commands import proposed
from tests.terminals import Terminal, terminal_of

# Answers in a terminal: the answer first, at most thirty lines of 80 columns, a command to go on with.

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
    answer = " ".join(terminal.getvalue().split())
    # both halves of the machine are one row
    assert "1 of 108 single failures stops it: HGX H100 8-GPU (Delta-Next). 73 cost nothing." in answer
    assert "GPU GPU 0 12% 8 1" in answer
    assert "GPU 4" not in answer
    assert "target" not in answer


def test_an_answer_states_the_change_that_helps_or_that_none_does() -> None:
    """A ninth drive of nine adds an eighth; nothing helps a copy over sixteen full PCIe links."""
    with terminal_of(80) as terminal:
        main(["analyze", "hgx-h100-8", "--workload", "storage-to-gpus"])
        main(["analyze", "hgx-h100-8", "--workload", "h2d"])
    drives, copies = terminal.getvalue().split("Host memory to all GPUs")
    assert "54.8 GB/s → 61.7 GB/s, +12%" in " ".join(drives.split())
    assert "No single change to parts, links or routes helps." in copies
    assert "designer suggest" not in copies


def test_an_overview_states_how_sure_each_answer_is_and_what_is_next() -> None:
    with terminal_of(80) as terminal:
        main(["analyze", "hgx-h100-8"])
    answer = " ".join(terminal.getvalue().split())
    assert "80% band 282–504 GB/s. Twice as fast: +8%, then memory of the CPU." in answer
    assert len(terminal.getvalue().splitlines()) <= 30


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
    assert "moved from SSD 0 → CPU 0 (PCIe) to Drive 0 (media)" in " ".join(terminal.getvalue().split())


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


# What a page proposes to do next runs when it is pasted into a shell.

#: pages, of which each proposes at least one command
ASKED = [
    ["analyze", "hgx-h100-8"],
    ["analyze", "hgx-h100-8", "--workload", "resnet-50"],
    ["analyze", "serving-l40s-4", "--workload", "chat-8b"],
    ["analyze", "vsphere-cluster-4", "--workload", "evacuate"],
    ["check", "vsphere-cluster-4"],
    ["suggest", "hgx-h100-8", "--workload", "h2d"],
    ["size", "serving-l40s-4", "--for", "chat-8b"],
    ["survive", "hgx-h100-8", "--workload", "h2d"],
    ["compare", "hgx-h100-8", "hgx-h200-8"],
    ["accept", "hgx-h100-4"],
    ["bom", "dgx-h100"],
    ["sweep", "hgx-h100-8", "--workload", "resnet-50", "--vary", "workloads.resnet-50.micro_batch=64..256*2"],
    ["simulate", "hgx-h100-8", "--workload", "h2d", "--until", "10 ms"],
    ["summary", "hgx-h100-4"],
    ["templates"],
    ["parts", "gpu"],
]


@pytest.mark.parametrize("command", ASKED, ids=lambda command: "-".join(command[:2]))
def test_proposed_commands_run_as_pasted(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, text = printed(command)
    assert code in (0, 1)
    asked = proposed(text)
    assert asked, text
    for again in asked:
        if again[-1] == "-":
            continue  # it waits for what is pasted into it
        # 1 is an answer: findings that are errors, tests that fail
        assert printed(again)[0] in (0, 1), (again, capfd.readouterr().err)


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "hgx-h100-8", "hgx-h200-8", "--workload", "resnet-50"],
        ["size", "serving-l40s-4", "--workload", "chat-8b"],
        ["report", "hgx-h100-8", "--workload", "h2d", "-o", "one.md"],
    ],
    ids=lambda command: command[0],
)
def test_a_workload_is_chosen_in_the_same_way_everywhere(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, text = printed(command)
    assert code == 0
    said = text + (Path("one.md").read_text("utf-8") if command[0] == "report" else "")
    assert "Llama 2 7B" not in said
    assert printed([*command, "--workload", "nobody"])[0] == 2
    assert "nobody" in capfd.readouterr().err


# What newcomers stumbled on: answers that contradicted each other, named ids, or ran off the terminal.

#: ids, and words that point at one part instead of saying which are meant
IDS = re.compile(r"[a-z]+_[a-z]+|\b(gpu|nic|psw|nvme|nfs|storage)\d*\b(?! of)|such as|\blike\b")


TOPOLOGY = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\t0-47\t0\nGPU1\tNV18\t X \t48-95\t1\n"


def page(*command: str, columns: int = 80) -> str:
    with terminal_of(columns) as terminal:
        main(list(command))
    return terminal.getvalue()


@cache
def split_size() -> str:
    """What is sized of a split engine, on one line."""
    return " ".join(page("size", "serving-split-2-racks", "--for", "split-70b").split())


def test_a_split_engine_is_sized_as_split_on_all_it_was_drawn_with() -> None:
    """Two racks of two servers with eight GPUs: 32 are drawn. Pods are prompts and answers of their own."""
    shown = split_size()
    assert "32 are drawn" in shown
    assert "pod: prompts on" in shown
    assert "--set workloads.split-70b.prompt_tensor=" in shown


def test_a_size_that_is_split_uses_the_gpus_it_names() -> None:
    """Engines times their width, of both sides, times pods, are the GPUs of the headline."""
    shown = split_size()
    found = re.search(
        r"need (\d+) GPUs; .* (\d+) pods?.* prompts on (\d+) × (\d+) GPUs?, answers on (\d+) × (\d+)", shown
    )
    assert found is not None, shown
    gpus, pods, prompts, wide, answers, width = map(int, found.groups())
    assert gpus == pods * (prompts * wide + answers * width)


@pytest.mark.parametrize("template", ["su-h100-32", "serving-h100-8", "vsphere-cluster-4", "cluster-1024"])
def test_changes_are_named_without_ids(template: str) -> None:
    design = open_design(template)
    for workload in design.workloads:
        titles = [change.title for change in page_of_suggestions(suggest(design, workload), design).changes]
        for title in titles:
            assert not re.search(
                r"[a-z]+_[a-z]+|\b(gpu|nic|psw|nvme|nfs|storage)\d*\b(?! of)|such as|\blike\b", title
            ), title


@pytest.mark.parametrize("step", ["undo", "page"])
def test_a_swap_of_accelerators_names_them(step: str) -> None:
    found = suggest(open_design("serving-h100-8"), "chat-70b")
    titles = [found.steps[1].edit.label if step == "undo" else found.steps[1].edits[0].words]
    assert titles[0].lower() == "replace 8 gpus by nvidia h200 sxm5 141 gb"


def test_a_bill_without_a_file_is_a_page_and_rows_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    shown = page("bom", "su-h100-32")
    assert len(shown.splitlines()) <= 30
    assert "designer bom su-h100-32 -o bom.xlsx" in shown
    piped = call(capsys, "bom", "su-h100-32")
    assert piped.code == 0
    rows = list(csv.DictReader(io.StringIO(piped.out)))
    assert next(row["Count"] for row in rows if row["Part"] == "gpu/nvidia/h100-sxm5") == "256"


def test_a_bill_counts_units_and_cables_apart() -> None:
    """Thirty-two servers and nineteen others; what is inside a server is not counted again."""
    found = re.search(r"(\d+) units and (\d+) cables are ordered", page("bom", "su-h100-32"))
    assert found is not None
    design = open_design("su-h100-32")
    assert int(found[1]) < 100 < designer.to_networkx(design).number_of_nodes()
    assert int(found[2]) == 640


@pytest.mark.parametrize(
    "command", ["templates", "parts", "parts gpu", "parts gpu/nvidia/h100-sxm5", "import topo.txt"]
)
def test_lists_keep_to_thirty_lines(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "topo.txt").write_text(TOPOLOGY)
    monkeypatch.chdir(tmp_path)
    lines = page(*command.split()).splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    assert len(page(*command.split(), "--all").splitlines()) > len(lines)


def test_acceptance_names_no_file_that_is_not_there() -> None:
    shown = page("accept", "hgx-h100-8")
    assert "--results -" in shown
    assert "results.txt" not in shown


def test_messages_are_broken_to_the_width_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal_of(80):
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        assert main(["size", "serving-h100-8"]) == 2
        monkeypatch.undo()
    lines = stream.getvalue().splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 80


def test_a_refusal_to_propose_is_said_once(capfd: pytest.CaptureFixture[str]) -> None:
    goal = [
        "propose",
        "train",
        "--with",
        "model=llama-2-7b",
        "--with",
        "dataset=c4-en",
        "--within",
        "1 h",
        "--power",
        "2 kW",
    ]
    with terminal_of(120) as terminal:
        assert main(goal) == 1
    said = " ".join((terminal.getvalue() + capfd.readouterr().err).split())
    assert said.count("whatever else is given up; time to train") == 1


def test_a_simulation_says_what_its_latencies_are_taken_from() -> None:
    """Six requests a second for a minute are about 360, less those under way at its end."""
    shown = " ".join(page("simulate", "serving-h100-8", "--workload", "chat-70b", "--until", "60 s").split())
    found = re.search(r"those of (\d+) requests that all replicas answered within 60 s; analyze gives", shown)
    assert found is not None, shown
    assert 290 <= int(found[1]) <= 360


def test_a_report_of_served_models_judges_their_limits() -> None:
    """Both deployments ask for a rate and a first token: four targets, and no chapter says that none is set."""
    settings = Settings(chosen=Chosen(chapters=("requirements",)))
    report = compose_report([open_design("serving-h100-8")], settings)
    chapter = next(c for c in report.chapters if c.key == "requirements")
    assert chapter.title.startswith("Four targets of 4 are met")
    assert not any("No target" in c.title for c in report.chapters)


def test_failures_name_cables_by_what_they_join() -> None:
    shown = " ".join(page("survive", "vsphere-cluster-4", "--workload", "evacuate", columns=160).split())
    assert "ESXi host 1, vMotion NIC – vMotion switch" in shown
    assert "vmotion_network" not in shown
    assert "Training 0 cannot restart" in shown

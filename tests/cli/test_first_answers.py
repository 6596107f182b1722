"""What newcomers stumbled on: answers that contradicted each other, named ids, or ran off the terminal."""

from __future__ import annotations

import csv
import io
import re
import sys
from pathlib import Path

import pytest

import designer
from designer.__main__ import main
from designer.decisions.suggest import suggest
from designer.interchange.templates import open_design
from designer.pages.suggest import page_of_suggestions
from designer.report.assembly import compose_report
from tests.cli.calling import call
from tests.terminals import Terminal, terminal_of

pytestmark = pytest.mark.without_qt

#: ids, and words that point at one part instead of saying which are meant
IDS = re.compile(r"[a-z]+_[a-z]+|\b(gpu|nic|psw|nvme|nfs|storage)\d*\b(?! of)|such as|\blike\b")
TOPOLOGY = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\t0-47\t0\nGPU1\tNV18\t X \t48-95\t1\n"


def page(*command: str, columns: int = 80) -> str:
    with terminal_of(columns) as terminal:
        main(list(command))
    return terminal.getvalue()


def test_a_split_engine_is_sized_as_split_on_all_it_was_drawn_with() -> None:
    """Two racks of two servers with eight GPUs: 32 are drawn. Pods are prompts and answers of their own."""
    shown = " ".join(page("size", "serving-split-2-racks", "--for", "split-70b").split())
    assert "32 are drawn" in shown
    assert "pod: prompts on" in shown
    assert "--set workloads.split-70b.prompt_tensor=" in shown


def test_a_size_that_is_split_uses_the_gpus_it_names() -> None:
    """Engines times their width, of both sides, times pods, are the GPUs of the headline."""
    shown = " ".join(page("size", "serving-split-2-racks", "--for", "split-70b").split())
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
    report = compose_report([open_design("serving-h100-8")])
    chapter = next(c for c in report.chapters if c.key == "requirements")
    assert chapter.title.startswith("Four targets of 4 are met")
    assert not any("No target" in c.title for c in report.chapters)


def test_failures_name_cables_by_what_they_join() -> None:
    shown = " ".join(page("survive", "vsphere-cluster-4", "--workload", "evacuate", columns=160).split())
    assert "ESXi host 1, vMotion NIC – vMotion switch" in shown
    assert "vmotion_network" not in shown
    assert "Training 0 cannot restart" in shown

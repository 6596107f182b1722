"""What a page proposes to do next runs when it is pasted into a shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.next_commands import page_of, proposed

pytestmark = pytest.mark.without_qt

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
    code, text = page_of(command)
    assert code in (0, 1)
    asked = proposed(text)
    assert asked, text
    for again in asked:
        if again[-1] == "-":
            continue  # it waits for what is pasted into it
        # 1 is an answer: findings that are errors, tests that fail
        assert page_of(again)[0] in (0, 1), (again, capfd.readouterr().err)


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
    code, text = page_of(command)
    assert code == 0
    said = text + (Path("one.md").read_text("utf-8") if command[0] == "report" else "")
    assert "Llama 2 7B" not in said
    assert page_of([*command, "--workload", "nobody"])[0] == 2
    assert "nobody" in capfd.readouterr().err

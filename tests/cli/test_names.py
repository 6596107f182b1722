"""Names on the command line: letter case does not matter, a near name is suggested, and shells complete them."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from designer.cli.commands.completion import candidates
from designer.cli.main import commands
from designer.design.document import Design, WorkloadSpec
from designer.design.ids import find_workload
from designer.errors import AnalysisError
from designer.interchange.templates import find_template, template_ids
from designer.spelling import did_you_mean, known_name, near
from tests.cli.calling import call

pytestmark = pytest.mark.without_qt


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

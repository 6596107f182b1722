"""Files of tests that cannot be read: one message each with file, place and remedy, and no green artefact."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from designer.__main__ import main

HEAD = 'format = "designer-checks"\nversion = 1\ndesign = "m40-server"\n'
GOOD = "[[check]]\nexpect = 'count(\"gpu\") == 1'\n"


def written(folder: Path, text: str | bytes) -> str:
    """A file of tests."""
    file = folder / "made.checks.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(file)


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ('format = "designer-checks\n', "this is no TOML", 1),
        (b"\xff\xfe\x00", "save it as UTF-8", 1),
        (HEAD.replace("version = 1", "version = 2") + GOOD, "newer than this program", 1),
        (HEAD.replace("m40-server", "away.design.json") + GOOD, "its design 'away.design.json' does not exist", 1),
        (HEAD.replace("m40-server", "no-such") + GOOD, "no file and no template 'no-such'", 1),
        (GOOD, "its design 'made.design.json' does not exist next to it", 1),
        (f"{HEAD}[[check]]\nexpct = '1'\n", "'expct' is not known", 4),
        (f'{HEAD}[snapshot]\ntolerance = "a lot"\n', 'write for example "0.1 %"', 1),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_of_every_artefact(
    text: str | bytes, said: str, line: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = written(tmp_path, text), tmp_path / "results.xml"
    assert main(["test", file, "--junit", str(out), "--github"]) == 2
    stated = capsys.readouterr()
    message = next(row for row in stated.err.splitlines() if said in row)
    assert message.startswith(f"designer: {file}: ")
    assert " — " in message
    assert f"::error file={Path(file).as_posix()},line={line},title=the file::" in stated.out
    assert "1 test: 0 held, 0 broken, 1 not worked out" in stated.out
    suites = ElementTree.fromstring(out.read_bytes())
    assert (suites.get("tests"), suites.get("failures"), suites.get("errors")) == ("1", "0", "1")
    assert len(suites.findall("testsuite/testcase/error")) == 1
    assert main(["test", file, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["errors"] == 1


def test_a_tier_that_is_not_there_is_not_proposed_for_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, f"{HEAD}[[check]]\nexpect = 'survives(any leaf).h2d.slowdown <= 1.1'\n")
    assert main(["test", file]) == 2
    stated = capsys.readouterr().out
    assert "the design has no tier 'leaf'" in stated
    assert "did you mean leaf" not in stated


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have names on other systems")
@pytest.mark.parametrize(
    "command",
    [
        ["test", "PIPE"],
        ["accept", "m40-server", "--results", "PIPE"],
        ["suggest", "m40-server", "--prices", "PIPE"],
        ["analyze", "m40-server", "--workload-file", "PIPE"],
    ],
)
def test_a_pipe_nobody_writes_to_is_not_waited_for(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "pipe.checks.toml"
    os.mkfifo(pipe)
    assert main([str(pipe) if word == "PIPE" else word for word in command]) == 2
    assert str(pipe) in capsys.readouterr().err

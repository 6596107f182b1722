"""Checks and waivers from the command line, as a script calls them, with their exit codes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import designer
from designer.__main__ import main
from designer.cli.output import finding_dict
from designer.design.document import Assertion
from designer.design.edits.assertions import AddAssertions
from designer.interchange.native.writer import save
from designer.interchange.templates import open_design
from tests.cli.calling import call

# ``designer check`` and ``designer test`` as a script calls them, with their exit codes.

CASES = Path(__file__).parents[1] / "rules"


pytestmark = pytest.mark.without_qt


def called(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main([str(a) for a in arguments]))
    out, err = capsys.readouterr()
    code = ended.value.code
    return (code if isinstance(code, int) else 0), out, err


CHECKS = """
format = "designer-checks"
version = 1
design = "hgx-h100-8"

[[check]]
name = "fed"
expect = 'rate("memory -> gpu[*]") >= 30 GB/s each'

[[check]]
name = "fed fast"
expect = 'rate("memory -> gpu[*]") >= 300 GB/s each'
note = "does not hold"

[[check]]
name = "fed fast without GPUs"
expect = 'count("gpu") == 8 and h2d.rate >= 1 GB/s'
set = { "policy.gpudirect" = false }
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    file = tmp_path / "machine.checks.toml"
    file.write_text(CHECKS, "utf-8")
    return file


def test_a_check_finds_the_same_whichever_way_the_design_was_changed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    # four PCIe switches and a storage NIC of 16 lanes each fill the 80 lanes of cpu0: 5 × 16 = 80
    change = "links.cpu0--psw0.lanes=17"
    design = designer.edit(designer.open_design("hgx-h100-8"), set=[change])
    file = tmp_path / "wide.design.json"
    save(design, file)
    by_file = called(capsys, "check", file, "--json")
    by_set = called(capsys, "check", "hgx-h100-8", "--set", change, "--json")
    by_python = [finding_dict(f) for f in designer.check(design)]
    assert (by_file[0], by_set[0]) == (1, 1)
    assert json.loads(by_file[1])["findings"] == json.loads(by_set[1])["findings"] == by_python
    assert [(f["code"], f["where"]) for f in by_python if f["severity"] == "error"] == [("DOC-PORTS", ["cpu0"])]
    assert "need 81 PCIe lanes, it has 80" in str(by_python)
    # and what was wrong with the file is gone once it is corrected for the run
    assert called(capsys, "check", file, "--set", "links.cpu0--psw0.lanes=16")[0] == 0
    assert called(capsys, "analyze", file, "--workload", "h2d", "--set", "links.cpu0--psw0.lanes=16")[0] == 0
    assert called(capsys, "analyze", "hgx-h100-8", "--workload", "h2d", "--set", change)[0] == 1


def test_rules_are_reported_with_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = called(capsys, "check", CASES / "MEM001" / "fail.design.json")
    assert (code, "MEM001" in out) == (0, True), "a warning fails nothing"
    code, out, _ = called(capsys, "check", CASES / "PWR001" / "fail.design.json", "--json")
    stated = json.loads(out)
    assert code == 1
    assert stated["findings"][0]["code"] == "PWR001"
    assert set(stated["findings"][0]) == {"code", "severity", "text", "where", "remedy"}
    assert stated["profile"] == "lab"
    assert called(capsys, "check", "dgx-a100")[0] == 0
    assert called(capsys, "check", "no-such-design")[0] == 2


def test_the_page_of_a_rule_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = called(capsys, "check", "--rule", "net002")
    assert code == 0
    assert out.startswith("NET002: ")
    code, _, err = called(capsys, "check", "--rule", "NET999")
    assert code == 2
    assert "NET002" in err


def test_tests_are_reported_with_what_binds_and_exit_codes(capsys: pytest.CaptureFixture[str], suite: Path) -> None:
    code, out, _ = called(capsys, "test", suite)
    assert code == 1
    assert "held    fed:" in out
    for stated in (
        "BROKEN  fed fast:",
        "expected: >= 300 GB/s each",
        "got: ",
        "band: ",
        "binds: ",
        "3 tests: 2 held, 1 broken",
    ):
        assert stated in out
    code, out, _ = called(capsys, "test", suite, "--json")
    stated = json.loads(out)
    assert (code, stated["held"], stated["broken"], stated["errors"]) == (1, 2, 1, 0)
    assert stated["tests"][1]["line"] == 12


def test_a_mistake_in_a_test_is_reported_with_its_place(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "machine.checks.toml"
    file.write_text('design = "hgx-h100-8"\n[[check]]\nexpect = "h2d.rate >= 400 G"\n', "utf-8")
    code, out, _ = called(capsys, "test", file)
    assert code == 2
    assert "column 13" in out
    assert "bits or bytes" in out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[check]]\nexpect = 3", "needs what it expects"),
        ("check = 3", "no list"),
        ("strange = 1", "not known"),
        ("[[check]]\nexpect = '1 == 1'\nexpected = 2", "not known"),
        ("this is no toml", "no TOML"),
        ("design = 3", "no text"),
        ('format = "other"', "no file of design tests"),
        ("set = 3", "no table"),
        ("snapshot = 3", "no table"),
        ('[[check]]\nname = "a"\nexpect = "1 == 1"\n[[check]]\nname = "a"\nexpect = "1 == 1"', "two tests"),
        ('set = { "gpu99.power_per_part" = "3 W" }', "no part"),
    ],
)
def test_a_bad_file_is_one_message(capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "bad.checks.toml"
    file.write_text(text if "design" in text else f'design = "hgx-h100-8"\n{text}', "utf-8")
    code, _, err = called(capsys, "test", file)
    assert code == 2
    assert said in err
    assert "Traceback" not in err


def test_what_is_not_there_is_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert called(capsys, "test", tmp_path / "none.checks.toml")[0] == 2
    assert called(capsys, "test", tmp_path)[0] == 2
    assert called(capsys, "test", "dgx-a100")[0] == 2


def test_new_tests_hold_and_break_with_the_design(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.checks.toml"
    code, _, error = called(capsys, "test", "hgx-h100-8", "--new", tmp_path / "mine.toml")
    assert code == 2
    assert ".checks.toml" in error
    assert called(capsys, "test", "hgx-h100-8", "--new", file)[0] == 0
    low = designer.analyze(open_design("hgx-h100-8"), "all-reduce").workloads[0].metrics["bus_bandwidth"].low
    assert f'bus_bandwidth("all-reduce") >= {low / 1e9:.3g} GB/s' in file.read_text("utf-8")
    assert called(capsys, "test", file)[0] == 0
    assert called(capsys, "test", file, "--set", "links.cpu*--psw*.lanes=4")[0] == 1
    # what is there is kept
    assert called(capsys, "test", "hgx-h100-8", "--new", file)[0] == 2


def test_reports_for_machines(capsys: pytest.CaptureFixture[str], suite: Path, tmp_path: Path) -> None:
    out_file = tmp_path / "results.xml"
    code, out, _ = called(capsys, "test", suite, "--junit", out_file, "--github")
    assert code == 1
    root = ET.parse(out_file).getroot()
    assert (root.tag, root.get("tests"), root.get("failures"), root.get("errors")) == ("testsuites", "3", "1", "0")
    (failure,) = root.iter("failure")
    assert "expected >= 300 GB/s each" in str(failure.get("message"))
    (line,) = [line for line in out.splitlines() if line.startswith("::error ")]
    assert f"file={suite.as_posix()},line=12,title=hgx-h100-8%3A fed fast::" in line


def test_snapshots_see_what_moves(capsys: pytest.CaptureFixture[str], suite: Path) -> None:
    suite.write_text('design = "hgx-h100-8"\n[snapshot]\nworkloads = ["h2d"]\n', "utf-8")
    assert called(capsys, "test", suite)[0] == 2, "there is none yet"
    assert called(capsys, "test", suite, "--update")[0] == 0
    assert called(capsys, "test", suite)[0] == 0
    code, out, _ = called(capsys, "test", suite, "--set", "workloads.h2d.to=gpu0")
    assert code == 1
    assert "rate " in out
    assert "→" in out


def test_assertions_in_a_design_decide_the_exit_code(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "m.design.json"
    good = Assertion(id="fast", workload="h2d", metric="rate", comparison=">=", value="1 GB/s")
    save(AddAssertions((good,)).apply(open_design("hgx-h100-8")), file)
    assert called(capsys, "analyze", file, "--workload", "h2d")[0] == 0
    assert called(capsys, "test", file)[0] == 0
    bad = Assertion(id="faster", expression='rate("memory -> gpu[*]") >= 1 TB/s each')
    save(AddAssertions((good, bad)).apply(open_design("hgx-h100-8")), file, overwrite=True)
    code, _, err = called(capsys, "analyze", file, "--workload", "h2d")
    assert code == 1
    assert "ASSERT-BROKEN" in err
    assert called(capsys, "test", file.parent)[0] == 1


@pytest.mark.parametrize("command", ["analyze", "check", "summary", "simulate"])
def test_every_command_takes_overrides(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, _, err = called(capsys, command, "hgx-h100-8", "--set", "gpu99.power_per_part=3 W")
    assert code == 2
    assert "gpu99" in err
    code, _, err = called(capsys, command, "hgx-h100-8", "--workload-file", "no-such-file.toml")
    assert code == 2
    assert "no-such-file.toml" in err


def test_overrides_and_workload_files_change_one_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def rate(*more: str) -> float:
        code, out, err = called(capsys, "analyze", "hgx-h100-8", "--json", "--workload", "mine", *more)
        assert code == 0, err
        return json.loads(out)["workloads"][0]["metrics"]["rate"]["value"]

    file = tmp_path / "mine.toml"
    file.write_text('kind = "transfer"\n[settings]\nfrom = "memory"\nto = "gpu0"\n', "utf-8")
    plain = rate("--workload-file", str(file))
    # one GPU on Gen5 x16: at most 63 GB/s; at Gen4 half of it
    assert 40e9 < plain <= 63.1e9
    gen4 = rate("--workload-file", str(file), "--set", "links.*gpu0.generation=4")
    assert gen4 == pytest.approx(plain / 2, rel=0.1)
    both = rate("--workload-file", str(file), "--set", "workloads.mine.to=gpu0,gpu1")
    assert both > 1.5 * plain


# Findings accepted from the command line, and machines imported without what names them.

FAIL = Path(__file__).parents[1] / "rules" / "MEM001" / "fail.design.json"


WORDS = ("--reason", "data comes over GPUDirect", "--author", "the architect")


@pytest.fixture
def design(tmp_path: Path) -> Path:
    made = tmp_path / "mine.design.json"
    made.write_bytes(FAIL.read_bytes())
    return made


def codes(capsys: pytest.CaptureFixture[str], design: Path) -> tuple[list[str], list[str]]:
    stated = json.loads(call(capsys, "check", design, "--json").out)
    return [f["code"] for f in stated["findings"]], [w["code"] for w in stated["waived"]]


def test_a_finding_is_accepted_and_stands_again(capsys: pytest.CaptureFixture[str], design: Path) -> None:
    stand, waived = codes(capsys, design)
    assert "MEM001" in stand
    assert waived == []
    assert call(capsys, "waive", design, "mem001", *WORDS, "--expires", "2100-01-31").code == 0
    stand, waived = codes(capsys, design)
    assert "MEM001" not in stand
    assert waived == ["MEM001"]
    (waiver,) = json.loads(design.read_text("utf-8"))["design"]["waivers"]
    assert call(capsys, "waive", design, waiver["id"], "--remove").code == 0
    assert codes(capsys, design)[1] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("MEM001",), "needs a reason and an author"),
        (("NOPE1", *WORDS), "no rule 'NOPE1'"),
        (("MEM001", *WORDS, "--expires", "soon"), "expires"),
        (("w", "--remove"), "no waiver 'w'"),
    ],
)
def test_what_is_missing_is_said(
    capsys: pytest.CaptureFixture[str], design: Path, arguments: tuple[str, ...], said: str
) -> None:
    before = design.read_bytes()
    found = call(capsys, "waive", design, *arguments)
    assert found.code == 2
    assert said in found.err
    assert design.read_bytes() == before


def test_a_template_is_changed_into_a_new_file_only(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert call(capsys, "waive", "hgx-h100-8", "MEM001", *WORDS).code == 2
    out = tmp_path / "new.design.json"
    assert call(capsys, "waive", "hgx-h100-8", "MEM001", *WORDS, "-o", out).code == 0
    assert call(capsys, "waive", "hgx-h100-8", "MEM001", *WORDS, "-o", out).code == 2


def test_an_import_can_leave_out_what_names_a_machine(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    dump = tmp_path / "system.xml"
    dump.write_text(
        '<system version="1"><cpu host_hash="0xabc0000000000001" numaid="0" arch="x86_64">'
        '<pci busid="0000:12:00.0" class="0x020700" vendor="0x15b3" device="0x1021"><nic>'
        '<net name="mlx5_0" dev="0" speed="400000" port="1" guid="0x02aa000000000001"/></nic></pci></cpu></system>'
    )
    named, plain = tmp_path / "named.design.json", tmp_path / "plain.design.json"
    assert call(capsys, "import", dump, "-o", named).code == 0
    assert call(capsys, "import", dump, "-o", plain, "--anonymous").code == 0
    assert "02aa000000000001" in named.read_text("utf-8")
    assert "02aa000000000001" not in plain.read_text("utf-8")

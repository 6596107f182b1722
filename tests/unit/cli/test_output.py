"""What people read on a terminal: tables whose prose wraps, sources stated once."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import designer
from designer.__main__ import main
from designer.cli.main import run
from designer.cli.output import as_json, paragraph, table

pytestmark = pytest.mark.without_qt


def test_prose_goes_on_below_itself() -> None:
    stated = table(("what", "why", "n"), [("a", "word " * 30, "1"), ("b", "short", "22")], right=(2,))
    lines = stated.splitlines()
    assert max(map(len, lines)) < 100
    assert stated.split().count("word") == 30
    starts = {line.index("word") for line in lines if "word" in line}
    assert starts == {lines[0].index("why")}
    assert lines[-1].endswith("22")


def test_what_has_no_blanks_stays_whole() -> None:
    assert "x" * 200 in table(("what",), [("x" * 200,)])


def test_a_paragraph_hangs() -> None:
    lines = paragraph("from a: ", ", ".join(f"source-{k}" for k in range(40))).splitlines()
    assert len(lines) > 1
    assert {line.index("source") for line in lines} == {8}


def test_each_set_of_sources_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", "hgx-h100-8", "--workload", "llama-2-7b-fsdp"]) == 0
    stated = capsys.readouterr().out
    marks = [line.split()[1] for line in stated.splitlines() if line.startswith("  from ")]
    assert marks == ["a:", "b:", "c:", "d:", "e:"]
    assert stated.count("collectives-fit") < 4
    assert max(map(len, stated.splitlines())) < 140


def test_metrics_name_only_what_they_rest_on() -> None:
    study = designer.analyze(designer.open_design("hgx-h100-8"), ["llama-2-7b-fsdp"])
    found = study.workloads[0].metrics
    assert "nccl-tuning" not in found["memory_per_gpu"].sources
    assert "zero-2020" in found["memory_per_gpu"].sources
    assert "collectives-fit" in found["communication_time"].sources
    assert not set(found["compute_time"].sources) & {"collectives-fit", "nfs-rdma"}
    for metric in found.values():
        assert metric.sources
        assert set(metric.sources) <= set(found["step_time"].sources)


def test_the_name_of_a_kind_lists_its_parts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["parts", "storage"]) == 0
    listed = capsys.readouterr().out
    assert "storage/generic/nfs-nconnect" in listed
    assert "gpu/" not in listed


def test_machines_are_listed_with_the_ids_that_settings_ask_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["summary", "vsphere-cluster-4"]) == 0
    assert any(line.split()[:2] == ["infer0", "Inference"] for line in capsys.readouterr().out.splitlines())


#: what JSON can hold, and what it cannot
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
DOCUMENTS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=24,
)


def finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list) else value


@given(DOCUMENTS | st.lists(st.dictionaries(st.text(max_size=2), LEAVES, max_size=3)), st.booleans())
def test_json_reads_as_that_of_the_standard_library(document: Any, ascii_only: bool) -> None:
    assert as_json(document, ascii_only=ascii_only) == json.dumps(finite(document), ensure_ascii=ascii_only, indent=1)


@pytest.mark.parametrize(("lanes", "stated"), [(8, True), (16, False)])
def test_a_gain_says_when_it_is_of_the_slowest_flow(
    lanes: int, stated: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One GPU of four at half its lanes: twice as wide its copy takes half the time, and all four together gain 1/7."""
    design = designer.edit(designer.open_design("hgx-a100-4"), set=[f"links.cpu0--gpu0.lanes={lanes}"])
    file = tmp_path / "one.design.json"
    designer.save_design(design, file)
    assert main(["analyze", str(file), "--workload", "h2d"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "twice as wide" in words
    assert ("2.00× for the slowest flow" in words) == stated

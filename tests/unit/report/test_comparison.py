"""Several designs in one report: which is better at what, said by bands, and none added to the other."""

from __future__ import annotations

import datetime

import pytest

import designer
from designer.design.document import Design
from designer.report.assembly import compose_report
from designer.report.document import Report, Table
from designer.report.renderers.html import to_html
from designer.report.settings import Chosen, Settings
from designer.report.wording import continued, sentence, spelled

pytestmark = pytest.mark.without_qt


def server(generation: int) -> Design:
    design = Design(name=f"gen{generation}", title=f"Server, Gen{generation}")
    parts = [
        {"id": "cpu0", "type": "cpu/intel/xeon-spr"},
        {"id": "memory0", "type": "memory/generic/ddr5-4800-8ch"},
        {"id": "gpu0", "type": "gpu/nvidia/h100-pcie"},
    ]
    links = [
        {"a": "cpu0", "b": "memory0", "kind": "memory_bus"},
        {"a": "cpu0", "b": "gpu0", "kind": "pcie", "generation": generation, "lanes": 16},
    ]
    design = designer.edit(design, {"add": {"parts": parts, "links": links}})
    return designer.with_workload(design, "h2d", "transfer", "Memory to the GPU", **{"from": "memory", "to": "gpus"})


def report(*designs: Design) -> Report:
    chosen = Settings(chosen=Chosen(chapters=("comparison",)))
    return compose_report(list(designs), chosen, date=datetime.date(2026, 11, 22))


def test_the_faster_one_is_named_with_its_factor() -> None:
    """x16 of Gen5 carries 32 GT/s a lane, of Gen3 8: about four times as much, with bands that do not meet."""
    found = report(server(3), server(5))
    slow, fast = (designer.analyze(server(g), ["h2d"]).workloads[0].metrics["rate"] for g in (3, 5))
    factor = fast.value / slow.value
    assert 3.5 < factor < 5
    chapter = next(c for c in found.chapters if c.key == "comparison")
    assert chapter.title.startswith(f"Design B is {factor:.2f}× as good as design A at Memory to the GPU")
    assert found.summary.title == chapter.title
    table = next(b for b in chapter.blocks if isinstance(b, Table))
    assert "better" in to_html(found)
    assert [h.title for h in table.heads][2::2][:2] == ["A", "B"]


def test_turned_round_the_same_one_wins() -> None:
    stated = report(server(5), server(3)).summary.title
    assert stated.startswith("Design A is ")
    assert stated.endswith("as good as design B at Memory to the GPU")


def test_a_design_beside_itself_is_told_to_be_the_same() -> None:
    found = report(server(4), server(4))
    assert "give the same answers" in found.summary.title
    assert "their costs are not compared" in to_html(found)


def test_of_three_the_best_is_named() -> None:
    assert report(server(3), server(5), server(4)).summary.title == "Design B is best at 1 of 1\u00a0workload"


def test_one_design_has_no_such_chapter() -> None:
    assert all(c.key != "comparison" for c in report(server(4)).chapters)


def test_names_keep_the_letters_they_are_written_with() -> None:
    assert sentence("vMotion switch") == "vMotion switch"
    assert sentence("nvme0 is slow") == "nvme0 is slow"
    assert sentence("storage NIC") == "Storage NIC"
    assert continued("NVSwitch is full") == "NVSwitch is full"
    assert continued("Twice the rate") == "twice the rate"
    assert spelled("vmotion switch") == "vMotion switch"

"""Words of pages: plurals, and parts of imported machines that have no names of their own."""

from __future__ import annotations

import pytest

from designer.checks.analysing import analyze
from designer.design.naming import several
from designer.interchange.templates import open_design
from designer.present.answer import figure_text
from designer.present.limits import limits_of
from designer.present.words import part_words
from tests.designs import server_block


@pytest.mark.parametrize(
    ("one", "many"),
    [("GPU", "GPUs"), ("PCIe switch", "PCIe switches"), ("Memory", "Memories"), ("Bus", "Buses"), ("tray", "trays")],
)
def test_plural_of_a_kind_of_part(one: str, many: str) -> None:
    assert several(one) == many


def test_links_between_two_switches_are_named_in_the_plural() -> None:
    design = open_design("dgx2")
    (result,) = analyze(design, ["h2d"], curves=False).workloads
    titles = [limit.title for limit in limits_of(result, design)]
    assert "PCIe between PCIe switches" in titles


def test_parts_named_after_their_kind_have_the_title_of_the_kind() -> None:
    block = server_block()
    assert [part_words(block, path) for path in ("cpu0", "gpu3", "nic1")] == ["CPU", "GPU", "NIC"]


def test_a_share_of_a_core_does_not_read_as_none() -> None:
    assert figure_text("input_cores", 0.02555, "1") == "0.026"
    assert figure_text("input_cores", 12.6, "1") == "13"
    assert figure_text("replicas", 0.0, "1") == "0"


def test_instances_of_gpus_are_counted_as_instances() -> None:
    """Eight GPUs of seven instances each."""
    design = open_design("serving-mig-farm")
    (result,) = analyze(design, ["mig-1g"], curves=False).workloads
    assert limits_of(result, design)[0].detail == "56 × 1g.10gb of H100 PCIe"


def test_links_that_limit_together_gain_only_together() -> None:
    """63 GB/s from the CPU to the switch and on to the GPU: twice one of the two brings nothing."""
    design = open_design("hgx-h100-8")
    (result,) = analyze(design, ["h2d"], curves=False).workloads
    up, down, both = (limit for limit in limits_of(result, design) if limit.now)
    assert (up.gain, down.gain, both.gain) == ("", "", "+8%")
    assert set(both.ids) == {*up.ids, *down.ids}

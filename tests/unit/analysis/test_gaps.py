"""What a file did not state is said with every answer it touches, and its band holds both readings."""

from __future__ import annotations

from designer.analysis.study import analyze
from designer.design.document import Design, Group, Link, WorkloadSpec, replaced, with_changes
from designer.design.gaps import UNKNOWN, find_gaps
from designer.engine.results import WorkloadResult
from designer.findings import Severity
from designer.interchange.importing import read_any
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import dumps
from designer.sources import Status

A100 = 'class="0x030200" vendor="0x10de" device="0x20b0"'
PLAIN = 'class="0x030200"'


def static(attributes: str = A100, gpus: int = 4, speed: str = "16 GT/s") -> Design:
    """A file as clouds ship it: PCI devices by class, no ``<gpu>``, so nothing about NVLinks."""
    inside = "".join(
        f'<pci busid="0000:1{n}:00.0" {attributes} link_speed="{speed}" link_width="16"/>' for n in range(gpus)
    )
    text = (
        f'<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49">{inside}'
    )
    return read_any(f"{text}</cpu></system>".encode(), "nccl-xml").design


def answer(design: Design, workload: str = "all-reduce") -> WorkloadResult:
    return analyze(design, [workload], curves=False).workloads[0]


def drawn(design: Design, **values: object) -> Design:
    gpus = [p.id for p in design.parts.values() if p.kind == "gpu"]
    pairs = [(a, b) for i, a in enumerate(gpus) for b in gpus[i + 1 :]]
    links = [
        Link(id=f"{a}--{b}", a=a, b=b, kind="nvlink", count=4, bandwidth_per_direction="25 GB/s") for a, b in pairs
    ]
    return with_changes(design, links=replaced(design.links, links), **values)


def test_nvlinks_that_are_not_in_the_file_are_said_first_and_widen_the_band() -> None:
    """Twelve NVLinks of 25 GB/s are 300 GB/s per GPU; over PCIe Gen4 x16 a ring gets a tenth of that at most."""
    found = answer(static())
    stated = found.findings[0]
    assert (stated.code, stated.severity) == ("GAP-NVLINK", Severity.WARNING)
    assert "may have 12 each" in stated.text
    assert set(stated.where) == {"gpu0", "gpu1", "gpu2", "gpu3"}
    rate = found.metrics["bus_bandwidth"]
    assert rate.value < 31.5e9
    assert 150e9 < rate.high <= 320e9
    assert "NVLinks not in the file" in rate.note
    # the narrow band of the drawing alone is inside
    alone = answer(drawn(static())).metrics["bus_bandwidth"]
    assert rate.low < rate.value < alone.low <= rate.high


def test_what_has_nothing_to_do_with_nvlinks_keeps_its_band() -> None:
    found = answer(static(), "h2d")
    assert [f.code for f in found.findings if f.code.startswith("GAP")] == []


def test_gpus_of_no_known_type_may_have_what_their_generation_has() -> None:
    assert "may have 12 each" in answer(static(PLAIN)).findings[0].text
    assert "may have 18 each" in answer(static(PLAIN, speed="32 GT/s")).findings[0].text


def test_the_gap_is_saved_and_goes_when_the_links_are_drawn_or_denied() -> None:
    design = loads(dumps(static())).design
    assert [gap.kind for gap in find_gaps(design) if gap.other] == ["nvlink"]
    assert find_gaps(drawn(design)) == tuple(g for g in find_gaps(design) if g.kind != "nvlink")
    parts = [
        with_changes(p, attributes={k: v for k, v in p.attributes.items() if k != UNKNOWN})
        for p in design.parts.values()
    ]
    without = with_changes(design, parts=replaced(design.parts, parts))
    assert [gap.kind for gap in find_gaps(without) if gap.kind == "nvlink"] == []


def test_the_gap_goes_into_groups_with_the_parts() -> None:
    design = static()
    group = Group(id="servers", replicas=2, content=with_changes(design).model_copy(update={}))
    many = Design(
        name="many",
        groups={"servers": group},
        part_types=design.part_types,
        workloads={"w": WorkloadSpec(id="w", kind="collective", settings={"group": "servers[0]/gpu*"})},
    )
    (gap,) = (g for g in find_gaps(many) if g.kind == "nvlink")
    assert len(gap.where) == 8
    assert answer(many, "w").findings[0].code == "GAP-NVLINK"


def test_an_idle_link_may_be_as_fast_as_its_generation() -> None:
    """Read at 2.5 GT/s, an A100 on 16 lanes has 4 GB/s raw; under load Gen4 has 31.5: the band holds both."""
    found = answer(static(speed="2.5 GT/s"), "h2d")
    assert found.findings[0].code == "GAP-IDLE"
    rate = found.metrics["data_rate_per_gpu"]
    assert rate.value < 4e9
    assert 20e9 < rate.high < 31.6e9


def test_a_stated_speed_is_no_gap_any_more() -> None:
    design = static(speed="2.5 GT/s")
    links = [with_changes(x, generation=4, status=Status.SECONDARY) for x in design.links.values() if x.kind == "pcie"]
    known = with_changes(design, links=replaced(design.links, links))
    assert [g.kind for g in find_gaps(known)] == ["nvlink"]

"""The vGPU files: what they say, and that wrong ones are refused with file and place."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from designer.catalog.vgpu import load_boards, load_stun_tables, load_vgpu_types
from designer.errors import CatalogError
from designer.families.machines.formulas import read_release
from designer.families.machines.formulas.vgpu_stun import GpuGeneration, VgpuLoad, vgpu_stun
from designer.families.machines.formulas.vmotion_streams import vmotion_streams
from designer.resources import assets
from designer.sources import Status
from tests.vgpus import vgpu_type

SOURCES = tomllib.loads((assets() / "sources" / "migration.toml").read_text("utf-8"))


def test_all_files_are_read_and_cite_sources() -> None:
    types, boards = load_vgpu_types(), load_boards()
    assert len(types) >= 24
    assert len(boards) >= 7
    for gpu in types.values():
        assert GpuGeneration(gpu.architecture)
        for profile in (*gpu.profiles, *gpu.mig):
            assert profile.source in SOURCES
    for board in boards.values():
        assert board.source in SOURCES
        assert set(board.gpus) <= types.keys()
        assert not board.since or read_release(board.since)
        for partition in board.partitions:
            assert (partition.links_per_gpu == 0) == (len(partition.modules) == 1)
    assert all(table.source in SOURCES for table in load_stun_tables().values())


def test_figures_of_a_few() -> None:
    h100 = vgpu_type("H100XM")
    assert h100.id == "h100-80-sxm"
    assert h100.full_profile is not None
    assert h100.full_profile.name == "80C"
    assert h100.profile("20c").framebuffer == 20 * 2**30
    assert h100.profile("5C").most == 16
    assert (h100.profile("10C").time_slice, h100.profile("8C").time_slice) == ("2 ms", "1 ms")
    assert h100.mig_profile("3g.40gb").name == "3-40C"
    assert vgpu_type("a100-40-sxm").mig_profile("1-5C").framebuffer == 4864 * 2**20
    assert vgpu_type("h100-94-nvl").profile("94C").framebuffer == 96246 * 2**20
    assert vgpu_type("l4").profile("3B").most == 8
    assert {each.series for each in vgpu_type("l40s").profiles} == {"C", "Q", "A", "B"}
    assert vgpu_type("h200-sxm").profile("4C").most == 32
    assert {len(each.modules) for each in load_boards()["hgx-h100-8"].partitions} == {1, 2, 4, 8}


def test_what_is_not_confirmed_says_so() -> None:
    assert vgpu_type("h200-sxm").profile("35C").starts_status is Status.DERIVED
    assert vgpu_type("rtx-pro-6000-se").profile("32C").starts_status is Status.UNVERIFIED
    assert vgpu_type("h200-sxm").vsphere_status is Status.UNVERIFIED
    assert vgpu_type("l40s").profile("12A").status is Status.UNVERIFIED


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(CatalogError, match="no profile '12Q'"):
        vgpu_type("h100-80-sxm").profile("12Q")
    with pytest.raises(CatalogError, match=r"no profile '1g\.5gb'"):
        vgpu_type("l40s").mig_profile("1g.5gb")


GOOD = (assets() / "vgpu" / "a30.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ('id = "a30"', 'id = "a31"', "id differs"),
        ('kind = "vgpu"', 'kind = "gpu"', "no file of kind"),
        ("regions = 24", "regions = 0", "'regions' is 0"),
        ("regions = 24", 'regions = "24"', "not int"),
        ("regions = 24", "", "'regions' is missing"),
        ("regions = 24", "regions = 24\ncolour = 3", "unknown key 'colour'"),
        ("regions = 24", "regions = 20", "outside the frame buffer"),
        ("mixed_size = true", "mixed_size = false", "contradict mixed_size"),
        ('architecture = "ampere"', 'architecture = "fermi"', "unknown architecture"),
        ("starts = [0, 8, 12, 20]", "starts = [0, 2, 12, 20]", "overlap or descend"),
        ('name = "4C"', 'name = "4X"', "not its size and series"),
        ('name = "1-6CME"', 'name = "1-6C"', "given twice"),
        ("memory_slices = 4", "memory_slices = 3", "outside the slices"),
        ("memory_slices = 4", "memory_slices = 0", "need compute_slices"),
        ('status = "primary"', 'status = "sure"', "choose one of"),
        ("[", "[[", "cannot be read"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, old: str, new: str, match: str) -> None:
    assert old in GOOD
    (tmp_path / "a30.toml").write_text(GOOD.replace(old, new, 1), "utf-8")
    with pytest.raises(CatalogError, match=match) as caught:
        load_vgpu_types(tmp_path)
    assert caught.value.file == "a30.toml"


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("modules = [1, 3]", "modules = [1, 9]", "does not have"),
        ("id = 4,", "id = 3,", "given twice"),
        ("[2, 4, 1, 3, 7, 5, 6, 8]", "[2, 2, 1, 3, 7, 5, 6, 8]", "every module once"),
    ],
)
def test_a_wrong_board_is_refused(tmp_path: Path, old: str, new: str, match: str) -> None:
    text = (assets() / "vgpu" / "boards" / "hgx-h100-8.toml").read_text("utf-8")
    assert old in text
    (tmp_path / "hgx-h100-8.toml").write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(CatalogError, match=match):
        load_boards(tmp_path)


def test_a_wrong_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "stun.toml").write_text("[[tables]]\nid = 'x'\n", "utf-8")
    with pytest.raises(CatalogError, match="title"):
        load_stun_tables(tmp_path / "stun.toml")


@pytest.mark.parametrize("table", load_stun_tables().values(), ids=lambda table: table.id)
def test_published_tables_lie_in_the_computed_bands(table) -> None:
    release = read_release(table.release)
    rate = vmotion_streams([table.line_rate], release=release).checkpoint_bandwidth.value
    held = 0
    for row in table.rows:
        found = vgpu_stun(
            [VgpuLoad(row.framebuffer / row.gpus)] * row.gpus,
            rate,
            rate,
            release=release,
            generation=GpuGeneration(table.generation),
            worst_case_memory=row.memory if table.kind == "worst case" else None,
        )
        if row.stun is None:
            assert not found.feasible
            held += 1
        else:
            held += found.stun.low <= row.stun <= found.stun.high
    assert held >= 0.8 * len(table.rows)

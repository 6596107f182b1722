"""MIG geometry and NVSwitch groups."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.catalog.vgpu import load_boards, load_vgpu_types
from designer.engine.machines.demands import shown_name
from designer.errors import AnalysisError, CatalogError
from designer.formulas.placement import Resident
from designer.formulas.placement.mig_slices import MigStranded, mig_slices, mig_stranded
from designer.formulas.placement.nvlink_groups import cut_pairs, group_name, nvlink_groups
from tests.vgpus import vgpu_type

H100 = vgpu_type("h100-80-sxm")
A100 = vgpu_type("a100-80-sxm")
BOARD = load_boards()["hgx-h100-8"]


class TestMig:
    def test_seven_small_ones_strand_a_memory_slice(self) -> None:
        assert mig_stranded(H100, [Resident("1-10C", at) for at in range(7)]) == MigStranded(0, 1)

    def test_two_thirds_strand_a_compute_slice(self) -> None:
        assert mig_stranded(H100, [Resident("3-40C", 0), Resident("3-40C", 4)]) == MigStranded(1, 0)

    def test_an_empty_gpu_strands_nothing(self) -> None:
        assert mig_stranded(H100, []) == MigStranded(0, 0)

    @pytest.mark.parametrize("start", range(4))
    def test_a_half_is_refused_after_any_instance_below_slice_4(self, start: int) -> None:
        room = mig_slices(A100, [Resident("1-10C", start)], "4-40C")
        assert room.free == ()
        assert "starts at 0 only" in room.reason
        assert mig_slices(A100, [Resident("1-10C", 4)], "4-40C").best == 0

    def test_hopper_puts_the_first_3g_high(self) -> None:
        assert mig_slices(H100, [], "3-40C").best == 4
        assert mig_slices(A100, [], "3-40C").best == 0
        assert mig_slices(H100, [Resident("3-40C", 4)], "4-40C").best == 0

    def test_one_instance_holds_the_media_engines(self) -> None:
        room = mig_slices(A100, [Resident("1-10CME", 0)], "1-10CME")
        assert room.free == ()
        assert "media" in room.reason
        assert mig_slices(A100, [Resident("1-10CME", 0)], "1-10C").best == 1

    @pytest.mark.parametrize("name", [gpu.id for gpu in load_vgpu_types().values() if gpu.mig])
    def test_published_counts(self, name: str) -> None:
        gpu = vgpu_type(name)
        for profile in gpu.mig:
            residents: list[Resident] = []
            while (best := mig_slices(gpu, residents, profile.name).best) is not None:
                residents.append(Resident(profile.name, best))
            assert len(residents) == profile.most

    def test_bad_input(self) -> None:
        with pytest.raises(CatalogError, match="l40s has no profile '1-10C'"):
            mig_slices(vgpu_type("l40s"), [], "1-10C")
        with pytest.raises(AnalysisError, match="cannot start at 1"):
            mig_slices(A100, [Resident("2-20C", 1)], "1-10C")
        with pytest.raises(AnalysisError, match="overlap"):
            mig_slices(A100, [Resident("2-20C", 0), Resident("1-10C", 1)], "1-10C")


def modules(board: str, sizes: list[int], **more: object) -> list[tuple[int, ...] | None]:
    plan = nvlink_groups(load_boards()[board], sizes, **more)  # type: ignore[arg-type]
    return [group and group.modules for group in plan.groups]


class TestGroups:
    def test_two_two_four_on_hgx_h100(self) -> None:
        assert modules("hgx-h100-8", [2, 2, 4]) == [(5, 7), (6, 8), (1, 2, 3, 4)]

    def test_a_bad_start_leaves_no_four(self) -> None:
        plan = nvlink_groups(BOARD, [4], taken=[2, 4, 5, 7])
        assert not plan.fits
        assert plan.free == (1, 3, 6, 8)

    def test_hopper_does_not_pair_neighbours_and_others_do(self) -> None:
        pairs = {
            name: [each.modules for each in board.partitions if len(each.modules) == 2]
            for name, board in load_boards().items()
        }
        assert pairs["hgx-h100-8"] == [(1, 3), (2, 4), (5, 7), (6, 8)]
        assert pairs["hgx-a100-8"] == pairs["hgx-b200-8"] == [(1, 2), (3, 4), (5, 6), (7, 8)]

    def test_a_group_of_three_is_refused(self) -> None:
        with pytest.raises(AnalysisError, match="no device group of 3 GPUs on hgx-h100-8"):
            nvlink_groups(BOARD, [3])

    def test_links_out_of_the_group_are_cut(self) -> None:
        group = nvlink_groups(BOARD, [2]).groups[0]
        assert group is not None
        assert group.links_per_gpu == 18
        assert len(group.cut) == 12
        assert (5, 7) not in group.cut
        assert (5, 6) in group.cut
        single = nvlink_groups(BOARD, [1]).groups[0]
        assert single is not None
        assert single.links_per_gpu == 0
        assert cut_pairs(BOARD, BOARD.modules) == ()

    def test_names(self) -> None:
        a100x = shown_name("40C", vgpu_type("a100-40-sxm"))
        assert group_name(2, a100x) == "Nvidia:2@grid_a100x-40c%NVLink"
        assert group_name(2, shown_name("80C", vgpu_type("a100-80-pcie"))) == "Nvidia:2@grid_a100d-80c%NVLink"
        assert group_name(4, shown_name("80C", H100)) == "Nvidia:4@nvidia_h100xm-80c%NVLink"
        # no name in vSphere is known for this one: the vendor's own
        assert shown_name("96C", vgpu_type("rtx-pro-6000-se")).endswith("-96C")

    def test_a_module_that_is_not_there_is_refused(self) -> None:
        with pytest.raises(CatalogError, match="module 9"):
            nvlink_groups(BOARD, [2], taken=[9])

    @given(
        st.sampled_from(["hgx-h100-8", "hgx-a100-8", "hgx-b200-8"]), st.lists(st.sampled_from([1, 2, 4, 8]), max_size=8)
    )
    def test_largest_first_finds_a_plan_whenever_the_gpus_suffice(self, name: str, sizes: list[int]) -> None:
        plan = nvlink_groups(load_boards()[name], sizes, largest_first=True)
        assert plan.fits == (sum(sizes) <= 8)
        taken = [module for group in plan.groups if group for module in group.modules]
        assert len(set(taken)) == len(taken)
        assert sorted([*taken, *plan.free]) == list(range(1, 9))

    def test_order_of_power_on_never_hurts_on_an_untouched_board(self) -> None:
        """Breaking what is broken keeps room for every sequence of 2s before a 4."""
        for count in range(3):
            assert nvlink_groups(BOARD, [2] * count + [4]).fits
        for sizes in itertools.permutations([1, 1, 2, 4]):
            assert nvlink_groups(BOARD, sizes).fits

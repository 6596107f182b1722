"""Places of virtual GPUs: placement IDs, frame buffers, MIG geometry, NVSwitch groups."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.catalog.vgpu import load_boards, load_vgpu_types
from designer.engine.machines.demands import shown_name
from designer.errors import AnalysisError, CatalogError
from designer.formulas.placement import Release, Resident
from designer.formulas.placement.mig_slices import MigStranded, mig_slices, mig_stranded
from designer.formulas.placement.nvlink_groups import cut_pairs, group_name, nvlink_groups
from designer.formulas.placement.virtual_gpus import mixed_size, same_size, stranded_now, stranded_worst
from tests.vgpus import vgpu_type

# Placement IDs, same-size and mixed-size mode, stranded frame buffer: the published tables.

MULTIPLES_OF = "multiples"


#: published starts; a word represents multiples of the size
PUBLISHED: dict[tuple[int, int], tuple[int, ...] | str] = {
    (80, 40): (0, 40),
    (80, 20): (0, 20, 40, 60),
    (80, 16): (0, 24, 40, 64),
    (80, 10): MULTIPLES_OF,
    (80, 8): (0, 12, 20, 32, 40, 52, 60, 72),
    (80, 5): MULTIPLES_OF,
    (94, 47): (0, 47),
    (94, 23): (0, 24, 47, 71),
    (94, 15): (0, 32, 47, 79),
    (94, 11): (0, 12, 23, 36, 47, 59, 70, 83),
    (94, 6): (0, 17, 23, 41, 47, 64, 70, 88),
    (48, 24): (0, 24),
    (48, 16): (0, 32),
    (48, 12): (0, 12, 24, 36),
    (48, 8): (0, 16, 24, 40),
    (48, 6): MULTIPLES_OF,
    (48, 4): (0, 8, 12, 20, 24, 32, 36, 44),
    (40, 20): (0, 20),
    (40, 10): MULTIPLES_OF,
    (40, 8): (0, 12, 20, 32),
    (40, 5): MULTIPLES_OF,
    (40, 4): (0, 6, 10, 16, 20, 26, 30, 36),
    (24, 12): (0, 12),
    (24, 8): (0, 16),
    (24, 6): MULTIPLES_OF,
    (24, 4): (0, 8, 12, 20),
    (141, 70): (0, 71),
    (141, 35): (0, 35, 70, 106),
    (141, 28): (0, 42, 70, 113),
    (141, 17): (0, 18, 35, 53, 70, 88, 105, 124),
    (141, 14): (0, 21, 35, 56, 70, 91, 105, 127),
}


GPU_OF = {
    80: ("a100-80-sxm", "a100-80-pcie", "h100-80-sxm", "h100-80-pcie"),
    94: ("h100-94-nvl", "h100-94-sxm"),
    48: ("l40", "l40s", "a40"),
    40: ("a100-40-sxm", "a100-40-pcie"),
    24: ("a30", "l4"),
    141: ("h200-sxm", "h200-nvl"),
}


def framebuffer_slots(regions: int, size: int) -> tuple[int, ...]:
    """The rule behind the tables: the largest power of two of slots that fits; the frame buffer is halved until two
    slots share a part, and they take its two ends."""
    slots = 1
    while slots * 2 <= regions // size:
        slots *= 2
    return (0,) if slots == 1 else tuple(_ends(0, regions, slots // 2, size))


def _ends(low: int, high: int, parts: int, size: int) -> list[int]:
    if parts == 1:
        return [low, high - size]
    middle = low + (high - low) // 2
    return _ends(low, middle, parts // 2, size) + _ends(middle, high, parts // 2, size)


@pytest.mark.parametrize(("key", "starts"), PUBLISHED.items(), ids=str)
def test_published_placement_ids(key: tuple[int, int], starts: tuple[int, ...] | str) -> None:
    regions, size = key
    expected = tuple(range(0, regions, size)) if isinstance(starts, str) else starts
    assert framebuffer_slots(regions, size) == expected
    for name in GPU_OF[regions]:
        for profile in vgpu_type(name).profiles:
            if profile.size == size:
                assert profile.starts == expected


def test_the_ends_of_the_long_table() -> None:
    starts = framebuffer_slots(80, 4)
    assert (starts[:5], starts[-2:], len(starts)) == ((0, 6, 10, 16, 20), (70, 76), 16)


def test_blackwell_takes_multiples() -> None:
    for profile in vgpu_type("rtx-pro-6000-se").profiles:
        assert profile.starts == tuple(range(0, 96, profile.size))
        assert len(profile.starts) == profile.most


COUNTS = {
    "a100-40-sxm": {4: (10, 8), 5: (8, 8), 8: (5, 4), 10: (4, 4), 20: (2, 2), 40: (1, 1)},
    "a100-80-pcie": {4: (20, 16), 8: (10, 8), 10: (8, 8), 16: (5, 4), 20: (4, 4), 40: (2, 2), 80: (1, 1)},
    "h100-94-sxm": {4: (23, 16), 6: (15, 8), 11: (8, 8), 15: (6, 4), 23: (4, 4), 47: (2, 2), 94: (1, 1)},
    "h100-64-sxm": {4: (16, 16), 8: (8, 8), 16: (4, 4), 32: (2, 2), 64: (1, 1)},
    "a30": {4: (6, 4), 6: (4, 4), 8: (3, 2), 12: (2, 2), 24: (1, 1)},
    "l40s": {4: (12, 8), 6: (8, 8), 8: (6, 4), 12: (4, 4), 16: (3, 2), 24: (2, 2), 48: (1, 1)},
}


@pytest.mark.parametrize("name", COUNTS)
def test_published_counts_in_both_modes(name: str) -> None:
    gpu = vgpu_type(name)
    for size, (same, mixed) in COUNTS[name].items():
        profile = gpu.profile(f"{size}C")
        assert same_size(gpu, [], profile.name).more == same
        assert len(mixed_size(gpu, [], profile.name).free) == mixed


@given(st.integers(1, 300), st.data())
def test_starts_never_overlap_and_stay_inside(regions: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, regions))
    starts = framebuffer_slots(regions, size)
    assert starts[0] == 0
    assert all(later - earlier >= size for earlier, later in pairwise(starts))
    assert starts[-1] + size <= regions
    assert len(starts) & (len(starts) - 1) == 0
    assert len(starts) * 2 > regions // size


class TestSameSize:
    def test_one_profile_until_8_0_u1_then_one_frame_buffer(self) -> None:
        gpu = vgpu_type("l40s")
        assert same_size(gpu, ["12Q"], "12C", release=Release.V8_0).more == 0
        assert same_size(gpu, ["12Q"], "12C", release=Release.V8_0_U1).more == 3
        assert same_size(gpu, ["12Q"], "12Q", release=Release.V7_0).more == 3
        refused = same_size(gpu, ["12Q"], "24C")
        assert refused.more == 0
        assert "12Q fixed the frame buffer" in refused.reason

    def test_it_fills_up(self) -> None:
        assert same_size(vgpu_type("a100-80-sxm"), ["40C", "40C"], "40C").more == 0

    def test_an_unknown_profile_names_those_there_are(self) -> None:
        with pytest.raises(CatalogError, match=r"no profile '24C'.*4C, 8C, 10C"):
            same_size(vgpu_type("a100-80-sxm"), [], "24C")
        with pytest.raises(CatalogError, match="no profile '4Q'"):
            same_size(vgpu_type("h100-80-sxm"), ["4Q"], "4C")


class TestMixedSize:
    def test_since_8_0_u3_on_ampere_and_newer(self) -> None:
        assert mixed_size(vgpu_type("a100-80-sxm"), [], "20C", release=Release.V8_0_U2).best is None
        assert "no mixed-size mode" in mixed_size(vgpu_type("p40"), [], "12C").reason

    def test_large_places_are_kept(self) -> None:
        gpu = vgpu_type("a100-80-sxm")
        first = mixed_size(gpu, [], "10C")
        assert first.best == 0
        second = mixed_size(gpu, [Resident("10C", 0)], "10C")
        assert second.best == 10
        assert 40 in mixed_size(gpu, [Resident("10C", 0), Resident("10C", 10)], "40C").free

    def test_free_is_not_placeable(self) -> None:
        gpu = vgpu_type("a100-80-sxm")
        room = mixed_size(gpu, [Resident("16C", 24), Resident("16C", 40)], "40C")
        assert room.free == ()
        assert "48 of 80 are free" in room.reason

    def test_an_impossible_situation_is_refused(self) -> None:
        gpu = vgpu_type("a100-80-sxm")
        with pytest.raises(AnalysisError, match="16C cannot start at 16"):
            mixed_size(gpu, [Resident("16C", 16)], "20C")
        with pytest.raises(AnalysisError, match="overlap"):
            mixed_size(gpu, [Resident("40C", 0), Resident("20C", 20)], "20C")


def starts_of(*sizes: int) -> dict[int, tuple[int, ...]]:
    return {size: vgpu_type("a100-80-sxm").profile(f"{size}C").starts for size in sizes}


def stranded_by_chance(regions: int, starts: Mapping[int, Sequence[int]], seed: int) -> int:
    """What is left when profiles arrive at random until none fits, each at its lowest free start."""
    draw = random.Random(seed)
    free, left = {size: list(places) for size, places in starts.items()}, regions
    while able := [size for size, places in free.items() if places]:
        size = draw.choice(able)
        begin, left = free[size][0], left - size
        for other, places in free.items():
            free[other] = [start for start in places if start + other <= begin or begin + size <= start]
    return left


def multiples_of(*sizes: int) -> dict[int, range]:
    return {size: range(0, 80 - size + 1, size) for size in sizes}


class TestStranded:
    @pytest.mark.parametrize(
        ("sizes", "published", "multiples"),
        [
            ((8, 10, 20), 16, 24),
            ((10, 20), 0, 0),
            ((10, 20, 40), 0, 0),
            ((8, 10, 20, 40), 16, 24),
            # 20 at 0 and 60, 16 at 32: by hand, nothing fits into 20–32 and 48–60
            ((16, 20), 16, 24),
        ],
    )
    def test_worst_order(self, sizes: tuple[int, ...], published: int, multiples: int) -> None:
        assert stranded_worst(80, starts_of(*sizes)) == published
        assert stranded_worst(80, multiples_of(*sizes)) == multiples

    def test_three_of_16_and_one_of_20(self) -> None:
        taken = [(0, 16), (24, 40), (40, 56)]
        assert stranded_now(80, taken, starts_of(16, 20)) == 12
        assert stranded_now(80, [*taken, (60, 80)], starts_of(16, 20)) == 12

    @given(st.lists(st.sampled_from([4, 8, 10, 16, 20, 40, 80]), min_size=1, unique=True), st.integers(0, 99))
    def test_the_worst_bounds_every_fill(self, sizes: list[int], seed: int) -> None:
        starts = starts_of(*sizes)
        assert stranded_now(80, [], starts) <= stranded_by_chance(80, starts, seed) <= stranded_worst(80, starts)

    def test_bad_input(self) -> None:
        with pytest.raises(AnalysisError, match="no profile"):
            stranded_worst(80, {})
        with pytest.raises(AnalysisError, match="outside"):
            stranded_now(80, [], {40: (60,)})


def test_every_gpu_can_be_filled_with_each_of_its_profiles() -> None:
    for gpu in load_vgpu_types().values():
        for profile in gpu.profiles:
            assert same_size(gpu, [profile.name] * (profile.most - 1), profile.name).more == 1
            if gpu.mixed_size:
                residents: list[Resident] = []
                while (best := mixed_size(gpu, residents, profile.name).best) is not None:
                    residents.append(Resident(profile.name, best))
                assert len(residents) == len(profile.starts) <= profile.most


# MIG geometry and NVSwitch groups.

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

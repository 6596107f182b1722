"""The numbers the solver was tuned with: how near is equal, when it changes its method, what memory it keeps."""

from __future__ import annotations

from typing import Final

from designer.sources import Constant, Status

#: two levels this near, relatively, are one level while solving
TIE: Final = Constant(
    1e-10, 1e-12, 1e-9, "flows-numerics", Status.ASSUMED, note="far above rounding, far below any datasheet's digits"
).value

#: slack of the certificate and of "saturated" and "highest level", relative; wider than TIE, which it has to absorb
SLACK: Final = Constant(
    1e-9, 1e-10, 1e-6, "flows-numerics", Status.ASSUMED, note="rates agree with linear programs to the same figure"
).value

#: a running sum that fell below this part of its start is added up afresh
STALE_SUM: Final = Constant(
    1e-3, 1e-6, 0.5, "flows-numerics", Status.ASSUMED, note="keeps cancellation below about 1e-12 relative"
).value

#: fixed cost of one vectorised round, in heap steps (one step = one incidence entry)
ROUND_OVERHEAD: Final = Constant(
    40.0, 20.0, 100.0, "flows-timing", Status.ASSUMED, note="about 30 us of array calls against 0.7 us"
).value

#: incidence entries a vectorised round handles in the time of one heap step; rounds freezing under ~1 % then lose
ENTRIES_PER_STEP: Final = Constant(100.0, 40.0, 200.0, "flows-timing", Status.ASSUMED).value

#: rounds before the heap is considered: the first ones freeze most activities of ordinary clusters
FIRST_ROUNDS: Final = int(Constant(3, 2, 6, "flows-timing", Status.ASSUMED).value)

#: loads are added up by a matrix from so many entries on, and when they are asked for this often: making it costs as
#: much as a few sums
MATRIX_ENTRIES: Final = int(Constant(16_384, 4096, 65_536, "flows-timing", Status.ASSUMED).value)
MATRIX_FROM: Final = int(Constant(8, 2, 32, "flows-timing", Status.ASSUMED).value)

#: entries of some resources are gathered resource by resource where they are this part of all, or less
FEW_ENTRIES: Final = int(Constant(8, 4, 32, "flows-timing", Status.ASSUMED).value)

#: size of the block that teaches the allocator to keep memory [B]; glibc heeds blocks below 32 MiB only
KEPT_BLOCK: Final = int(
    Constant(31 * 2**20, 2**20, 32 * 2**20, "man-mallopt-3", Status.SECONDARY, unit="B", note="M_MMAP_THRESHOLD").value
)

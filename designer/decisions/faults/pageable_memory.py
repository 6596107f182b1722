"""Copies from memory that is not pinned."""

from designer.decisions.fault import Effect, slower
from designer.decisions.faults._shares import PAGEABLE

FAULT = slower(
    "pageable memory",
    "copies go through pageable memory",
    "raise the limit of locked memory (ulimit -l), pin buffers",
    Effect(("h2d", "d2h", "h2d_all"), PAGEABLE),
)

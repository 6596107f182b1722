"""What faults leave of rates where no drawing shows it; kinds that show in the same way share a constant, and are named
together."""

from __future__ import annotations

from typing import Final

from designer.sources import Constant, Status


def _left(value: float, low: float, high: float, note: str) -> Constant:
    return Constant(value, low, high, "assumed-acceptance", Status.ASSUMED, "1", note)


#: clocks of one GPU held down, by a limit or by heat
CLOCKS: Final = _left(0.70, 0.50, 0.90, "clocks of a GPU held down")
#: all GPUs at a lower power limit; power falls with the cube of the clock
POWER: Final = _left(0.75, 0.60, 0.90, "all GPUs below their power limit")
MEMORY: Final = _left(0.70, 0.50, 0.90, "memory of a GPU at a lower clock, or with rows remapped")
MEMORY_OF_ALL: Final = _left(0.65, 0.50, 0.80, "memory clock of all GPUs")
#: where check bits share the memory with the data
CHECKED: Final = _left(0.90, 0.85, 0.94, "error correction in graphics memory")
MIG_COMPUTE: Final = _left(4 / 7, 3 / 7, 4 / 7, "the larger of two MIG slices")
MIG_MEMORY: Final = _left(0.5, 0.5, 0.5, "half of the memory slices")
DRIVE: Final = _left(0.50, 0.20, 0.80, "a drive without spare blocks, hot, or failing")
#: the kernel in the way of every block, as interrupts, translation and clocks are, or the work of a rebuild
KERNEL: Final = _left(0.60, 0.30, 0.85, "blocks that wait for the kernel or for a rebuild")
SMALL: Final = _left(0.65, 0.50, 0.80, "launches and proxies on slow cores")
STORE: Final = _left(0.50, 0.20, 0.80, "a storage system on fewer nodes or connections")
PAGEABLE: Final = _left(0.45, 0.30, 0.65, "copies through pageable memory")
REPLAYS: Final = _left(0.80, 0.65, 0.90, "packets sent again on a poor link")
HALF_RATE: Final = _left(0.5, 0.5, 0.5, "one step of the line rate down")
GONE: Final = _left(0.01, 0.01, 0.01, "a test that does not run")
RINGS_SHORT: Final = _left(0.75, 0.50, 0.90, "collectives between hosts with one rail slow or gone")
LOSSES: Final = _left(0.40, 0.20, 0.70, "collectives that wait for packets sent again, or meet at one port")
FRAMES: Final = _left(0.80, 0.65, 0.88, "small frames")

"""The system layer of ASTRA-sim for a design: which algorithm each collective takes in each dimension, and its chunks.

One entry a dimension, in the order of the network file: direct exchange inside a server whose GPUs share switches, ring
where they are joined pairwise, and halving and doubling between servers of a power of two, ring else.
Sources: astra-sim/astra-sim, examples/system and docs on system configuration.
"""

from __future__ import annotations

import json
from pathlib import Path

from designer import atomic
from designer.catalog.partkind import Capability
from designer.catalog.parttype import part_kinds
from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.errors import ExchangeError
from designer.interchange.exporters._exporter import Exporter, ExportOptions

_SPLITS = 4


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the configuration.

    Raises
    ------
    ExchangeError
        If the design has no GPUs, or servers that differ.
    """
    del options
    algorithms = _algorithms(design)
    told = {
        "scheduling-policy": "LIFO",
        "endpoint-delay": 10,
        "active-chunks-per-dimension": 1,
        "preferred-dataset-splits": _SPLITS,
        "all-reduce-implementation": algorithms,
        "all-gather-implementation": algorithms,
        "reduce-scatter-implementation": algorithms,
        "all-to-all-implementation": algorithms,
        "collective-optimization": "localBWAware",
        "local-mem-bw": 1600,
        "boost-mode": 0,
    }
    return atomic.write(path, (json.dumps(told, indent=2) + "\n").encode())


def _algorithms(design: Design) -> list[str]:
    net = elaborate(design)
    kinds = part_kinds()
    accelerates = [Capability.ACCELERATE in kinds[d.kind].capabilities for d in net.part_defs]
    homes: dict[int, int] = {}
    for part, definition in enumerate(net.part_def.tolist()):
        if accelerates[definition]:
            home = int(net.parent[part])
            homes[home] = homes.get(home, 0) + 1
    if not homes:
        raise ExchangeError("the design has no GPUs", remedy="ASTRA-sim simulates GPUs")
    if len(set(homes.values())) > 1:
        raise ExchangeError("the servers are not all alike", remedy="ASTRA-sim's network has equal servers only")
    found: list[str] = []
    if next(iter(homes.values())) > 1:
        switched = any(d.kind == "nvswitch" for d in net.part_defs)
        found.append("direct" if switched else "ring")
    if len(homes) > 1:
        found.append("halvingDoubling" if len(homes) & (len(homes) - 1) == 0 else "ring")
    return found or ["ring"]


EXPORTER = Exporter("astra-sim-system", ".astra-system.json", "ASTRA-sim system", write)

"""Drafts of Slurm's ``gres.conf`` and the node lines of ``slurm.conf``: how many GPUs of what type each node has.

Sources: Slurm documentation, gres.conf and slurm.conf (SchedMD).
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

from designer import atomic
from designer.catalog.partkind import Capability
from designer.catalog.parttype import part_kinds
from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.design.name_pattern import safe
from designer.design.naming import homes, node_names
from designer.errors import ExchangeError
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.foreign.hostlist import compress
from designer.interchange.network_view import one_line

_MOST: Final = 1_600_000


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write one line for each set of equal nodes.

    Raises
    ------
    ExchangeError
        If the design holds nothing that this format can say.
    """
    del options
    sizes = _nodes(design)
    if not sizes:
        raise ExchangeError("no server of the design has GPUs", remedy="give the servers their contents")
    lines = [f"# draft: gres.conf of {one_line(design.title or design.name)}", "AutoDetect=nvml"]
    for types, names in sizes.items():
        first = 0
        for kind, count in types:
            stated = f" Type={kind}" if kind else ""
            devices = f"[{first}-{first + count - 1}]" if count > 1 else str(first)
            lines.append(f"NodeName={compress(names)} Name=gpu{stated} File=/dev/nvidia{devices}")
            first += count
    lines += ["", "# into slurm.conf:", "#GresTypes=gpu"]
    for types, names in sizes.items():
        gres = ",".join(f"gpu:{kind}:{count}" if kind else f"gpu:{count}" for kind, count in types)
        lines.append(f"#NodeName={compress(names)} Gres={gres}")
    return atomic.write(path, ("\n".join(lines) + "\n").encode("utf-8"))


def _nodes(design: Design) -> dict[tuple[tuple[str, int], ...], list[str]]:
    """Names of the nodes by their GPUs: how many of each type, in the order of the design."""
    net = elaborate(design)
    if net.n_parts > _MOST:
        raise ExchangeError(f"the design elaborates to {net.n_parts:,} parts", remedy="use fewer replicas")
    home, definition = homes(net), net.part_def.tolist()
    kinds = part_kinds()
    having: dict[int, Counter[str]] = {}
    for part, d in enumerate(definition):
        stated = net.part_defs[d]
        if Capability.ACCELERATE in kinds[stated.kind].capabilities:
            having.setdefault(home[part], Counter())[safe(stated.type.rsplit("/", 1)[-1]) if stated.type else ""] += 1
    names = node_names(net, having)
    sizes: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for node, types in having.items():
        sizes.setdefault(tuple(types.items()), []).append(names[node])
    return sizes


EXPORTER = Exporter("slurm-gres", ".gres", "Slurm gres.conf", write)

"""Drafts of Slurm's ``gres.conf`` and the node lines of ``slurm.conf``: how many GPUs of what type each node has.

Sources: Slurm documentation, gres.conf and slurm.conf (SchedMD).
"""

from __future__ import annotations

from pathlib import Path

from designer import atomic
from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.errors import ExchangeError
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.foreign.hostlist import compress
from designer.interchange.network_view import network_view, one_line, safe


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write one line for each set of equal nodes.

    Raises
    ------
    ExchangeError
        If the design holds nothing that this format can say.
    """
    del options
    view = network_view(design)
    net = elaborate(design)
    types = {d.type.rsplit("/", 1)[-1] for d in net.part_defs if d.kind == "gpu" and d.type}
    kind = f":{safe(types.pop())}" if len(types) == 1 else ""
    sizes: dict[int, list[str]] = {}
    for node in view.nodes:
        if not node.switch and node.gpus:
            sizes.setdefault(node.gpus, []).append(node.name)
    if not sizes:
        raise ExchangeError("no server of the design has GPUs", remedy="give the servers their contents")
    lines = [f"# draft: gres.conf of {one_line(design.title or design.name)}", "AutoDetect=nvml"]
    for gpus, names in sizes.items():
        lines.append(f"NodeName={compress(names)} Name=gpu{kind.replace(':', ' Type=')} File=/dev/nvidia[0-{gpus - 1}]")
    lines += ["", "# into slurm.conf:", "#GresTypes=gpu"]
    for gpus, names in sizes.items():
        lines.append(f"#NodeName={compress(names)} Gres=gpu{kind}:{gpus}")
    return atomic.write(path, ("\n".join(lines) + "\n").encode("utf-8"))


EXPORTER = Exporter("slurm-gres", ".gres", "Slurm gres.conf", write)

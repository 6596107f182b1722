"""Slurm's ``topology.conf`` for the tree plugin: switches that share nodes are one, as Slurm knows no rails.

Nodes are the servers; storage systems run no jobs and are left out.

Sources: Slurm documentation, topology.conf (SchedMD).
"""

from __future__ import annotations

from pathlib import Path

from designer import atomic
from designer.design.document import Design
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.foreign.hostlist import compress
from designer.interchange.network_view import network_view, one_line, tree_of


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the tree, roots first."""
    del options
    view = network_view(design).without_storage()
    lines = [f"# topology.conf of {one_line(design.title or design.name)}"]
    for level, groups in reversed(list(enumerate(tree_of(view)))):
        for name, switches, below in groups:
            if len(switches) > 1:
                lines.append(f"# {name} represents {compress(view.nodes[s].name for s in switches)}")
            what = "Switches" if level else "Nodes"
            lines.append(f"SwitchName={name} {what}={compress(below)}")
    return atomic.write(path, ("\n".join(lines) + "\n").encode("utf-8"))


EXPORTER = Exporter("slurm-topology", ".conf", "Slurm topology.conf", write)

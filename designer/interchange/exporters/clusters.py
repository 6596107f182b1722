"""Hosts as their schedulers name them: Slurm, Kubernetes."""

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
from designer.interchange.network_view import network_view, one_line, tree_of


def write_topology(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
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


_MOST: Final = 1_600_000


def write_gres(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
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


_KEYS = ("leaf", "spine", "core")


def write_labels(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write one document a node."""
    del options
    view = network_view(design).without_storage()
    above: dict[str, str] = {}
    for groups in tree_of(view):
        for name, _, below in groups:
            for one in below:
                if one != name:
                    above.setdefault(one, name)
    lines = [f"# draft: node labels of {one_line(design.title or design.name)}"]
    for node in view.nodes:
        if node.switch:
            continue
        lines += ["---", "apiVersion: v1", "kind: Node", "metadata:", f'  name: "{_name(node.name)}"', "  labels:"]
        at = node.name
        for key in _KEYS:
            if at not in above:
                break
            at = above[at]
            lines.append(f'    network.topology.nvidia.com/{key}: "{at}"')
        lines.append(f'    designer/gpus: "{node.gpus}"')
    return atomic.write(path, ("\n".join(lines) + "\n").encode("utf-8"))


def _name(text: str) -> str:
    """Lower case letters, digits, ``-`` and ``.`` only, as names of nodes must be."""
    return text.lower().replace("_", "-").strip("-.") or "node"


EXPORTERS: Final = (
    Exporter("slurm-topology", ".conf", "Slurm topology.conf", write_topology),
    Exporter("slurm-gres", ".gres", "Slurm gres.conf", write_gres),
    Exporter("node-labels", ".labels.yaml", "Kubernetes node labels", write_labels),
)

"""Labels for Kubernetes nodes that state a scheduler who is near whom: leaf, spine and core above each node.

Storage systems are no nodes. A draft for ``kubectl apply --server-side``: check the names of nodes first.
Sources: NVIDIA/topograph, label keys; Kubernetes documentation, syntax of labels and names.
"""

from __future__ import annotations

from pathlib import Path

from designer import atomic
from designer.design.document import Design
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.network_view import network_view, one_line, tree_of

_KEYS = ("leaf", "spine", "core")


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
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


EXPORTER = Exporter("node-labels", ".labels.yaml", "Kubernetes node labels", write)

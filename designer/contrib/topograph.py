"""Cluster models of NVIDIA topograph: a tree of switches, and blocks of nodes that may share an NVLink domain.

Sources: NVIDIA/topograph, tests/models and pkg/models (Apache-2.0).
"""

from __future__ import annotations

import re

from designer.errors import ExchangeError
from designer.interchange.foreign.fabric import FabricDrawing
from designer.interchange.foreign.hostlist import expand
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.yaml_text import items, mapping, parse_yaml, text_of

_DOMAIN = re.compile(r"(?:accelerator|nvlink|clique).{0,80}(?:domain|nvlink|id)\Z", re.IGNORECASE)


def _sniff(head: str) -> float:
    both = re.search(r"^switches\s*:", head, re.MULTILINE) and re.search(r"^(?:blocks|nodes)\s*:", head, re.MULTILINE)
    if both:
        return 0.9
    return 0.6 if re.search(r"^switches\s*:\s*\n\s+\S+:\s*\n", head, re.MULTILINE) else 0.0


def _read(text: str, file: str) -> Imported:
    top = mapping(parse_yaml(text, file))
    switches, blocks = mapping(top.get("switches")), items(top.get("blocks"))
    if not switches and not blocks:
        raise ExchangeError("it has no switches and no blocks", file=file, remedy="give a cluster model of topograph")
    fabric = FabricDrawing(file, "a topograph cluster model", "topograph", "fabric")
    for name, stated in switches.items():
        labels = {k: text_of(v) for k, v in mapping(mapping(stated).get("labels")).items()}
        fabric.switch(name, name, labels)
    for name, stated in switches.items():
        for child in expand(",".join(map(text_of, items(mapping(stated).get("switches")))), f"switches.{name}"):
            fabric.join(fabric.switch(name), fabric.switch(child, child))
    for number, block in enumerate(blocks):
        _block(fabric, mapping(block), number)
    for name, stated in mapping(top.get("nodes")).items():
        fabric.host(name, name, {k: text_of(v) for k, v in mapping(mapping(stated).get("labels")).items()})
    fabric.note(
        "IMP-TREE-ONLY",
        "the model says what is below what, not how many cables there are: one represents all of them",
        remedy="set count and speed of the links",
    )
    return fabric.finish()


def _block(fabric: FabricDrawing, block: dict[str, object], number: int) -> None:
    """One block: its nodes under its switch, and in one NVLink domain where it names one."""
    place = f"blocks[{number}]"
    leaf = text_of(block.get("switch"))
    listed = block.get("nodes")
    names = [name for node in items(listed) for name in expand(text_of(node), place)] or list(mapping(listed))
    notes = {**mapping(block.get("annotations")), **mapping(block.get("labels"))}
    stated = {k: text_of(v) for k, v in notes.items()}
    domain = next((v for k, v in stated.items() if _DOMAIN.search(k) and v), text_of(block.get("nvlink")))
    for name in names:
        server = fabric.host(name, name, {**stated, **({"nvlink_domain": domain} if domain else {})})
        if leaf:
            fabric.join(fabric.nic(f"{name} on {leaf}", server), fabric.switch(leaf, leaf))
    if domain and names:
        fabric.note(
            "IMP-NVLINK-DOMAIN",
            "servers that share an NVLink domain are known by their attribute nvlink_domain: the model has no NVLinks",
            *(fabric.host(name) for name in names),
        )


IMPORTER = Importer("topograph", "topograph cluster model", (".yaml", ".yml"), _sniff, _read)

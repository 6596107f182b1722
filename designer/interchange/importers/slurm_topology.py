"""Slurm's picture of a network: ``topology.conf`` (tree and block), ``topology.yaml``, ``scontrol show topology``.

It states which nodes hang under which switch and nothing of cables: one link of unknown speed represents each.
``scontrol`` lists all nodes again at each upper level; only those of the lowest are joined to their switch.
Sources: Slurm documentation, topology.conf and topology guide (SchedMD).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from designer.errors import ExchangeError
from designer.interchange.foreign.fabric import FabricDrawing
from designer.interchange.foreign.hostlist import expand
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.yaml_text import items, mapping, parse_yaml, text_of

_FIRST: Final = re.compile(r"^[ \t]*(?:SwitchName|BlockName|BlockSizes)[ \t]*=", re.MULTILINE | re.IGNORECASE)
_YAML: Final = re.compile(
    r"^[ \t]*(?:-[ \t]*)?topology[ \t]*:.*\n(?:.*\n){0,20}?[ \t]{1,40}(?:tree|block|flat)[ \t]*:", re.MULTILINE
)
_COMMENT: Final = re.compile(r"#\s*([^\s=]{1,200})\s*=\s*(\S{1,200})\s*\Z")


@dataclass(slots=True)
class _Switch:
    """One switch or block."""

    children: list[str] = field(default_factory=list[str])
    nodes: list[str] = field(default_factory=list[str])
    level: int | None = None
    block: bool = False


def _sniff(head: str) -> float:
    if _FIRST.search(head):
        return 0.95
    return 0.9 if _YAML.search(head) else 0.0


def _read(text: str, file: str) -> Imported:
    switches, names, sizes = _conf(text, file) if _FIRST.search(text) else _yaml(text, file)
    if not switches:
        raise ExchangeError("it names no switch and no block", file=file, remedy="give topology.conf as Slurm reads it")
    return _draw(switches, names, sizes, file)


def _conf(text: str, file: str) -> tuple[dict[str, _Switch], dict[str, str], str]:
    switches: dict[str, _Switch] = {}
    names: dict[str, str] = {}
    sizes = ""
    for number, raw in enumerate(_join_lines(text), start=1):
        stated = _COMMENT.match(raw.strip())
        if stated:
            names[stated[1]] = stated[2]
        line = raw.split("#")[0].strip()
        fields = {k.lower(): v for k, _, v in (word.partition("=") for word in line.split()) if v}
        name = fields.get("switchname") or fields.get("blockname")
        sizes = fields.get("blocksizes", sizes)
        if not name:
            continue
        place = f"line {number}"
        level = fields.get("level", "")
        for one in expand(name, place):
            switch = switches.setdefault(one, _Switch(block="blockname" in fields))
            switch.children += expand(fields.get("switches", ""), place)
            switch.nodes += expand(fields.get("nodes", ""), place)
            switch.level = int(level) if level.isascii() and level.isdigit() and len(level) < 4 else switch.level
        if sum(len(s.nodes) for s in switches.values() if not s.level) > _MOST:
            raise ExchangeError(f"it lists more than {_MOST:,} nodes", file=file, place=place)
    return switches, names, sizes


_MOST: Final = 45_000


def _join_lines(text: str) -> list[str]:
    """Lines, those that end in a backslash joined with the next."""
    return re.sub(r"\\\r?\n[ \t]*", "", text).splitlines()


def _yaml(text: str, file: str) -> tuple[dict[str, _Switch], dict[str, str], str]:
    """``topology.yaml`` of Slurm 25.05 and later; all topologies in it are drawn."""
    switches: dict[str, _Switch] = {}
    sizes = ""
    for one in items(parse_yaml(text, file)):
        tree, block = mapping(mapping(one).get("tree")), mapping(mapping(one).get("block"))
        for entry in map(mapping, items(tree.get("switches"))):
            switch = switches.setdefault(text_of(entry.get("switch")), _Switch())
            switch.children += expand(text_of(entry.get("children")))
            switch.nodes += expand(text_of(entry.get("nodes")))
        for entry in map(mapping, items(block.get("blocks"))):
            switches[text_of(entry.get("block"))] = _Switch(nodes=expand(text_of(entry.get("nodes"))), block=True)
        sizes = ",".join(map(text_of, items(block.get("block_sizes")))) or sizes
    switches.pop("", None)
    return switches, {}, sizes


def _draw(switches: Mapping[str, _Switch], names: Mapping[str, str], sizes: str, file: str) -> Imported:
    fabric = FabricDrawing(file, "a Slurm topology", "slurm-topology", "fabric")
    ids: dict[str, str] = {}
    for name, switch in switches.items():
        stated = {"slurm_name": name, "role": "block" if switch.block else "switch"}
        if switch.level is not None:
            stated["level"] = str(switch.level)
        ids[name] = fabric.switch(name, names.get(name, name), stated)
    unknown = {child: "" for switch in switches.values() for child in switch.children if child not in switches}
    for child in unknown:
        ids[child] = fabric.switch(child, names.get(child, child), {"slurm_name": child})
        fabric.note("IMP-MISSING", "these switches are named but not described", ids[child])
    above: dict[str, str] = {}
    for name, switch in switches.items():
        for child in dict.fromkeys(switch.children):
            if child in above:
                text = "these switches have two switches above them, which Slurm does not allow: both were drawn"
                fabric.note("IMP-TWO-PARENTS", text, ids[child])
            above[child] = name
            fabric.join(ids[name], ids[child], attributes={"role": "uplink"})
    for name, switch in switches.items():
        if switch.nodes and not (switch.children or switch.level):
            for node in dict.fromkeys(switch.nodes):
                server = fabric.host(node, node)
                nic = fabric.nic(f"{node} on {name}", server)
                fabric.join(nic, ids[name])
    _note_findings(fabric, switches, ids, sizes)
    return fabric.finish()


def _note_findings(fabric: FabricDrawing, switches: Mapping[str, _Switch], ids: Mapping[str, str], sizes: str) -> None:
    fabric.note(
        "IMP-TREE-ONLY",
        "a Slurm topology says what is below what, not how many cables there are: one represents all of them",
        remedy="set count and speed of the links, or import the fabric itself",
    )
    blocks = [ids[name] for name, switch in switches.items() if switch.block]
    if blocks:
        of = f" (sizes {sizes[:80]})" if sizes else ""
        text = f"a block{of} says which nodes are near each other, not what joins them: drawn as one switch"
        fabric.note("IMP-BLOCK", text, *blocks)


IMPORTER = Importer("slurm-topology", "Slurm topology", (".conf", ".txt", ".yaml"), _sniff, _read)

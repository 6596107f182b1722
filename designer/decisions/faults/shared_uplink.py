"""A PCIe switch behind another one in place of its own way to the socket."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Fault, FaultKind
from designer.decisions.faults._places import devices, in_block
from designer.design.address import block_at
from designer.design.edits.links import Reconnect


def _find(machine: Machine) -> Iterator[Fault]:
    block_of: dict[str, tuple[str, str]] = {}
    for _, within, link, path in devices(machine):
        parts = block_at(machine.design, within).parts
        kinds = {end: parts[end].kind for end in (link.a, link.b) if end in parts}
        if sorted(kinds.values()) != ["cpu", "pcie_switch"]:
            continue
        switch = next(end for end, kind in kinds.items() if kind == "pcie_switch")
        root = next(end for end, kind in kinds.items() if kind == "cpu")
        first = block_of.get(root)
        if first is None:
            block_of[root] = (switch, path)
        elif first[0] != switch:
            edit = Reconnect(link.id, "a" if link.a == root else "b", first[0], within=within)
            title = f"{switch} hangs behind {first[0]} and shares its uplink"
            remedy = "compare lspci -t with the manual of the server; move the cable of the switch"
            marks = tuple(in_block(path, name) for name in (root, switch, first[0]))
            yield Fault("a shared uplink", title, path, remedy, edit, frozenset({path, first[1]}), marks=marks)


FAULT = FaultKind("a shared uplink", _find)

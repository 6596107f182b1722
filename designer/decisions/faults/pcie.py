"""Faults of PCIe: cards, slots, switches and how their traffic is passed on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind, misset, slower
from designer.decisions.faults._places import REPLAYS, devices, ends_of, far, in_block, narrow, peer_links
from designer.design.address import block_at
from designer.design.edits.links import ChangeLinks, Reconnect


def _older_generations(machine: Machine) -> Iterator[Fault]:
    for device, within, link, path in devices(machine):
        if (link.generation or 1) > 1:
            older = (link.generation or 1) - 1
            edit = ChangeLinks((link.id,), {"generation": older, "bandwidth_per_direction": None}, within=within)
            title = f"{device} runs at PCIe {older}.0 instead of {link.generation}.0"
            remedy = "set the speed of the slot to automatic in the firmware setup"
            yield Fault(
                "an older PCIe generation", title, path, remedy, edit, frozenset({path}), marks=ends_of(path, link)
            )


def _shared_uplinks(machine: Machine) -> Iterator[Fault]:
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


def _without_peers(machine: Machine) -> Iterator[Fault]:
    peers = peer_links(machine, machine.gpus)
    if peers is not None:
        remedy = "see NCCL_P2P_DISABLE, the IOMMU, and nvidia-smi topo -p2p"
        yield Fault("P2P off", "GPUs do not reach each other directly", "", remedy, peers, marks=())


FAULTS: Final = (
    narrow("half the lanes", 2),
    narrow("a quarter of the lanes", 4),
    FaultKind("an older PCIe generation", _older_generations),
    FaultKind("a shared uplink", _shared_uplinks),
    far("a gpu at another place", "gpu"),
    far("a nic at another place", "nic"),
    far("a drive at another place", "drive"),
    slower(
        "packets sent again",
        "the PCIe link of {} has errors and sends packets again",
        "see the replay counter of nvidia-smi -q and AER in dmesg; reseat the card",
        Effect(("h2d", "d2h"), REPLAYS),
        at=lambda machine: machine.gpus,
    ),
    misset(
        "ACS on",
        "access control sends peer traffic to the root",
        "switch off access control (ACS) on the PCIe switches",
        "pcie_acs",
        False,
    ),
    FaultKind("P2P off", _without_peers),
    misset(
        "GPUDirect off",
        "GPUDirect RDMA is off",
        "load nvidia-peermem, and see whether NCCL says GDRDMA",
        "gpudirect",
        True,
    ),
)

"""The NVLinks of an hwloc file, and the links between NVSwitches of two boards, which such files leave out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from designer.catalog.architectures import architecture
from designer.fields import amount
from designer.interchange.foreign.accelerator_links import draw_switch_trunk, join_accelerators, mark_missing_links
from designer.interchange.foreign.devices import assumption, known_device
from designer.interchange.foreign.distances import nvlink_bandwidths
from designer.interchange.foreign.hwloc_dump import HwlocDump
from designer.interchange.foreign.hwloc_pci import PciDevices
from designer.interchange.foreign.machine import MachineDrawing

#: the architecture whose NVLinks are assumed where a GPU is unknown
_USUAL: Final = "volta"


def draw_nvlinks(dump: HwlocDump, devices: PciDevices) -> None:
    """The NVLinks that the file's table of bandwidths has."""
    machine = dump.machine
    table = nvlink_bandwidths(dump.root, machine.file)
    drawn: set[tuple[str, str]] = set()
    lost = False
    for (a_key, b_key), megabytes in table.items():
        a, b = dump.parts.get(a_key), dump.parts.get(b_key)
        if a is None or b is None:
            lost = True
            continue
        if a == b or (b, a) in drawn or (a, b) in drawn:
            continue
        drawn.add((a, b))
        gpu = a if a in devices.architectures else b
        known = devices.architectures.get(gpu)
        if known is not None and known.link_kind != "nvlink":
            known = None
        links = known or architecture(_USUAL)
        count = max(1, round(megabytes * 1e6 / amount(links.link_rate, "rate")))
        join_accelerators(machine, a, b, count, links, "nvlink")
        if known is None:
            machine.note(
                "IMP-ASSUMED-LINK",
                f"the GPU's NVLink generation is unknown: {links.link_rate} per link is assumed",
                gpu,
                remedy="set the bandwidth per direction of one link",
            )
    if not table:
        mark_missing_links(machine, devices.architectures)
    if lost:
        machine.note("IMP-DANGLING", "NVLinks to objects that are not in the file were left out")
    _draw_trunk(machine, devices.nvswitches, drawn)


def _draw_trunk(machine: MachineDrawing, nvswitches: Sequence[tuple[str, str]], drawn: set[tuple[str, str]]) -> None:
    """Two boards of six first-generation NVSwitches are joined in pairs, which the file leaves out."""
    first = [part for part, device in nvswitches if device == "0000" or _is_first_nvswitch(device)]
    if not drawn or len(first) != 12 or len(nvswitches) != 12:
        return
    reached: dict[frozenset[str], list[str]] = {}
    for switch in first:
        peers = frozenset(x for pair in drawn if switch in pair for x in pair if x != switch)
        reached.setdefault(peers, []).append(switch)
    islands = list(reached.values())
    if len(islands) == 2 and all(len(i) == 6 for i in islands) and not frozenset.intersection(*reached):
        links = int(assumption("nvswitch_trunk_links").value)
        draw_switch_trunk(machine, islands, links, architecture(_USUAL))


def _is_first_nvswitch(device: str) -> bool:
    known = known_device("10de", device)
    return known is not None and known.type == "nvswitch/nvidia/nvswitch-gen1"

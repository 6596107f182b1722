"""What the file a design came from did not tell, kept with the parts and links it is about.

An importer notes it in their attributes, so it is copied, grouped and saved with them, and is gone once somebody draws
what was missing or states the speed. A gap that has another reading brings the design in that reading along: an answer
that differs between the two is as sure as both together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from designer.design.document import Block, Design, Group, Link, Part, replaced, with_changes
from designer.design.elaborate import Netlist, elaborate
from designer.sources import Status

#: attribute of a part or link: what of it is not known
UNKNOWN: Final = "unknown"
#: attributes of a PCIe link: generation and lanes of its other reading
OTHER_GENERATION: Final = "unknown.generation"
OTHER_LANES: Final = "unknown.lanes"
#: attributes of an accelerator of no known type: how many links it may have, and the rate of one
OTHER_COUNT: Final = "unknown.links"
OTHER_RATE: Final = "unknown.rate"
#: the speed of a link is assumed; a link was read while it was idle; a virtual machine states no real speed
SPEED: Final = "speed"
IDLE: Final = "idle"
VIRTUAL: Final = "virtual"
#: a server of which only the network side is known
CONTENTS: Final = "contents"
#: accelerator links that are not in the file, by their kind, and where a type states how many there are
LINKS: Final = {"nvlink": "nvlink_links", "xgmi": "xgmi_links"}
_NAMES: Final = {"nvlink": "NVLinks", "xgmi": "xGMI links"}
_PLACES_LIMIT: Final = 50


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that is not known of a design.

    Parameters
    ----------
    links
        The numbers of the links it is about; empty where links are missing.
    other
        The design in its other reading, or None where the assumed speed already has its band.
    """

    kind: str
    text: str
    where: tuple[str, ...]
    remedy: str
    links: frozenset[int] = frozenset()
    other: Design | None = None


def find_gaps(design: Design) -> tuple[Gap, ...]:
    """What is not known of a design, accelerator links first.

    Raises
    ------
    DocumentError
        If the design cannot be elaborated.
    """
    net = elaborate(design)
    return (*_missing_gaps(design, net), *_contents(net), *_speeds(design, net))


# -- accelerator links that are not drawn ------------------------------------------------------------------------------


def _missing_gaps(design: Design, net: Netlist) -> list[Gap]:
    found: list[Gap] = []
    for kind, field in LINKS.items():
        wanted = [i for i, part in enumerate(net.part_defs) if part.attributes.get(UNKNOWN) == kind]
        if not wanted:
            continue
        of_kind = np.array([link.kind == kind for link in net.link_defs], dtype=bool)
        drawn = of_kind[net.link_def] if len(net.link_def) else np.zeros(0, dtype=bool)
        linked = set(np.unique(net.part_def[np.concatenate([net.link_a[drawn], net.link_b[drawn]])]).tolist())
        open_parts = {i: net.part_defs[i] for i in wanted if i not in linked}
        counts = {i: _number(design, part, field) for i, part in open_parts.items()}
        counts = {i: count for i, count in counts.items() if count}
        if not counts:
            continue
        at = np.flatnonzero(np.isin(net.part_def, list(counts))).tolist()
        most = " or ".join(str(n) for n in sorted(set(counts.values())))
        missing = {id(open_parts[i]): count for i, count in counts.items()}
        found.append(
            Gap(
                kind,
                f"the file this came from does not list the {_NAMES[kind]} of these GPUs, which may have {most} each",
                tuple(net.path(i) for i in at[:_PLACES_LIMIT]),
                f"draw their {_NAMES[kind]}, or take the attribute {UNKNOWN!r} off them if there are none",
                other=_with_links(design, kind, missing),
            )
        )
    return found


def _number(design: Design, part: Part, name: str) -> int:
    quantity = design.quantity(part, name)
    if quantity is not None:
        return quantity.value if isinstance(quantity.value, int) else 0
    stated = part.attributes.get(OTHER_COUNT, "")
    return int(stated) if stated.isascii() and stated.isdigit() and len(stated) < 4 else 0


def _with_links(design: Design, kind: str, missing: Mapping[int, int]) -> Design:
    """The design with all links such GPUs have: NVLinks into one switch per server, xGMI to each other."""

    def fill(block: Block) -> Mapping[str, object]:
        servers: dict[str | None, list[Part]] = {}
        for part in block.parts.values():
            if id(part) in missing:
                servers.setdefault(part.parent, []).append(part)
        parts: list[Part] = []
        links: list[Link] = []
        for number, (server, gpus) in enumerate(servers.items()):
            if len(gpus) < 2:
                continue
            rate = _link_rate(design, gpus[0])
            if kind == "xgmi":
                count = max(1, min(missing[id(gpu)] for gpu in gpus) // (len(gpus) - 1))
                pairs = [(a.id, b.id, count) for i, a in enumerate(gpus) for b in gpus[i + 1 :]]
            else:
                switch = Part(id=_unused_name(f"unknown-nvswitch{number}", block.parts), kind="nvswitch", parent=server)
                parts.append(switch)
                pairs = [(gpu.id, switch.id, missing[id(gpu)]) for gpu in gpus]
            links += [
                Link(
                    id=_unused_name(f"unknown-{a}-{b}", block.links),
                    a=a,
                    b=b,
                    kind=kind,
                    count=count,
                    bandwidth_per_direction=rate,
                    status=Status.ASSUMED,
                )
                for a, b, count in pairs
            ]
        return {"parts": replaced(block.parts, parts), "links": replaced(block.links, links)} if links else {}

    return _everywhere(design, fill)


def _link_rate(design: Design, gpu: Part) -> str | None:
    quantity = design.quantity(gpu, "link_bandwidth_per_direction")
    if quantity is not None:
        return quantity.value if isinstance(quantity.value, str) else None
    return gpu.attributes.get(OTHER_RATE)


def _unused_name(wanted: str, taken: Iterable[str]) -> str:
    names = set(taken)
    while wanted in names:
        wanted += "'"
    return wanted.replace("'", "_")


def _contents(net: Netlist) -> list[Gap]:
    """Servers that came from a description of a network and still hold nothing but what is on it."""
    wanted = [i for i, part in enumerate(net.part_defs) if part.attributes.get(UNKNOWN) == CONTENTS]
    if not wanted:
        return []
    filled = {int(net.parent[i]) for i in range(net.n_parts) if net.part(i).kind not in ("nic", "dpu")}
    at = [i for i in np.flatnonzero(np.isin(net.part_def, wanted)).tolist() if i not in filled]
    if not at:
        return []
    text = "the file this came from describes the network alone: what is inside these servers is not known"
    remedy = f"give them their contents, or take the attribute {UNKNOWN!r} off them"
    return [Gap(CONTENTS, text, tuple(net.path(i) for i in at[:_PLACES_LIMIT]), remedy)]


# -- speeds ------------------------------------------------------------------------------------------------------------


def _speeds(design: Design, net: Netlist) -> list[Gap]:
    texts = {
        VIRTUAL: (
            "PCIe links here are stated as a virtual machine sees them, not as the hardware is: their speed is assumed",
            "set generation and lanes of these links",
        ),
        IDLE: (
            "PCIe links here were read while idle and are faster under load",
            "set the generation they train to under load",
        ),
        SPEED: ("the speed of links here was not in the file and is assumed", "set the speed of these links"),
    }
    found: list[Gap] = []
    unknown = [(i, link) for i, link in enumerate(net.link_defs) if UNKNOWN in link.attributes]
    for kind, (text, remedy) in texts.items():
        chosen = [
            i
            for i, link in unknown
            if link.attributes[UNKNOWN] == kind and link.status in (Status.ASSUMED, Status.UNVERIFIED)
        ]
        at = np.flatnonzero(np.isin(net.link_def, chosen)).tolist() if chosen else []
        if at:
            where = tuple(net.link_path(i) for i in at[:_PLACES_LIMIT])
            other = _with_other_reading(design, kind) if kind != SPEED else None
            found.append(Gap(kind, text, where, remedy, frozenset(at), other))
    return found


def _with_other_reading(design: Design, kind: str) -> Design:
    """The design with the other reading of links of this kind of gap."""
    # what an idle link trains to follows from the parts at its ends, what a virtual one is does not
    status = Status.DERIVED if kind == IDLE else Status.ASSUMED

    def turn(block: Block) -> Mapping[str, object]:
        links = [
            with_changes(
                link, generation=int(generation), lanes=int(lanes), bandwidth_per_direction=None, status=status
            )
            for link in block.links.values()
            if link.attributes.get(UNKNOWN) == kind
            and (generation := link.attributes.get(OTHER_GENERATION, "")) in "1234567"
            and (lanes := link.attributes.get(OTHER_LANES, "")) in ("1", "2", "4", "8", "16", "32")
            and generation
        ]
        return {"links": replaced(block.links, links)} if links else {}

    return _everywhere(design, turn)


def _everywhere(design: Design, change: Callable[[Block], Mapping[str, object]]) -> Design:
    """The design with a change of fields made in each of its blocks."""

    def inside(groups: Mapping[str, Group]) -> list[Group]:
        return [
            group.model_copy(
                update={
                    "content": block(group.content),
                    "exceptions": {i: block(b) for i, b in group.exceptions.items()},
                }
            )
            for group in groups.values()
        ]

    def block(old: Block) -> Block:
        return old.model_copy(update={**change(old), "groups": replaced(old.groups, inside(old.groups))})

    return design.model_copy(update={**change(design), "groups": replaced(design.groups, inside(design.groups))})

"""Designs changed at random in what classes must distinguish, at one member or at all; and the same without groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from designer.catalog.loader import load_catalog
from designer.design.address import Address, block_at
from designer.design.document import Block, Design, Link, Policy, WorkloadSpec
from designer.design.edit import Edit
from designer.design.edits.groups import SetReplicas
from designer.design.edits.links import AddLinks, ChangeLinks, RemoveLinks
from designer.design.edits.parts import ChangeParts, RemoveParts, SetType
from designer.design.edits.wirings import ChangeWirings, RemoveWirings
from designer.design.elaborate import elaborate
from designer.errors import DesignerError
from designer.interchange.templates import open_design
from tests.designs import pods
from tests.properties.test_classes_of_resources import shrunk

#: what is drawn from, and how many members its groups get
BASES: dict[str, dict[str, tuple[int, int]]] = {
    "su-h100-32": {"servers": (2, 6)},
    "cluster-1024": {"pods": (1, 3), "servers": (2, 4), "spines": (2, 3)},
    "cluster-gb200-6912": {"racks": (1, 3), "trays": (2, 4), "spines": (2, 4)},
    "vsphere-cluster-4": {"hosts": (2, 4)},
    "serving-split-2-racks": {},
    "serving-mig-farm": {"hosts": (1, 3)},
    "sm-4029gp-trt-pair": {},
    "hpe-apollo-6500-nfs": {},
    "pods": {"servers": (2, 4)},
}
TYPES = ("nic/generic/infiniband-hdr", "nic/generic/infiniband-xdr", "nic/generic/ethernet-100g")
VALUES = {"memory": "memory_bandwidth", "gpu": "memory_bandwidth", "storage": "read_bandwidth"}
ENDS = ("memory gpus", "gpus memory", "storage gpus", "gpus storage", "gpus gpus", "nics nics", "nics gpus")


class Stated:
    """A design, stated by what was changed of it: whole it would fill pages."""

    def __init__(self, design: Design, stated: list[str]) -> None:
        self.design, self.stated = design, stated

    def __repr__(self) -> str:
        return f"Told({self.stated})"


def _sized(draw: st.DrawFn, block: Block, sizes: dict[str, tuple[int, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for group in block.groups.values():
        if group.id in sizes:
            found[group.id] = draw(st.integers(*sizes[group.id]))
        found |= _sized(draw, group.content, sizes)
    return found


def _place(draw: st.DrawFn, design: Design) -> Address:
    """Some block: of one member of nested groups, of all of them, or the whole design."""
    at: Address = ()
    block: Block = design
    while block.groups and draw(st.integers(0, 6)):
        rich = [g.id for g in block.groups.values() if len(g.content.parts) > 3 or g.content.groups]
        group = block.groups[draw(st.sampled_from(rich if rich and draw(st.booleans()) else sorted(block.groups)))]
        member = draw(st.one_of(st.none(), st.integers(0, group.replicas - 1)))
        at = (*at, (group.id, member))
        block = group.content if member is None else group.member(member)
    return at


def _of_links(draw: st.DrawFn, block: Block, at: Address) -> Edit:
    link = draw(st.sampled_from(sorted(block.links)))
    rate = {"bandwidth_per_direction": f"{draw(st.integers(5, 400))} Gb/s"}
    made = (
        RemoveLinks((link,), within=at),
        ChangeLinks((link,), rate, within=at),
        ChangeLinks((link,), {"count": draw(st.integers(1, 4))}, within=at),
    )
    return draw(st.sampled_from(made))


def _of_parts(draw: st.DrawFn, block: Block, at: Address) -> Edit | None:
    part = block.parts[draw(st.sampled_from(sorted(block.parts)))]
    if part.kind == "nic" and draw(st.booleans()):
        known = load_catalog().get(draw(st.sampled_from(TYPES)))
        return SetType((part.id,), known.id, known, within=at)
    if part.kind in VALUES and draw(st.booleans()):
        given = {VALUES[part.kind]: {"value": f"{draw(st.integers(1, 300))} GB/s"}}
        return ChangeParts((part.id,), {"overrides": given}, within=at)
    return RemoveParts((part.id,), within=at) if at else None


def _of_groups(draw: st.DrawFn, block: Block, at: Address) -> Edit:
    group = block.groups[draw(st.sampled_from(sorted(block.groups)))]
    return SetReplicas(group.id, max(1, group.replicas + draw(st.sampled_from([-1, 1]))), within=at)


def _of_wirings(draw: st.DrawFn, block: Block, at: Address) -> Edit:
    wiring = draw(st.sampled_from(sorted(block.wirings)))
    rate = {"bandwidth_per_direction": f"{draw(st.integers(20, 800))} Gb/s"}
    made = (
        RemoveWirings((wiring,), within=at),
        ChangeWirings((wiring,), rate, within=at),
        ChangeWirings((wiring,), {"count": draw(st.integers(1, 3))}, within=at),
    )
    return draw(st.sampled_from(made))


def _more(draw: st.DrawFn, block: Block, at: Address) -> Edit | None:
    """A cable to a switch, from member to member."""
    net = elaborate(block)
    ends = [p for p in range(net.n_parts) if net.part(p).kind in ("nic", "switch")]
    switches = [p for p in ends if net.part(p).kind == "switch"]
    if not switches:
        return None
    a, b = draw(st.sampled_from(ends)), draw(st.sampled_from(switches))
    rate = f"{draw(st.integers(50, 400))} Gb/s"
    link = Link(id="more", a=net.path(a), b=net.path(b), kind="infiniband", bandwidth_per_direction=rate)
    return AddLinks((link,), within=at) if a != b else None


_CHANGES: dict[str, Callable[[st.DrawFn, Block, Address], Edit | None]] = {
    "links": _of_links,
    "parts": _of_parts,
    "groups": _of_groups,
    "wirings": _of_wirings,
}


def _changed(draw: st.DrawFn, design: Design, stated: list[str]) -> Design:
    at = _place(draw, design)
    block = block_at(design, at)
    kinds = [kind for kind in _CHANGES if getattr(block, kind)]
    if not kinds:
        return design
    kind = draw(st.sampled_from([*kinds, "more"]))
    try:
        made = _more(draw, block, at) if kind == "more" else _CHANGES[kind](draw, block, at)
        found = made.apply(design) if made is not None else design
    except DesignerError:
        return design
    stated.append(repr(made))
    return found


@st.composite
def mutated(draw: st.DrawFn, bases: tuple[str, ...] = tuple(BASES)) -> Stated:
    """A design with up to five changes: rates, counts, lost links and parts, other types and values, members more or
    less, wirings lost or of another rate, a cable more; of one member, of all, or of a member of a member.
    """
    name = draw(st.sampled_from(bases))
    design = pods(draw(st.integers(1, 3)), spines=2) if name == "pods" else open_design(name)
    sizes = _sized(draw, design, BASES[name])
    design = design.model_copy(update=shrunk(design, sizes))
    stated = [name, repr(sizes)]
    for _ in range(draw(st.integers(0, 5))):
        design = _changed(draw, design, stated)
    given: dict[str, Any] = {
        name: draw(st.booleans())
        for name in ("gpudirect", "rail_affinity", "numa_local", "relay_through_gpu", "pcie_acs")
    }
    stated.append(repr(given))
    return Stated(design.model_copy(update={"policy": Policy(**given)}), stated)


@st.composite
def asked(draw: st.DrawFn) -> WorkloadSpec:
    """A transfer or a collective."""
    if draw(st.integers(0, 3)):
        source, target = draw(st.sampled_from(ENDS)).split()
        pairing = draw(st.sampled_from(["shift", "permutation", "all"])) if source == target else "auto"
        given: dict[str, Any] = {"from": source, "to": target, "pairing": pairing, "both_ways": draw(st.booleans())}
        given |= {"demand": f"{draw(st.integers(1, 40))} GB/s"} if draw(st.booleans()) else {}
        given |= {"size": "1 MB"} if draw(st.booleans()) else {}
        return WorkloadSpec(id="w", kind="transfer", settings=given)
    kinds = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast")
    given = {"group": "gpus", "collective": draw(st.sampled_from(kinds)), "size": "256 MiB"}
    given["algorithm"] = draw(st.sampled_from(["auto", "ring", "tree", "hierarchical"]))
    return WorkloadSpec(id="w", kind="collective", settings=given)


def one_by_one(design: Design) -> Design:
    """The design without groups or wirings: every part and link drawn by itself, in the same order."""
    net = elaborate(design)
    ids = [f"{p:06}" for p in range(net.n_parts)]
    parts, links = {}, {}
    for p, parent in enumerate(net.parent.tolist()):
        holder = ids[parent] if parent >= 0 else None
        parts[ids[p]] = net.part(p).model_copy(update={"id": ids[p], "parent": holder, "position": None})
    names = ("kind", "count", "bandwidth_per_direction", "generation", "lanes", "status", "source", "attributes")
    for k in range(net.n_links):
        stated, (a, b) = net.link(k), (ids[int(end[k])] for end in (net.link_a, net.link_b))
        links[f"{k:07}"] = Link(id=f"{k:07}", a=a, b=b, **{name: getattr(stated, name) for name in names})
    return design.model_copy(update={"parts": parts, "links": links, "groups": {}, "wirings": {}, "vms": {}})

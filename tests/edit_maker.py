"""Random edits of a design, good and bad, from a source of choices: a hypothesis draw or a seeded generator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from designer.design.address import Address, Ref, block_at
from designer.design.document import (
    Annotation,
    Assertion,
    Block,
    Design,
    Group,
    Link,
    Part,
    VirtualMachine,
    VmDevice,
    Wiring,
    WorkloadSpec,
)
from designer.design.edit import Edit
from designer.design.edits import (
    annotations,
    assertions,
    clipboard,
    groups,
    links,
    parts,
    placement,
    properties,
    structure,
    vms,
    wirings,
    workloads,
)
from designer.design.ids import next_id
from designer.fields import Quantity
from tests.made_edits import AddGroup, MakeException

T = TypeVar("T")
KINDS = ("gpu", "nic", "cpu", "pcie_switch", "server", "rack", "switch", "nvswitch", "drive", "quantum")
LINKS = ("pcie", "nvlink", "ethernet", "warp")


def addresses(block: Block, within: Address = ()) -> Iterator[Address]:
    """Every address of a design, exceptions included."""
    yield within
    for group in block.groups.values():
        yield from addresses(group.content, (*within, (group.id, None)))
        for member, inner in group.exceptions.items():
            yield from addresses(inner, (*within, (group.id, member)))


def paths(block: Block) -> list[str]:
    """Some paths to single parts, seen from a block."""
    found = list(block.parts)
    for group in block.groups.values():
        for member in {0, group.replicas - 1, *group.exceptions}:
            found += [f"{group.id}[{member}]/{p}" for p in paths(group.member(member))[:20]]
    return found


class EditMaker:
    """Makes an edit for a design; ``below(n)`` chooses a number from 0 to n−1."""

    def __init__(self, below: Callable[[int], int]) -> None:
        self.below = below
        self.makers: list[Callable[[Design], Edit]] = [
            getattr(self, name) for name in sorted(dir(self)) if name.startswith("make_")
        ]

    def one(self, items: Sequence[T], otherwise: T) -> T:
        """One of some things, or seldom or for want of any, `otherwise`."""
        return items[self.below(len(items))] if items and self.below(25) else otherwise

    def some(self, items: Sequence[T], otherwise: T) -> tuple[T, ...]:
        """A few of some things, each once."""
        return tuple(dict.fromkeys(self.one(items, otherwise) for _ in range(1 + self.below(3))))

    def edit(self, design: Design) -> Edit:
        """Any edit."""
        return self.makers[self.below(len(self.makers))](design)

    def where(self, design: Design) -> tuple[Address, Block]:
        """Some block: the design, a content, an exception, seldom a member about to become one."""
        within = self.one(list(addresses(design)), ())
        block = block_at(design, within)
        if block.groups and not self.below(6):
            group = self.one(list(block.groups.values()), next(iter(block.groups.values())))
            step = (group.id, self.below(group.replicas))
            return (*within, step), block_at(design, (*within, step))
        return within, block

    def refs(self, block: Block, *whats: str) -> tuple[Ref, ...]:
        """A few references to things of a block."""
        known = [Ref(w, i) for w in whats for i in getattr(block, w, ())]  # type: ignore[arg-type]
        return self.some(known, Ref("parts", "nobody"))

    def make_add_parts(self, design: Design) -> Edit:
        within, block = self.where(design)
        taken = set(block.parts)
        made: list[Part] = []
        for _ in range(1 + self.below(3)):
            kind = KINDS[self.below(len(KINDS))]
            part_id = next_id(taken, f"{kind}0")
            taken.add(part_id)
            parent = self.one([None, *block.parts], None)
            position = {"x": self.below(500), "y": self.below(500)} if self.below(3) else None
            made.append(Part.model_validate({"id": part_id, "kind": kind, "parent": parent, "position": position}))
        if not self.below(20) and block.parts:
            made.append(next(iter(block.parts.values())))
        return parts.AddParts(tuple(made), within=within)

    def make_remove_parts(self, design: Design) -> Edit:
        within, block = self.where(design)
        return parts.RemoveParts(self.some(list(block.parts), "nobody"), within=within)

    def make_change_parts(self, design: Design) -> Edit:
        within, block = self.where(design)
        changes: list[dict[str, Any]] = [
            {"name": f"n{self.below(3)}"},
            {"note": "x"},
            {"collapsed": True},
            {"size": {"width": 2, "height": 9}},
            {"no_such": 1},
            {"kind": "gpu"},
            {"name": "GPU", "note": ""},
        ]
        return parts.ChangeParts(
            self.some(list(block.parts), "nobody"), changes[self.below(len(changes))], within=within
        )

    def make_set_value(self, design: Design) -> Edit:
        within, block = self.where(design)
        quantity = [None, Quantity(value="80 GiB"), Quantity(value="80 GQ"), Quantity(value=3)][self.below(4)]
        name = ("memory_capacity", "pcie_lanes", "nothing")[self.below(3)]
        return parts.SetValue(self.some(list(block.parts), "nobody"), name, quantity, within=within)

    def make_set_attribute(self, design: Design) -> Edit:
        within, block = self.where(design)
        return parts.SetAttribute(
            self.some(list(block.parts), "nobody"), "bus", (None, "0000:1", "")[self.below(3)], within=within
        )

    def make_set_part_id(self, design: Design) -> Edit:
        within, block = self.where(design)
        new = ("alpha", "beta7", "bad/id", "gpu0")[self.below(4)]
        return parts.SetPartId(self.one(list(block.parts), "nobody"), new, within=within)

    def make_set_parent(self, design: Design) -> Edit:
        within, block = self.where(design)
        chosen = self.some(list(block.parts), "nobody")
        held = self.some(list(block.groups), "none") if block.groups and not self.below(3) else ()
        return parts.SetParent(chosen, self.one([None, *block.parts], None), held, within=within)

    def make_add_link(self, design: Design) -> Edit:
        within, block = self.where(design)
        ends = paths(block)
        link = Link(
            id=next_id(block.links, "l0"),
            kind=LINKS[self.below(len(LINKS))],
            a=self.one(ends, "nobody"),
            b=self.one(ends, "nobody"),
            count=1 + self.below(4),
        )
        return links.AddLinks((link,), within=within)

    def make_remove_links(self, design: Design) -> Edit:
        within, block = self.where(design)
        return links.RemoveLinks(self.some(list(block.links), "nothing"), within=within)

    def make_change_links(self, design: Design) -> Edit:
        within, block = self.where(design)
        changes: list[dict[str, Any]] = [
            {"count": self.below(5)},
            {"bandwidth_per_direction": "400 Gb/s"},
            {"bandwidth_per_direction": "400"},
            {"generation": 4, "lanes": 8},
            {"a": "elsewhere"},
        ]
        chosen = self.some(list(block.links), "nothing")
        return links.ChangeLinks(chosen, changes[self.below(len(changes))], within=within)

    def make_reconnect(self, design: Design) -> Edit:
        within, block = self.where(design)
        side = ("a", "b")[self.below(2)]
        target = self.one(paths(block), "nobody")
        return links.Reconnect(self.one(list(block.links), "nothing"), side, target, within=within)  # type: ignore[arg-type]

    def make_add_group(self, design: Design) -> Edit:
        within, block = self.where(design)
        content = Block.model_validate(
            {
                "parts": [Part(id="gpu0", kind="gpu"), Part(id="nic0", kind="nic", parent="gpu0")],
                "links": [Link(id="l0", a="gpu0", b="nic0", kind="pcie")],
            }
        )
        replicas = 1 + self.below(4)
        group = Group(
            id=next_id(block.groups, "g0"),
            replicas=replicas,
            content=content,
            parent=self.one([None, *block.parts], None),
            exceptions={self.below(replicas): Block()} if not self.below(4) else {},
        )
        return AddGroup(group, within=within)

    def make_change_groups(self, design: Design) -> Edit:
        within, block = self.where(design)
        changes: dict[str, object] = [{"name": "pod"}, {"collapsed": False}, {"replicas": 3}][self.below(3)]
        return groups.ChangeGroups(self.some(list(block.groups), "none"), changes, within=within)

    def make_set_replicas(self, design: Design) -> Edit:
        within, block = self.where(design)
        return groups.SetReplicas(self.one(list(block.groups), "none"), self.below(6), within=within)

    def make_set_group_id(self, design: Design) -> Edit:
        within, block = self.where(design)
        return groups.SetGroupId(
            self.one(list(block.groups), "none"), ("pods", "g1", "a[b")[self.below(3)], within=within
        )

    def make_add_wiring(self, design: Design) -> Edit:
        within, block = self.where(design)
        ends = [f"{g}[*]/{p}" for g, group in block.groups.items() for p in (*group.content.parts, "*")]
        ends += [*block.parts, "gpu*", "nic{0-3}"]
        wiring = Wiring(
            id=next_id(block.wirings, "w0"),
            kind=LINKS[self.below(len(LINKS))],
            pattern=("mesh", "pairs", "spread", "stripes", "rails", "knot")[self.below(6)],
            a=self.one(ends, "nobody"),
            b=self.one(ends, "nobody"),
        )
        return wirings.AddWirings((wiring,), within=within)

    def make_change_wirings(self, design: Design) -> Edit:
        within, block = self.where(design)
        changes: dict[str, object] = [{"count": 2}, {"pattern": "mesh"}, {"a": "gpu0"}][self.below(3)]
        return wirings.ChangeWirings(self.some(list(block.wirings), "nothing"), changes, within=within)

    def make_remove_wirings(self, design: Design) -> Edit:
        within, block = self.where(design)
        return wirings.RemoveWirings(self.some(list(block.wirings), "nothing"), within=within)

    def make_place(self, design: Design) -> Edit:
        within, block = self.where(design)
        refs = self.refs(block, "parts", "groups", "annotations")
        return placement.Place({r: (self.below(900), -self.below(900)) for r in refs}, within=within)

    def make_arrange(self, design: Design) -> Edit:
        within, block = self.where(design)
        refs = self.refs(block, "parts", "groups", "annotations")
        side = ("left", "center", "right", "top", "middle", "bottom")[self.below(6)]
        edits: list[Edit] = [
            placement.Align(refs, side, within=within),  # type: ignore[arg-type]
            placement.Distribute(refs, ("horizontal", "vertical")[self.below(2)], within=within),  # type: ignore[arg-type]
            placement.MatchSize(refs, within=within),
            placement.SetCollapsed(refs, bool(self.below(2)), within=within),
            placement.Resize(refs[0], (40 + self.below(9), 50), within=within),
        ]
        return edits[self.below(len(edits))]

    def make_workload(self, design: Design) -> Edit:
        known = self.one(list(design.workloads), "nothing")
        spec = WorkloadSpec(id=next_id(design.workloads, "w0"), kind="training")
        edits: list[Edit] = [
            workloads.AddWorkloads((spec,)),
            workloads.RemoveWorkloads((known,)),
            workloads.ChangeWorkload(known, {"title": "T"}),
            workloads.SetDefaultWorkload(known),
            assertions.AddAssertions(
                (Assertion(id=next_id(design.assertions, "a0"), workload=known, metric="m", value="1 s"),)
            ),
            assertions.RemoveAssertions(self.some(list(design.assertions), "nothing")),
        ]
        return edits[self.below(len(edits))]

    def make_vm(self, design: Design) -> Edit:
        ends = paths(design)
        device = VmDevice(kind="passthrough", part=self.one(ends, "gpu0"))
        vm = VirtualMachine(id=next_id(design.vms, "vm0"), host=self.one(ends, "nobody"), devices=(device,))
        known = self.some(list(design.vms), "nothing")
        edits: list[Edit] = [
            vms.AddVms((vm,)),
            vms.RemoveVms(known),
            vms.ChangeVms(known, {"host": self.one(ends, "nobody")}),
            vms.MoveVm(self.one(known, "nobody"), self.one(ends, "nobody"), ()),
            vms.ChangeVms(known, {"memory": ("8 GiB", "8")[self.below(2)]}),
        ]
        return edits[self.below(len(edits))]

    def make_note(self, design: Design) -> Edit:
        note = Annotation.model_validate(
            {"id": next_id(design.annotations, "n0"), "text": "hi", "position": {"x": 1, "y": 2}}
        )
        known = self.some(list(design.annotations), "nothing")
        edits: list[Edit] = [
            annotations.AddAnnotations((note,)),
            annotations.ChangeAnnotations(known, {"text": f"t{self.below(2)}"}),
        ]
        return edits[self.below(len(edits))]

    def make_property(self, design: Design) -> Edit:
        edits: list[Edit] = [
            properties.SetProperties({"title": f"t{self.below(3)}"}, gesture="typing"),
            properties.SetProperties({"name": ""}),
            properties.SetPolicy({"ecmp": ("split", "hash", "knot")[self.below(3)]}),
            properties.RemoveUnusedPartTypes(),
        ]
        return edits[self.below(len(edits))]

    def make_delete(self, design: Design) -> Edit:
        within, block = self.where(design)
        refs = self.refs(block, "parts", "links", "groups", "wirings")
        return structure.Delete(refs, heal=bool(self.below(2)), within=within)

    def make_insert(self, design: Design) -> Edit:
        within, block = self.where(design)
        part = Part(id=next_id(block.parts, "psw0"), kind=("pcie_switch", "quantum", "drive")[self.below(3)])
        return structure.InsertIntoLink(self.one(list(block.links), "nothing"), part, within=within)

    def make_group(self, design: Design) -> Edit:
        within, block = self.where(design)
        refs = self.refs(block, "parts", "groups")
        return structure.MakeGroup(refs, ("box", "unit1")[self.below(2)], 1 + self.below(3), within=within)

    def make_ungroup(self, design: Design) -> Edit:
        within, block = self.where(design)
        return structure.Ungroup(self.one(list(block.groups), "none"), within=within)

    def make_exception(self, design: Design) -> Edit:
        within, block = self.where(design)
        group = self.one(list(block.groups), "none")
        return MakeException(group, self.below(4), within=within)

    def make_reset(self, design: Design) -> Edit:
        within, block = self.where(design)
        group = self.one([g.id for g in block.groups.values() if g.exceptions], "none")
        members = tuple(block.groups[group].exceptions)[:1] if group in block.groups and self.below(2) else None
        return structure.ResetException(group, members, within=within)

    def make_copy(self, design: Design) -> Edit:
        within, block = self.where(design)
        refs = self.refs(block, "parts", "groups")
        known = all(ref.id in getattr(block, ref.what) for ref in refs)
        edits: list[Edit] = [
            clipboard.Duplicate(refs, outside_links=bool(self.below(2)), within=within),
            clipboard.Replicate(refs, 1 + self.below(3), self.below(3), within=within),
            clipboard.Paste("no clip"),
        ]
        if known:
            text = clipboard.copy(design, refs, within)
            target, into = self.where(design)
            edits.append(clipboard.Paste(text, at=(5, 5), parent=self.one([None, *into.parts], None), within=target))
        return edits[self.below(len(edits))]

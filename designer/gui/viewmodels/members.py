"""Which member of an opened group is shown: the group in question, its members, and the selection that goes along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from designer.design.address import Address, Ref, block_at
from designer.design.document import Design
from designer.errors import DocumentError
from designer.gui.viewmodels.places import Picked


@dataclass(frozen=True, slots=True)
class Shown:
    """A group and which of its members is shown.

    Parameters
    ----------
    within
        Address of the block the group is in, written for all members.
    member
        Number of the member shown, None for what all share.
    exceptions
        Members that differ from the others.
    """

    within: Address
    group: str
    label: str
    replicas: int
    member: int | None
    exceptions: tuple[int, ...]
    collapsed: bool

    def other(self, by: int) -> int | None:
        """The next member, or the one before; round through what all share."""
        at = -1 if self.member is None else self.member
        to = (at + 1 + by) % (self.replicas + 1) - 1
        return None if to < 0 else to

    @property
    def words(self) -> str:
        """How the member shown differs from the others."""
        if self.member is None:
            n = len(self.exceptions)
            return "Edits change all members" + (f" but {n} that differ{'s' * (n == 1)}." if n else ".")
        if self.member in self.exceptions:
            return "Differs from the others."
        return "Like the others; an edit makes it differ."


def group_in_question(design: Design, selection: frozenset[Picked], members: Mapping[Address, int]) -> Shown | None:
    """The group whose members one may choose from: the selected one, that around the selection, or the first open one.

    Parameters
    ----------
    members
        Member shown by the address of the group, written for all members; see ``Scene.members``.
    """
    places = {
        (*within, (ref.id, None)) if ref.what == "groups" else within
        for within, ref in selection
        if ref.what == "groups" or within
    }
    if not places:
        places = {((g.id, None),) for g in list(design.groups.values()) if not g.collapsed}
    for place in sorted(places, key=lambda p: (-len(p), [g for g, _ in p])):
        address: Address = tuple((group_id, None) for group_id, _ in place)
        try:
            group = block_at(design, address[:-1]).groups.get(address[-1][0])
        except DocumentError:
            group = None
        if group is not None:
            member = members.get(address)
            if member is not None and member >= group.replicas:
                member = None
            return Shown(
                address[:-1],
                group.id,
                group.label,
                group.replicas,
                member,
                tuple(sorted(group.exceptions)),
                group.collapsed,
            )
    return None


def moved(selection: frozenset[Picked], shown: Shown, member: int | None) -> frozenset[Picked]:
    """The same things in another member of the group."""
    depth = len(shown.within)
    names = tuple(g for g, _ in shown.within)

    def at(within: Address, ref: Ref) -> Picked:
        inside = (
            len(within) > depth and tuple(g for g, _ in within[:depth]) == names and within[depth][0] == shown.group
        )
        return ((*within[:depth], (shown.group, member), *within[depth + 1 :]), ref) if inside else (within, ref)

    return frozenset(at(within, ref) for within, ref in selection)

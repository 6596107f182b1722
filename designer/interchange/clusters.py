"""A cluster made of a drawn server: so many of it, their NICs on one switch that never is the limit.

``4``, or ``{"count": 4, "nics": "nic*", "bandwidth": "200 Gb/s", "kind": "ethernet", "technology": "EFA"}``: NICs that
are cabled already keep their network, the others go to the switch; the rate is that of their part type where none is
told. ``{"racks": 2}`` makes several racks of a drawn one, joined in the same way. Where the servers of a design are a
group already, the group gets that many members.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, cast

from designer.catalog.parttype import Capability, part_kinds
from designer.design.address import Ref
from designer.design.document import Block, Design, Part, Wiring
from designer.design.edits.groups import SetReplicas
from designer.design.edits.parts import add_part
from designer.design.edits.structure import MakeGroup
from designer.design.edits.wirings import AddWirings
from designer.design.ids import next_id
from designer.errors import DesignerError, FormatError

_FIELDS: Final = ("count", "racks", "nics", "bandwidth", "kind", "technology")
#: kinds of parts that all servers share
_SHARED: Final = ("switch", "storage")


def make_cluster(design: Design, asked: object, place: str) -> Design:
    """The design with that many servers.

    Raises
    ------
    FormatError
        If what is asked has another shape, there is no server, no NIC to join them by, or no rate is known.
    """
    told = _given(asked, place)
    if "racks" in told:
        return _racks(design, told, place)
    count = told.get("count", 0)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise FormatError(f"{count!r} is no number of servers", place=place, remedy="give 1 or more")
    try:
        group = _group_of_servers(design)
        if group is not None:
            _refuse_other_rack(design, group, count, place)
            return SetReplicas(group, count).apply(design)
        return _joined(design, count, told, place) if count > 1 else design
    except DesignerError as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(error.text, place=place, remedy=error.remedy) from None


def _refuse_other_rack(design: Design, group: str, count: int, place: str) -> None:
    """A rack has its number of servers: fewer may mean a smaller rack or several of them."""
    now = design.groups[group].replicas
    if count != now and any(part.kind == "rack" for part in design.parts.values()):
        raise FormatError(
            f"the design is a rack of {now} servers, of which {count} would remain",
            place=place,
            remedy=f'for several racks write "servers": {{"racks": {count}}}, for another size "groups": '
            f'{{"{group}": {count}}}',
        )


def _racks(design: Design, told: Mapping[str, Any], place: str) -> Design:
    """The design with that many racks, the NICs of their servers on one switch that never is the limit."""
    count = told["racks"]
    group = _group_of_servers(design)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise FormatError(f"{count!r} is no number of racks", place=f"{place}.racks", remedy="give 1 or more")
    if group is None or not any(part.kind == "rack" for part in design.parts.values()) or "count" in told:
        raise FormatError(
            "only a design of one rack becomes several, with all its servers",
            place=f"{place}.racks",
            remedy="start from a template of a rack, and leave count out",
        )
    if count == 1:
        return design
    pattern = str(told.get("nics", "nic*"))
    inside = design.groups[group].content
    nics = _free_nics(design, list(inside.parts.values()), pattern)
    if not nics:
        raise FormatError(f"the servers have no NIC {pattern!r}", place=f"{place}.nics", remedy="name their NICs")
    rate, kind = (
        str(told.get("bandwidth") or _rate(design, nics, place)),
        str(told.get("kind") or _network(design, nics)),
    )
    refs = [Ref("parts", p.id) for p in design.parts.values() if p.kind not in _SHARED]
    refs += [Ref("groups", name) for name in design.groups]
    name = next_id(design.groups, "racks")
    design = MakeGroup(tuple(refs), name, count).apply(design)
    switch = next_id(design.parts, "cluster_switch")
    design = add_part(Part(id=switch, kind="switch", name="Network of the racks")).apply(design)
    attributes = {"technology": str(told["technology"])} if "technology" in told else {}
    return _meshed(design, nics, f"{name}[*]/{group}[*]", switch, kind, rate, attributes)


def _given(asked: object, place: str) -> Mapping[str, Any]:
    if isinstance(asked, int):
        return {"count": asked}
    if not isinstance(asked, dict):
        raise FormatError(f"{asked!r} is no number of servers", place=place, remedy='write 4, or {"count": 4, ...}')
    told = cast("dict[str, Any]", asked)
    strange = [name for name in told if name not in _FIELDS]
    if strange:
        raise FormatError(f"there is no {strange[0]!r}", place=place, remedy=f"use {', '.join(_FIELDS)}")
    return told


def _group_of_servers(design: Design) -> str | None:
    """The group whose members are the servers, if there is one."""
    found = [g.id for g in design.groups.values() if any(p.kind == "server" for p in g.content.parts.values())]
    return found[0] if len(found) == 1 and not _servers(design) else None


def _servers(block: Block) -> list[Part]:
    return [part for part in block.parts.values() if part.kind == "server"]


def _joined(design: Design, count: int, told: Mapping[str, Any], place: str) -> Design:
    servers = _servers(design)
    if len(servers) != 1:
        raise FormatError(
            f"the design has {len(servers)} servers", place=place, remedy="start from a design of one server"
        )
    mine = [part for part in design.parts.values() if part.kind not in _SHARED]
    nics = _free_nics(design, mine, str(told.get("nics", "nic*")))
    cabled = _cabled(design)
    if not nics and not cabled:
        raise FormatError(
            f"the server has no NIC {told.get('nics', 'nic*')!r}", place=f"{place}.nics", remedy="name its NICs"
        )
    rate = str(told.get("bandwidth") or _rate(design, nics, place)) if nics else ""
    kind = str(told.get("kind") or _network(design, nics))
    refs = tuple(Ref("parts", part.id) for part in mine)
    name = next_id(design.groups, "servers")
    design = MakeGroup(refs, name, count).apply(design)
    if not nics:
        return design
    switch = next_id(design.parts, "cluster_switch")
    design = add_part(Part(id=switch, kind="switch", name="Network of the servers")).apply(design)
    attributes = {"technology": str(told["technology"])} if "technology" in told else {}
    return _meshed(design, nics, f"{name}[*]", switch, kind, rate, attributes)


def _meshed(
    design: Design, nics: list[Part], members: str, switch: str, kind: str, rate: str, attributes: dict[str, str]
) -> Design:
    """Each NIC of all members cabled to the switch."""
    wirings = tuple(
        Wiring(
            id=f"{switch}-{nic.id}",
            pattern="mesh",
            a=f"{members}/{nic.id}",
            b=switch,
            kind=kind,
            bandwidth_per_direction=rate,
            attributes=attributes,
            source="case",
        )
        for nic in nics
    )
    return AddWirings(wirings).apply(design)


def _cabled(design: Design) -> set[str]:
    """Parts of the server with a link to what all servers share."""
    shared = {part.id for part in design.parts.values() if part.kind in _SHARED}
    ends = [(link.a, link.b) for link in design.links.values()]
    return {a if b in shared else b for a, b in ends if (a in shared) != (b in shared)}


def _free_nics(design: Design, mine: list[Part], pattern: str) -> list[Part]:
    attaching = [p for p in mine if Capability.ATTACH in part_kinds()[p.kind].capabilities] if mine else []
    cabled = _cabled(design)
    return [part for part in attaching if part.id not in cabled and fnmatchcase(part.id, pattern)]


def _rate(design: Design, nics: list[Part], place: str) -> str:
    for nic in nics:
        quantity = design.quantity(nic, "bandwidth_per_direction")
        if quantity is not None:
            return str(quantity.value)
    raise FormatError(
        "the NICs do not tell their rate", place=f"{place}.bandwidth", remedy='give it, such as "400 Gb/s"'
    )


def _network(design: Design, nics: list[Part]) -> str:
    """InfiniBand where the NICs can do it, Ethernet where they cannot."""
    said = [str(q.value).lower() for nic in nics if (q := design.quantity(nic, "technology")) is not None]
    return "ethernet" if said and not any("infiniband" in text for text in said) else "infiniband"

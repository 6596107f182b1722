"""A variant of a design written as data: values and types of parts, fields of links and wirings, group sizes, policy,
what is taken out or put in, virtual machines, and how many servers.

``{"parts": {"gpu*": {"type": "gpu/nvidia/h200-sxm"}, "hosts/nic0": {"bandwidth": "100 Gb/s"}},
"links": {"psw0--gpu0": {"generation": 4}}, "groups": {"hosts": 16}, "policy": {"gpudirect": false}}``

A group takes the number of its members, or fields: ``{"hosts": {"replicas": 16, "naming": "esx{01}"}}``.

Ids may hold ``*``; what is inside a group is named by the way to it, ``hosts/nic0``. ``"remove": ["nic1"]`` takes
parts, links or wirings out, ``"add": {"parts": [...], "links": [...]}`` puts new ones in as a design file writes them,
``"vms": {"web0": {"memory": "64 GiB"}}`` changes or makes virtual machines, and ``"servers"`` makes a cluster of a
server, see ``designer.interchange.changes``. The same edits as in the window carry the changes out, so the same things
are refused. Links of parts that get another type follow what the new type can do, see `refit`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, TypeVar, cast

from pydantic import ValidationError

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import Capability, PartType, SourceRecord, part_kinds
from designer.design.address import Ref, block_at, with_block
from designer.design.document import Block, Design, Link, LinkValues, Part, VirtualMachine, Wiring, with_changes
from designer.design.edit import Edit, put
from designer.design.edits.groups import ChangeGroups, SetReplicas
from designer.design.edits.links import AddLinks, ChangeLinks, RemoveLinks
from designer.design.edits.parts import AddParts, RemoveParts, SetType, SetValue, add_part
from designer.design.edits.properties import SetPolicy
from designer.design.edits.structure import MakeGroup
from designer.design.edits.vms import AddVms, ChangeVms, RemoveVms
from designer.design.edits.wirings import AddWirings, ChangeWirings, RemoveWirings
from designer.design.ids import next_id
from designer.design.rates import raw_rate
from designer.errors import DesignerError, FormatError, raised_as
from designer.fields import Quantity
from designer.spelling import near
from designer.units import format_line_rate, format_quantity, parse

_NETWORKS: Final = ("ethernet", "infiniband", "fabric")
_MESHES: Final = ("nvlink", "xgmi")
#: a rate that differs by less is the same
_SAME: Final = 0.005
Within = tuple[str, ...]


def refit(design: Design, changed: Iterable[tuple[Within, tuple[str, ...]]]) -> Design:
    """The design with the links of parts whose type has changed at what the new types can do.

    A network link runs at the port rate of the new NIC where the switch allows it, a PCIe link at the lower generation
    of its ends; accelerator links share what the new accelerator has, in the same proportions as before.
    """
    for within, ids in changed:
        block = block_at(design, within)
        parts = [block.parts[id] for id in ids]
        inside = [*_networks(design, block, parts), *_pcie(design, block, parts), *_meshes(design, block, parts)]
        if inside:
            design = with_block(design, within, put(block, "links", inside))
        outside = list(_wirings(design, within, parts))
        if outside:
            outer = block_at(design, within[:-1])
            design = with_block(design, within[:-1], put(outer, "wirings", outside))
    return design


def _stated_rate(design: Design, part: Part, name: str) -> float:
    quantity = design.quantity(part, name)
    try:
        return parse(quantity.value, "rate") if quantity is not None else 0.0
    except DesignerError:
        return 0.0


def _count(design: Design, part: Part, name: str) -> int:
    quantity = design.quantity(part, name)
    return quantity.value if quantity is not None and isinstance(quantity.value, int) else 0


def _port(design: Design, part: Part) -> float:
    """Rate of one network port of a NIC [B/s]; 0 where it is not given or the part is no NIC."""
    if Capability.ATTACH not in part_kinds()[part.kind].capabilities:
        return 0.0
    names = ("port_bandwidth_per_direction", "bandwidth_per_direction")
    return next((rate for name in names if (rate := _stated_rate(design, part, name))), 0.0)


def _rate_text(rate: float) -> str:
    return format_quantity(rate, "rate", 6)


def _towards(design: Design, block: Block, link: Link, ids: set[str]) -> Part | None:
    """The other end of a link that ends at one of some parts."""
    other = link.b if link.a in ids else link.a
    return block.parts.get(other)


def _at_port(design: Design, values: LinkValues, nic: Part, far: Part | None) -> float | None:
    """What a network link runs at with this NIC, where that is not what it is drawn with [B/s]."""
    port, drawn = _port(design, nic), raw_rate(values)[0]
    if not port or values.kind not in _NETWORKS:
        return None
    limit = _stated_rate(design, far, "port_bandwidth_per_direction") if far is not None else 0.0
    best = min(port, limit) if limit else min(port, drawn) if far is None else port
    return best if abs(best - drawn) > _SAME * drawn else None


def _networks(design: Design, block: Block, parts: list[Part]) -> Iterator[Link]:
    for part in parts:
        for link in block.links.values():
            if part.id in (link.a, link.b):
                rate = _at_port(design, link, part, _towards(design, block, link, {part.id}))
                if rate is not None:
                    yield with_changes(link, bandwidth_per_direction=format_line_rate(rate, 6))


def _wirings(design: Design, within: Within, parts: list[Part]) -> Iterator[Wiring]:
    """Wirings of the block around that end at some parts of a group."""
    if not within:
        return
    outer = block_at(design, within[:-1])
    for wiring in outer.wirings.values():
        for near_end, far_end in ((wiring.a, wiring.b), (wiring.b, wiring.a)):
            group, _, pattern = near_end.partition("/")
            if group.partition("[")[0] != within[-1]:
                continue
            nic = next((p for p in parts if _names(pattern, p.id)), None)
            if nic is None:
                continue
            rate = _at_port(design, wiring, nic, _first_part(outer, far_end))
            if rate is not None:
                yield with_changes(wiring, bandwidth_per_direction=format_line_rate(rate, 6))
            break


def _names(pattern: str, id: str) -> bool:
    head, brace, rest = pattern.partition("{")
    return fnmatchcase(id, f"{head}*{rest.partition('}')[2]}" if brace else pattern)


def _first_part(block: Block, path: str) -> Part | None:
    """A part that a path of a block names."""
    *groups, last = path.split("/")
    for step in groups:
        group = block.groups.get(step.partition("[")[0])
        if group is None:
            return None
        block = group.content
    return next((part for part in block.parts.values() if _names(last, part.id)), None)


def _pcie(design: Design, block: Block, parts: list[Part]) -> Iterator[Link]:
    for part in parts:
        newest = _count(design, part, "pcie_generation")
        for link in block.links.values():
            drawn = link.generation
            if link.kind == "pcie" and part.id in (link.a, link.b) and newest and drawn and newest < drawn:
                yield with_changes(link, generation=newest)


def _meshes(design: Design, block: Block, parts: list[Part]) -> Iterator[Link]:
    """Accelerator links, scaled so that those of each accelerator add up to the total of its new type."""
    changed: dict[str, Link] = {}
    for part in parts:
        total = _stated_rate(design, part, "accelerator_bandwidth_per_direction")
        mine = [x for x in block.links.values() if x.kind in _MESHES and part.id in (x.a, x.b)]
        drawn = sum(raw_rate(link)[0] * link.count for link in mine)
        if not total or not drawn or abs(total - drawn) <= _SAME * drawn:
            continue
        for link in mine:
            rate = raw_rate(link)[0] * total / drawn
            known = changed.get(link.id)
            if known is None or raw_rate(known)[0] > rate:
                changed[link.id] = with_changes(link, bandwidth_per_direction=_rate_text(rate))
    yield from changed.values()


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
    stated = _read_servers(asked, place)
    if "racks" in stated:
        return _racks(design, stated, place)
    count = stated.get("count", 0)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise FormatError(f"{count!r} is no number of servers", place=place, remedy="give 1 or more")
    try:
        group = _group_of_servers(design)
        if group is not None:
            _refuse_other_rack(design, group, count, place)
            return SetReplicas(group, count).apply(design)
        return _join_servers(design, count, stated, place) if count > 1 else design
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


def _racks(design: Design, stated: Mapping[str, Any], place: str) -> Design:
    """The design with that many racks, the NICs of their servers on one switch that never is the limit."""
    count = stated["racks"]
    group = _group_of_servers(design)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise FormatError(f"{count!r} is no number of racks", place=f"{place}.racks", remedy="give 1 or more")
    if group is None or not any(part.kind == "rack" for part in design.parts.values()) or "count" in stated:
        raise FormatError(
            "only a design of one rack becomes several, with all its servers",
            place=f"{place}.racks",
            remedy="start from a template of a rack, and leave count out",
        )
    if count == 1:
        return design
    pattern = str(stated.get("nics", "nic*"))
    inside = design.groups[group].content
    nics = _free_nics(design, list(inside.parts.values()), pattern)
    if not nics:
        raise FormatError(f"the servers have no NIC {pattern!r}", place=f"{place}.nics", remedy="name their NICs")
    rate, kind = (
        str(stated.get("bandwidth") or _rate(design, nics, place)),
        str(stated.get("kind") or _network(design, nics)),
    )
    refs = [Ref("parts", p.id) for p in design.parts.values() if p.kind not in _SHARED]
    refs += [Ref("groups", name) for name in design.groups]
    name = next_id(design.groups, "racks")
    design = MakeGroup(tuple(refs), name, count).apply(design)
    switch = next_id(design.parts, "cluster_switch")
    design = add_part(Part(id=switch, kind="switch", name="Network of the racks")).apply(design)
    attributes = {"technology": str(stated["technology"])} if "technology" in stated else {}
    return _cable_nics(design, nics, f"{name}[*]/{group}[*]", switch, kind, rate, attributes)


def _read_servers(asked: object, place: str) -> Mapping[str, Any]:
    if isinstance(asked, int):
        return {"count": asked}
    if not isinstance(asked, dict):
        raise FormatError(f"{asked!r} is no number of servers", place=place, remedy='write 4, or {"count": 4, ...}')
    stated = cast("dict[str, Any]", asked)
    strange = [name for name in stated if name not in _FIELDS]
    if strange:
        raise FormatError(f"there is no {strange[0]!r}", place=place, remedy=f"use {', '.join(_FIELDS)}")
    return stated


def _group_of_servers(design: Design) -> str | None:
    """The group whose members are the servers, if there is one."""
    found = [g.id for g in design.groups.values() if any(p.kind == "server" for p in g.content.parts.values())]
    return found[0] if len(found) == 1 and not _servers(design) else None


def _servers(block: Block) -> list[Part]:
    return [part for part in block.parts.values() if part.kind == "server"]


def _join_servers(design: Design, count: int, stated: Mapping[str, Any], place: str) -> Design:
    servers = _servers(design)
    if len(servers) != 1:
        raise FormatError(
            f"the design has {len(servers)} servers", place=place, remedy="start from a design of one server"
        )
    mine = [part for part in design.parts.values() if part.kind not in _SHARED]
    nics = _free_nics(design, mine, str(stated.get("nics", "nic*")))
    cabled = _linked_parts(design)
    if not nics and not cabled:
        raise FormatError(
            f"the server has no NIC {stated.get('nics', 'nic*')!r}", place=f"{place}.nics", remedy="name its NICs"
        )
    rate = str(stated.get("bandwidth") or _rate(design, nics, place)) if nics else ""
    kind = str(stated.get("kind") or _network(design, nics))
    refs = tuple(Ref("parts", part.id) for part in mine)
    name = next_id(design.groups, "servers")
    design = MakeGroup(refs, name, count).apply(design)
    if not nics:
        return design
    switch = next_id(design.parts, "cluster_switch")
    design = add_part(Part(id=switch, kind="switch", name="Network of the servers")).apply(design)
    attributes = {"technology": str(stated["technology"])} if "technology" in stated else {}
    return _cable_nics(design, nics, f"{name}[*]", switch, kind, rate, attributes)


def _cable_nics(
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


def _linked_parts(design: Design) -> set[str]:
    """Parts of the server with a link to what all servers share."""
    shared = {part.id for part in design.parts.values() if part.kind in _SHARED}
    ends = [(link.a, link.b) for link in design.links.values()]
    return {a if b in shared else b for a, b in ends if (a in shared) != (b in shared)}


def _free_nics(design: Design, mine: list[Part], pattern: str) -> list[Part]:
    attaching = [p for p in mine if Capability.ATTACH in part_kinds()[p.kind].capabilities] if mine else []
    cabled = _linked_parts(design)
    return [part for part in attaching if part.id not in cabled and fnmatchcase(part.id, pattern)]


def _rate(design: Design, nics: list[Part], place: str) -> str:
    for nic in nics:
        quantity = design.quantity(nic, "bandwidth_per_direction")
        if quantity is not None:
            return str(quantity.value)
    raise FormatError(
        "the NICs do not state their rate", place=f"{place}.bandwidth", remedy='give it, such as "400 Gb/s"'
    )


def _network(design: Design, nics: list[Part]) -> str:
    """InfiniBand where the NICs can do it, Ethernet where they cannot."""
    said = [str(q.value).lower() for nic in nics if (q := design.quantity(nic, "technology")) is not None]
    return "ethernet" if said and not any("infiniband" in text for text in said) else "infiniband"


_WHAT: Final = ("parts", "links", "wirings", "groups", "policy", "remove", "add", "vms", "servers")
_T = TypeVar("_T", Part, Link, VirtualMachine)


def apply_changes(design: Design, changes: object, source: str) -> Design:
    """The variant of a design; `source` is the source key of values that change.

    Raises
    ------
    FormatError
        If the changes have another shape, name what is not there, or cannot be carried out; with the place in them.
    """
    stated = _object(changes, "changes")
    for steps in (_sizes, _values):
        design = _apply_edits(design, steps(design, stated, source))
    design = _refit_links(design, stated)
    for steps in (_fields, _taken_out, _put_in):
        design = _apply_edits(design, steps(design, stated, source))
    if "servers" in stated:
        design = make_cluster(design, stated["servers"], "changes.servers")
    return _apply_edits(design, _machines(design, stated))


def _apply_edits(design: Design, edits: Iterator[tuple[str, Edit]]) -> Design:
    for place, edit in edits:
        with raised_as(FormatError, place):
            design = edit.apply(design)
    return design


def _sizes(design: Design, changes: Mapping[str, Any], source: str) -> Iterator[tuple[str, Edit]]:
    """Group sizes come first: the members that go away need no other changes."""
    strange = [name for name in changes if name not in _WHAT]
    if strange:
        raise FormatError(f"there is no {strange[0]!r} to change", place="changes", remedy=f"use {', '.join(_WHAT)}")
    for name, stated in _object(changes.get("groups", {}), "changes.groups").items():
        place = f"changes.groups.{name}"
        if isinstance(stated, dict):
            fields = {key: value for key, value in _object(stated, place).items() if key != "replicas"}
            for within, ids in _resolve_name(design, "groups", name, place):
                if fields:
                    yield place, ChangeGroups(ids, fields, within=within)
            if "replicas" not in stated:
                continue
        replicas = _object(stated, place)["replicas"] if isinstance(stated, dict) else stated
        if isinstance(replicas, bool) or not isinstance(replicas, int) or replicas < 1:
            raise FormatError(f"{replicas!r} is no number of members", place=place, remedy="give 1 or more")
        for within, ids in _resolve_name(design, "groups", name, place):
            yield from ((place, SetReplicas(id, replicas, within=within)) for id in ids)


def _values(design: Design, changes: Mapping[str, Any], source: str) -> Iterator[tuple[str, Edit]]:
    for name, values in _object(changes.get("parts", {}), "changes.parts").items():
        place = f"changes.parts.{name}"
        # the type first: values next to it are those of the part in its new type
        for value_name, value in sorted(_object(values, place).items(), key=lambda item: item[0] != "type"):
            for within, ids in _resolve_name(design, "parts", name, place):
                at = f"{place}.{value_name}"
                yield (
                    at,
                    _type(ids, value, within, at)
                    if value_name == "type"
                    else _value(ids, value_name, value, within, at, source),
                )


def _refit_links(design: Design, changes: Mapping[str, Any]) -> Design:
    """The design with the links of parts that got a new type, at the rates that type supports."""
    parts = _object(changes.get("parts", {}), "changes.parts")
    typed = [name for name, values in parts.items() if "type" in values]
    return refit(
        design, [each for name in typed for each in _resolve_name(design, "parts", name, f"changes.parts.{name}")]
    )


def _fields(design: Design, changes: Mapping[str, Any], source: str) -> Iterator[tuple[str, Edit]]:
    for what, change in (("links", ChangeLinks), ("wirings", ChangeWirings)):
        for name, values in _object(changes.get(what, {}), f"changes.{what}").items():
            place = f"changes.{what}.{name}"
            fields = _object(values, place)
            for within, ids in _resolve_name(design, what, name, place):
                yield place, change(ids, fields, within=within)
    policy = _object(changes.get("policy", {}), "changes.policy")
    if policy:
        yield "changes.policy", SetPolicy(policy)


def _taken_out(design: Design, changes: Mapping[str, Any], source: str) -> Iterator[tuple[str, Edit]]:
    removers = (("parts", RemoveParts), ("links", RemoveLinks), ("wirings", RemoveWirings))
    for name in _list(changes.get("remove", []), "changes.remove"):
        place = f"changes.remove.{name}"
        for what, remove in removers:
            try:
                found = list(_resolve_name(design, what, str(name), place))
            except FormatError:
                continue
            for within, ids in found:
                yield place, remove(ids, within=within)
            break
        else:
            raise FormatError(
                f"there is no part, link or wiring {name!r}", place=place, remedy="designer summary --ids lists them"
            )


def _put_in(design: Design, changes: Mapping[str, Any], source: str) -> Iterator[tuple[str, Edit]]:
    added = _object(changes.get("add", {}), "changes.add")
    strange = [name for name in added if name not in ("parts", "links")]
    if strange:
        raise FormatError(f"{strange[0]!r} cannot be added", place="changes.add", remedy="use parts, links")
    place = "changes.add.parts"
    parts = [_validate_item(Part, item, f"{place}[{k}]") for k, item in enumerate(_list(added.get("parts", []), place))]
    if parts:
        types: dict[str, PartType] = {}
        sources: dict[str, SourceRecord] = {}
        for part in parts:
            if part.type and part.type not in design.part_types:
                found = _catalog(part.type, f"{place}.{part.id}")
                types[found.id] = found
                sources |= found.sources
        yield place, AddParts(tuple(parts), tuple(types.values()), sources)
    place = "changes.add.links"
    links = [_validate_item(Link, item, f"{place}[{k}]") for k, item in enumerate(_list(added.get("links", []), place))]
    if links:
        yield place, AddLinks(tuple(links))


def _machines(design: Design, changes: Mapping[str, Any]) -> Iterator[tuple[str, Edit]]:
    for name, values in _object(changes.get("vms", {}), "changes.vms").items():
        place = f"changes.vms.{name}"
        known = tuple(id for id in design.vms if fnmatchcase(id, name))
        if not known and (values is None or "host" not in _object(values, place)):
            meant = near(name, design.vms) or [*design.vms][:8]
            remedy = f"there are {', '.join(meant)}; a new one names its host"
            raise FormatError(f"there is no virtual machine {name!r}", place=place, remedy=remedy)
        if values is None:
            yield place, RemoveVms(known)
        elif known:
            yield place, ChangeVms(known, _object(values, place))
        else:
            yield place, AddVms((_validate_item(VirtualMachine, {"id": name, **_object(values, place)}, place),))


def _validate_item(kind: type[_T], item: Any, place: str) -> _T:
    data = dict(_object(item, place))
    if kind is Part and "kind" not in data and "/" in str(data.get("type", "")):
        data["kind"] = str(data["type"]).partition("/")[0]
    if kind is Link and "id" not in data and {"a", "b"} <= data.keys():
        data["id"] = f"{data['a']}--{data['b']}".replace("/", "-").replace("[", "").replace("]", "")
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(step) for step in first["loc"])
        text = first["msg"].removeprefix("Value error, ")
        raise FormatError(text, place=f"{place}.{at}", remedy="write it as a design file does") from None


def _list(value: object, place: str) -> list[Any]:
    if isinstance(value, list):
        return cast("list[Any]", value)
    raise FormatError(f"{value!r} is no list", place=place, remedy='write ["name", ...]')


def _object(value: object, place: str) -> Mapping[str, Any]:
    if isinstance(value, dict) and all(isinstance(key, str) for key in cast("dict[Any, Any]", value)):
        return cast("dict[str, Any]", value)
    raise FormatError(f"{value!r} is no object", place=place, remedy='write {"name": value}')


def _resolve_name(
    design: Design, what: str, name: str, place: str
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The blocks and the ids in them that a name represents."""
    *way, last = name.split("/")
    within = tuple(step.removesuffix("[*]") for step in way)
    with raised_as(FormatError, place):
        block = block_at(design, within)
    found = [(within, _matching_ids(block, what, last))]
    if not found[0][1] and not way:
        # a name alone reaches into groups: people say gpu*, wherever the accelerators are drawn
        found = [(inner, ids) for inner, block in _blocks(design) if (ids := _matching_ids(block, what, last))]
    if not found or not found[0][1]:
        known = _items_of(block, what)
        meant = near(last, known) or [*known][:8]
        remedy = f"there are {', '.join(meant)}" if meant else "check the id"
        raise FormatError(f"there is no {what[:-1]} {name!r}", place=place, remedy=remedy)
    yield from found


def blocks_of(design: Design) -> Iterator[tuple[tuple[str, ...], Block]]:
    """The design itself and the contents of all its groups, each with the path to it."""
    yield (), design
    yield from _blocks(design)


def _matching_ids(block: Block, what: str, name: str) -> tuple[str, ...]:
    known = _items_of(block, what)
    if "*" in name:
        return tuple(id for id in known if fnmatchcase(id, name))
    return (name,) if name in known else ()


def _blocks(block: Block, within: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Block]]:
    """The contents of all groups in a block, outer ones first."""
    for group in block.groups.values():
        inner = (*within, group.id)
        yield inner, group.content
        yield from _blocks(group.content, inner)


def _items_of(block: Block, what: str) -> Mapping[str, Any]:
    return {"parts": block.parts, "links": block.links, "wirings": block.wirings, "groups": block.groups}[what]


def _type(ids: tuple[str, ...], type_id: object, within: tuple[str, ...], place: str) -> Edit:
    found = _catalog(str(type_id), place)
    return SetType(ids, found.id, found, found.sources, within=within)


def _catalog(type_id: str, place: str) -> PartType:
    with raised_as(FormatError, place):
        return load_catalog().get(type_id)


def _value(ids: tuple[str, ...], name: str, value: Any, within: tuple[str, ...], place: str, source: str) -> Edit:
    if not isinstance(value, str | int):
        raise FormatError(f"{value!r} is no value", place=place, remedy="spell it with its unit")
    return SetValue(ids, name, Quantity(value=value, source=source), within=within)

"""A variant of a design written as data: values and types of parts, fields of links, wirings and virtual machines,
group sizes, policy.

``{"parts": {"gpu*": {"type": "gpu/nvidia/h200-sxm"}, "hosts/nic0": {"bandwidth": "100 Gb/s"}},
"links": {"psw0--gpu0": {"generation": 4}}, "vms": {"train0": {"memory": "64 GiB"}},
"groups": {"hosts": 16}, "policy": {"gpudirect": false}}``

Ids may hold ``*``; what is inside a group is named by the way to it, ``hosts/nic0``. The same edits as in the window
carry the changes out, so the same things are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, cast

from designer.catalog.loader import load_catalog
from designer.design.address import block_at
from designer.design.document import Block, Design
from designer.design.edit import Edit
from designer.design.edits.groups import SetReplicas
from designer.design.edits.links import ChangeLinks
from designer.design.edits.parts import SetType, SetValue
from designer.design.edits.properties import SetPolicy
from designer.design.edits.vms import ChangeVms
from designer.design.edits.wirings import ChangeWirings
from designer.errors import DesignerError, FormatError
from designer.fields import Quantity
from designer.workload.kind import near

_WHAT: Final = ("parts", "links", "wirings", "vms", "groups", "policy")


def apply_changes(design: Design, changes: object, source: str) -> Design:
    """The variant of a design; `source` is the source key of values that change.

    Raises
    ------
    FormatError
        If the changes have another shape, name what is not there, or cannot be carried out; with the place in them.
    """
    for place, edit in _edits(design, _object(changes, "changes"), source):
        try:
            design = edit.apply(design)
        except DesignerError as error:
            raise FormatError(error.text, place=place, remedy=error.remedy) from None
    return design


def _edits(design: Design, changes: Mapping[str, Any], source: str) -> Iterator[tuple[str, Edit]]:
    strange = [name for name in changes if name not in _WHAT]
    if strange:
        raise FormatError(f"there is no {strange[0]!r} to change", place="changes", remedy=f"use {', '.join(_WHAT)}")
    # group sizes first: the members that go away need no other changes
    for name, replicas in _object(changes.get("groups", {}), "changes.groups").items():
        place = f"changes.groups.{name}"
        if isinstance(replicas, bool) or not isinstance(replicas, int) or replicas < 1:
            raise FormatError(f"{replicas!r} is no number of members", place=place, remedy="give 1 or more")
        for within, ids in _named(design, "groups", name, place):
            yield from ((place, SetReplicas(id, replicas, within=within)) for id in ids)
    for name, values in _object(changes.get("parts", {}), "changes.parts").items():
        place = f"changes.parts.{name}"
        for value_name, value in _object(values, place).items():
            for within, ids in _named(design, "parts", name, place):
                at = f"{place}.{value_name}"
                yield (
                    at,
                    _type(ids, value, within, at)
                    if value_name == "type"
                    else _value(ids, value_name, value, within, at, source),
                )
    for what, change in (("links", ChangeLinks), ("wirings", ChangeWirings)):
        for name, values in _object(changes.get(what, {}), f"changes.{what}").items():
            place = f"changes.{what}.{name}"
            fields = _object(values, place)
            for within, ids in _named(design, what, name, place):
                yield place, change(ids, fields, within=within)
    for name, values in _object(changes.get("vms", {}), "changes.vms").items():
        place = f"changes.vms.{name}"
        yield place, ChangeVms(_chosen(design.vms, "virtual machine", name, place), _object(values, place))
    policy = _object(changes.get("policy", {}), "changes.policy")
    if policy:
        yield "changes.policy", SetPolicy(policy)


def _object(value: object, place: str) -> Mapping[str, Any]:
    if isinstance(value, dict) and all(isinstance(key, str) for key in cast("dict[Any, Any]", value)):
        return cast("dict[str, Any]", value)
    raise FormatError(f"{value!r} is no object", place=place, remedy='write {"name": value}')


def _named(
    design: Design, what: str, name: str, place: str
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:  # fmt: skip
    """The block and the ids in it that a name stands for."""
    *way, last = name.split("/")
    within = tuple(way)
    try:
        block = block_at(design, within)
    except DesignerError as error:
        raise FormatError(error.text, place=place, remedy=error.remedy) from None
    yield within, _chosen(_known(block, what), what[:-1], last, place)


def _chosen(known: Mapping[str, Any], what: str, name: str, place: str) -> tuple[str, ...]:
    """The ids a name stands for."""
    ids = tuple(id for id in known if fnmatchcase(id, name)) if "*" in name else (name,) if name in known else ()
    if not ids:
        meant = near(name, known) or [*known][:8]
        remedy = f"there are {', '.join(meant)}" if meant else "check the id"
        raise FormatError(f"there is no {what} {name!r}", place=place, remedy=remedy)
    return ids


def _known(block: Block, what: str) -> Mapping[str, Any]:
    return {"parts": block.parts, "links": block.links, "wirings": block.wirings, "groups": block.groups}[what]


def _type(ids: tuple[str, ...], type_id: object, within: tuple[str, ...], place: str) -> Edit:
    try:
        found = load_catalog().get(str(type_id))
    except DesignerError as error:
        raise FormatError(error.text, place=place, remedy=error.remedy) from None
    return SetType(ids, found.id, found, found.sources, within=within)


def _value(ids: tuple[str, ...], name: str, value: Any, within: tuple[str, ...], place: str, source: str) -> Edit:
    if not isinstance(value, str | int):
        raise FormatError(f"{value!r} is no value", place=place, remedy="spell it with its unit")
    return SetValue(ids, name, Quantity(value=value, source=source), within=within)

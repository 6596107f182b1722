"""Overrides for one run: ``gpu*.type=gpu/nvidia/h200-sxm`` on a command line, and workloads in files of their own.

A path is what is changed and the name of its value. What is changed is a part or link by its id or way, ``hosts/nic0``
or ``cpu0--gpu0``, or one of ``links.ID``, ``wirings.ID``, ``groups`` (``groups.hosts=16`` is how many members a group
has, ``groups.hosts.naming=esx{01}`` what they are called), ``vms.ID``, ``workloads.ID`` and ``policy``.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, cast

from pydantic import ValidationError

from designer import atomic
from designer.catalog.parttype import part_kinds
from designer.design.address import block_at
from designer.design.document import Block, Design, Part, WorkloadSpec
from designer.design.edits.workloads import AddWorkloads, ChangeWorkload
from designer.errors import DesignerError, DocumentError, FormatError
from designer.interchange.changes import apply_changes, blocks_of
from designer.interchange.native.raw import shown
from designer.spelling import did_you_mean
from designer.workload.kind import workload_kinds

#: source of values given for one run
SOURCE: Final = "given"
#: what of a group has a path of its own; the path of the group alone is its number of members
_GROUP_FIELDS: Final = ("replicas", "naming", "name", "note")
_REMEDY: Final = "write PATH=VALUE, such as gpu0.power_per_part=400 W, policy.gpudirect=false or workloads.h2d.to=gpu0"
_WORKLOAD_FORM: Final = 'write {"id": …, "kind": …, "settings": {…}}'
#: larger files of workloads are refused [B]
_LARGEST: Final = 4_000_000


def overridden(design: Design, overrides: Iterable[str]) -> Design:
    """The design with values changed, types first, then the rest one after the other.

    Raises
    ------
    FormatError
        If a text is no ``PATH=VALUE``, names nothing, or its value cannot be.
    """
    # types first: what is given for a part next to its new type is meant for that type
    for text in sorted(overrides, key=lambda text: not text.partition("=")[0].rstrip().endswith(".type")):
        path, sign, value = text.partition("=")
        if not sign or not path.strip():
            raise FormatError(f"{text!r} is no PATH=VALUE", place="--set", remedy=_REMEDY)
        try:
            design = _apply_override(design, path.strip(), value.strip())
        except DesignerError as error:
            raise FormatError(error.text, place=f"--set {path.strip()}", remedy=error.remedy or _REMEDY) from None
    return design


def given_way(before: Design, after: Design) -> list[str]:
    """Values given by hand that parts lost with the type they had, as ``storage/nfs: client_read_bandwidth``."""
    return [
        f"{'/'.join((*within, part.id))}: {', '.join(lost)}"
        for within, block in blocks_of(before)
        for part in block.parts.values()
        if part.overrides
        and (new := _part_at(after, within, part.id)) is not None
        and new.type != part.type
        and (lost := [name for name in part.overrides if name not in new.overrides])
    ]


def _part_at(design: Design, within: tuple[str, ...], part_id: str) -> Part | None:
    try:
        return block_at(design, within).parts.get(part_id)
    except DocumentError:
        return None


def _apply_override(design: Design, path: str, text: str) -> Design:
    head, _, rest = path.partition(".")
    if head == "policy":
        return apply_changes(design, {"policy": {rest: _parse_value(text)}}, SOURCE)
    if head == "groups":
        name, _, field = rest.rpartition(".")
        if name and field in _GROUP_FIELDS:
            value = _parse_value(text) if field == "replicas" else text
            return apply_changes(design, {"groups": {name: {field: value}}}, SOURCE)
        return apply_changes(design, {"groups": {rest: _parse_value(text)}}, SOURCE)
    if head == "workloads":
        return _workload(design, rest, text)
    if head in ("links", "wirings", "vms", "parts"):
        name, _, field = rest.rpartition(".")
        what = head
    else:
        name, _, field = path.rpartition(".")
        what = "links" if _is_link(design, name) else "parts"
    if not name or not field:
        raise FormatError(f"{path!r} does not name a value", remedy=_REMEDY)
    value = _parse_value(text) if what != "parts" else _of_part(field, text)
    return apply_changes(design, {what: {name: {field: value}}}, SOURCE)


def _workload(design: Design, rest: str, text: str) -> Design:
    # ids may hold points: the longest that is known
    names = [w for w in design.workloads if rest.startswith(f"{w}.")]
    if not names:
        known = f"there are {', '.join(design.workloads) or 'none'}"
        remedy = did_you_mean(rest.partition(".")[0], design.workloads, known)
        raise FormatError(f"there is no workload in {rest!r}", remedy=remedy)
    name = max(names, key=len)
    setting = rest[len(name) + 1 :].removeprefix("settings.")
    spec = design.workloads[name]
    kind = workload_kinds().get(spec.kind)
    field = next((s for s in kind.settings if s.name == setting), None) if kind is not None else None
    if kind is not None and field is None:
        names_known = [s.name for s in kind.settings]
        remedy = did_you_mean(setting, names_known, f"it has {', '.join(names_known)}")
        raise FormatError(f"{name} has no setting {setting!r}", remedy=remedy)
    plain = field is not None and field.dimension in ("count", "flag")
    value = _parse_value(text) if plain else text
    return ChangeWorkload(name, {"settings": {**spec.settings, setting: value}}).apply(design)


def _of_part(field: str, text: str) -> str | int | bool:
    dimensions = {f.dimension for kind in part_kinds().values() for f in kind.fields if f.name == field}
    return _parse_value(text) if dimensions and dimensions <= {"count", "flag"} else text


def _parse_value(text: str) -> str | int | bool:
    """A whole number or a flag where the text is one."""
    if text in ("true", "false"):
        return text == "true"
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 16 else text


def _is_link(design: Design, name: str) -> bool:
    *way, last = name.split("/")
    block: Block = design
    for step in way:
        group = block.groups.get(step.removesuffix("[*]"))
        if group is None:
            return False
        block = group.content
    return last in block.links


def with_workloads(design: Design, files: Sequence[str | Path]) -> Design:
    """The design with the workloads of files put in, JSON or TOML: one with ``id`` and ``kind``, or ``workloads``.

    Raises
    ------
    FormatError
        If a file cannot be read or holds no workload.
    """
    for name in files:
        for raw in _read(Path(name)):
            spec = _spec(raw, Path(name))
            try:
                if spec.id in design.workloads:
                    changes = {"kind": spec.kind, "title": spec.title, "settings": spec.settings}
                    design = ChangeWorkload(spec.id, changes).apply(design)
                else:
                    design = AddWorkloads((spec,)).apply(design)
            except DesignerError as error:
                raise FormatError(error.text, file=shown(Path(name)), place=spec.id, remedy=error.remedy) from None
    return design


def _read(path: Path) -> list[Any]:
    try:
        data = atomic.read(path, _LARGEST + 1)
        if len(data) > _LARGEST:
            raise FormatError("the file is too large", file=shown(path), remedy="a workload is a few lines")
        text = data.decode("utf-8")
        content = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except FileNotFoundError:
        raise FormatError("there is no such file", file=shown(path), remedy="give a JSON or TOML file") from None
    except (OSError, ValueError, RecursionError) as error:
        remedy = "write a workload as JSON or TOML: id, kind, settings"
        raise FormatError(f"it cannot be read: {str(error)[:200]}", file=shown(path), remedy=remedy) from None
    if isinstance(content, dict) and "workloads" in content:
        content = cast("dict[str, Any]", content)["workloads"]
    return cast("list[Any]", content) if isinstance(content, list) else [content]


def _problem_text(error: ValidationError) -> str:
    """The first problem of a workload, with the key it is about."""
    first = error.errors()[0]
    key = ".".join(str(step) for step in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"{key!r} is not a key of a workload"
    return f"{key}: {first['msg']}" if key else str(first["msg"])


def _spec(raw: Any, path: Path) -> WorkloadSpec:
    if isinstance(raw, dict):
        entry = cast("dict[str, Any]", raw)
        raw = {"id": path.name.partition(".")[0], **entry}
    try:
        return WorkloadSpec.model_validate(raw)
    except (ValidationError, RecursionError) as error:
        text = _problem_text(error) if isinstance(error, ValidationError) else "it is too deep"
        raise FormatError(text, file=shown(path), place="the workload", remedy=_WORKLOAD_FORM) from None

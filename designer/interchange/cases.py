"""Files of measurements, and the designs they were made on.

A file is one JSON object, ``{"format": "designer-cases", "version": 1, "cases": [...]}``, or the same as TOML. Fields
next to ``cases`` in ``defaults`` count for every case that does not say otherwise. Each case has

- ``design``: a template id, or a design file next to the case file;
- ``changes``: optional; what is different there, see ``designer.interchange.changes``;
- ``workload``: the id of a workload of the design, ``{"kind": ..., "settings": {...}}``, or an id with the settings
  that differ;
- ``metric``, one that workloads of the kind report, and ``value``: spelled with its unit, or a number in SI units, or
  a number next to ``unit``;
- ``source``: where the measurement is published, or who made it; stated as missing where it is;
- optional ``sided``: ``both``, or ``lower`` or ``upper`` where the measurement is a bound; ``note``;
- optional ``id``, ``group`` (publication and machine, scored by its median) and ``area`` (mean over its groups);
  without them the number of the case, its source or file, and the kind of workload serve.

Names are read as publications write them, see ``designer.interchange.spellings``. A case that is wrong is a problem
of its own and leaves the others alone.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, cast

from pydantic import ValidationError

from designer import units
from designer.decisions.validation import Measured
from designer.design.document import Design, WorkloadSpec
from designer.errors import DesignerError, FormatError, UnitError, raised_as
from designer.formulas.scoring import Sided
from designer.interchange import spellings
from designer.interchange.changes import apply_changes
from designer.interchange.native.json_text import decode, parse
from designer.interchange.native.raw import read_bytes, shown
from designer.interchange.templates import list_templates, open_design
from designer.spelling import near
from designer.units import DIMENSION_OF_UNIT
from designer.workload.kind import WorkloadKind, workload_kinds
from designer.workload.metrics import METRICS

FORMAT: Final = "designer-cases"
VERSION: Final = 1
MAX_FILE: Final = 32_000_000
#: more cases than this in one file are refused, as are more objects before they are read
MAX_CASES: Final = 20_000
_MAX_OBJECTS: Final = 20 * MAX_CASES
_FIELDS: Final = ("design", "workload", "metric", "value")
_OPTIONAL: Final = ("source", "id", "area", "group", "changes", "sided", "note", "unit")
_REMEDY: Final = "designer validate --help shows a whole case file"
#: what counts in a second is left out of a spelled rate of events: "2400 images/s"
_COUNTED: Final = re.compile(
    r"(?<=[\d\skM])(?:images?|img|samples?|sequences?|seq|sentences?|tokens?|tok|steps?)\s*(?:/|per\s+)\s*s(?:ec|econd)?\Z"
)
#: so many files and folders are looked through for case files
_MOST_FILES: Final = 20_000
#: "20 accelerators"
_PIECES: Final = re.compile(r"(?<=[\d\s])(?:accelerators?|GPUs?|machines?|VMs?|cores?|hosts?|layouts?)\Z")
#: a bare number of bytes, or of bytes a second, below this was not meant in SI units
_FEW: Final = 1e5


@dataclass(frozen=True, slots=True)
class CaseFile:
    """What a file holds: the cases that can be read, what is wrong with the others, and what is worth saying."""

    path: Path
    cases: tuple[tuple[Design, Measured], ...]
    problems: tuple[FormatError, ...] = ()
    notes: tuple[str, ...] = ()


def case_files(path: Path) -> list[Path]:
    """The file itself, or the case files below a folder, ordered by name.

    Raises
    ------
    FormatError
        If there is none below the folder.
    """
    if not path.is_dir():
        return [path]
    found = [file for file in _case_files(path) if _is_case_file(file)]
    if not found:
        raise FormatError(
            "no file of measurements below this folder",
            file=shown(path),
            remedy=f'they begin with "format": "{FORMAT}"',
        )
    return found


def _case_files(folder: Path) -> list[Path]:
    """Files below a folder whose names could be those of case files; links to folders are not followed."""
    found: list[Path] = []
    seen = 0
    for at, folders, names in os.walk(folder):
        folders.sort()
        seen += len(names) + len(folders)
        if seen > _MOST_FILES:
            raise FormatError(
                f"more than {_MOST_FILES:,} files stand below this folder",
                file=shown(folder),
                remedy="name the files, or a folder with fewer",
            )
        found += [Path(at, name) for name in names if name.endswith((".json", ".toml"))]
    return sorted(found)


def _text(path: Path) -> str:
    """The text of a case file."""
    try:
        size = path.stat().st_size
    except (OSError, ValueError):
        size = -1
    if size == 0:
        raise FormatError("the file is empty", remedy=_REMEDY)
    if size > MAX_FILE:
        raise FormatError(
            f"the file has {size / 1e6:,.0f} MB, more than {MAX_FILE / 1e6:,.0f} MB", remedy="split it, and give both"
        )
    text = decode(read_bytes(path, MAX_FILE))
    if text.count("{") > _MAX_OBJECTS:
        raise FormatError(f"the file has more than {MAX_CASES:,} cases", remedy="split it, and give both")
    return text


def _is_case_file(path: Path) -> bool:
    if not path.is_file() or path.name.endswith(".design.json"):
        return False
    try:
        text = _text(path)
    except DesignerError:
        return False
    try:
        content = _parse_content(text, path)
    except DesignerError:
        # a broken file that calls itself a case file: reading it states what is broken
        return FORMAT in text
    return isinstance(content, dict) and cast("dict[str, Any]", content).get("format") == FORMAT


def look_into(path: Path) -> CaseFile:
    """What a case file holds.

    Raises
    ------
    FormatError
        If it is no case file at all.
    """
    try:
        cases, defaults = _content(_parse_content(_text(path), path))
    except FormatError as error:
        raise error.at(file=shown(path)) from None
    read: list[tuple[Design, Measured]] = []
    problems: list[FormatError] = []
    seen: dict[str, int] = {}
    nameless = 0
    for k, case in enumerate(cases):
        try:
            design, measured, sourced = _case(case, k, path, defaults)
            first = seen.setdefault(measured.id, k)
            if first != k:
                raise FormatError(
                    f"the id {measured.id!r} exists twice, see cases[{first}]",
                    place=f"cases[{k}].id",
                    remedy="give each case an id of its own, or none",
                )
        except FormatError as error:
            error.at(file=shown(path))
            problems.append(error)
            continue
        nameless += not sourced
        read.append((design, measured))
    notes = [f"{shown(path)}: {nameless} of {len(cases)} cases do not say their source"] if nameless else []
    return CaseFile(path, tuple(read), tuple(problems), tuple(notes))


def _parse_content(text: str, path: Path) -> Any:
    """The content of a JSON or TOML text."""
    if not text.strip():
        raise FormatError("the file is empty", remedy=_REMEDY)
    start = text.lstrip().removeprefix("\ufeff").lstrip()
    if path.suffix != ".toml" and (path.suffix == ".json" or start[:1] in ("{", '"') or start.startswith(("[{", "[]"))):
        return parse(text)
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        message, _, place = str(error).partition(" (at ")
        if path.suffix == ".toml":
            raise FormatError(
                f"this is not TOML: {message[:120]}", place=place.rstrip(")") or None, remedy="correct the text there"
            ) from None
    what = "YAML is not read" if path.suffix in (".yaml", ".yml") else "this is neither JSON nor TOML"
    raise FormatError(what, remedy=f"write it as JSON or TOML; {_REMEDY}")


def _content(content: Any) -> tuple[list[Any], Mapping[str, Any]]:
    """The cases of a file and what they have in common."""
    if isinstance(content, list):
        content = {"cases": content}
    found = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    if found.get("format", FORMAT) != FORMAT or "cases" not in found:
        stated = f": it says {str(found['format'])[:40]!r}" if "format" in found else ""
        raise FormatError(
            f"this is not a file of measurements{stated}", place="format", remedy=f'begin with "format": "{FORMAT}"'
        )
    if found.get("version", VERSION) != VERSION:
        text = f"version {str(found['version'])[:40]!r} of the format is not known"
        raise FormatError(text, place="version", remedy=f'this program reads "version": {VERSION}')
    cases = found["cases"]
    if not isinstance(cases, list) or not cases:
        raise FormatError("there are no cases", place="cases", remedy="give at least one")
    many = cast("list[Any]", cases)
    if len(many) > MAX_CASES:
        raise FormatError(
            f"{len(many):,} cases are more than {MAX_CASES:,}", place="cases", remedy="split the file, and give both"
        )
    return many, _fields(found.get("defaults", {}), "defaults")


def _fields(value: object, place: str) -> dict[str, Any]:
    """The fields of a case under their own names."""
    if not isinstance(value, dict):
        raise FormatError(f"{str(value)[:40]!r} is no object", place=place, remedy=_REMEDY)
    made: dict[str, Any] = {}
    for name, item in cast("dict[str, Any]", value).items():
        field = spellings.field(name)
        if field in made:
            raise FormatError(f"{field!r} is given twice", place=place, remedy="keep one of them")
        made[field] = item
    return made


def _case(case: Any, index: int, path: Path, defaults: Mapping[str, Any]) -> tuple[Design, Measured, bool]:
    place = f"cases[{index}]"
    data = {**defaults, **_fields(case, place)}
    name = str(data.get("id", index + 1))
    place = f"cases[{index}] ({name[:60]})" if "id" in data else place
    _complete(data, place)
    source = str(data.get("source") or "").strip()
    try:
        design = apply_changes(_open_design(data["design"], str(path.parent)), data.get("changes", {}), "case")
        workload = _workload(design, data["workload"])
        kind = _kind(workload)
        metric = spellings.metric(kind, data["metric"])
        return (
            design,
            Measured(
                name,
                str(data.get("area", kind.reports)),
                str(data.get("group") or source or path.stem),
                source or "not given",
                metric.name,
                _value(data["value"], data.get("unit"), metric.name),
                _read_side(data.get("sided", "both")),
                workload,
                metric.per_accelerator,
                f"{shown(path)}: {place}",
            ),
            bool(source),
        )
    except DesignerError as error:
        raise FormatError(error.text, place=f"{place}: {error.place or ''}".rstrip(": "), remedy=error.remedy) from None
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(step) for step in first["loc"])
        raise FormatError(first["msg"], place=f"{place}: {at}", remedy=_REMEDY) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(str(error).splitlines()[0], place=place, remedy=_REMEDY) from None


def _complete(data: Mapping[str, Any], place: str) -> None:
    missing = [name for name in _FIELDS if name not in data]
    unknown = [name for name in data if name not in _FIELDS + _OPTIONAL]
    if missing or unknown:
        stated = (f"{', '.join(names)} {what}" for names, what in ((missing, "missing"), (unknown, "unknown")) if names)
        raise FormatError(
            "; ".join(stated),
            place=place,
            remedy=f"a case has {', '.join(_FIELDS)}; it may have {', '.join(_OPTIONAL)}",
        )


def _read_side(asked: object) -> Sided:
    word = spellings.normal(asked).removesuffix("_bound")
    if word not in tuple(Sided):
        raise FormatError(f"{asked!r} is no side", place="sided", remedy=f"use {', '.join(Sided)}")
    return Sided(word)


def _kind(workload: WorkloadSpec) -> WorkloadKind:
    kinds = workload_kinds()
    if workload.kind not in kinds:
        meant = near(workload.kind, kinds) or kinds
        raise FormatError(
            f"there is no workload kind {workload.kind!r}", place="workload.kind", remedy=f"use {', '.join(meant)}"
        )
    return kinds[workload.kind]


def _value(value: object, unit: object, metric: str) -> float:
    """A measured value [SI unit of the metric]."""
    dimension = DIMENSION_OF_UNIT[METRICS[metric].unit]
    example = units.EXAMPLE[dimension]
    if unit is not None:
        value = f"{value} {unit}"
    if isinstance(value, str):
        with raised_as(FormatError, "value", of=UnitError):
            number = units.parse(_without_counts(value, dimension), dimension)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
        if dimension in ("rate", "size") and 0 < number < _FEW:
            raise FormatError(
                f"{value!r} without a unit would be {value!r} {METRICS[metric].unit}",
                place="value",
                remedy=f'write the unit out, such as "{value} GB{"/s" if dimension == "rate" else ""}"',
            )
    else:
        number = math.nan
    if not math.isfinite(number) or number <= 0:
        raise FormatError(
            f"{value!r} was not measured", place="value", remedy=f'give more than zero, such as "{example}"'
        )
    return number


def _without_counts(text: str, dimension: str) -> str:
    if dimension == "frequency":
        return _COUNTED.sub("/s", re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.strip()))
    return _PIECES.sub("", text.strip()) if dimension == "ratio" else text


def _open_design(name: object, folder: str) -> Design:
    if not isinstance(name, str) or not name.strip():
        raise FormatError(f"{name!r} is no design", place="design", remedy="give a template id or a design file")
    try:
        return _design(name.strip(), folder)
    except DesignerError as error:
        if error.file is None and error.place is None:
            meant = near_templates(name)
            remedy = f"did you mean {', '.join(meant)}? (designer templates lists all)" if meant else error.remedy
            raise FormatError(error.text, place="design", remedy=remedy) from None
        raise FormatError(str(error), place="design") from None


def near_templates(name: str) -> list[str]:
    """Templates that `name` may have been meant to be."""
    known = {template.id.replace("-", "_"): template.id for template in list_templates()}
    plain = spellings.normal(name)
    found = near(plain, known) or [key for key in known if plain in key][:3]
    return [known[key] for key in found]


@lru_cache(maxsize=16)
def _design(name: str, folder: str) -> Design:
    beside = Path(folder) / name
    return open_design(beside if beside.is_file() else name)


def _workload(design: Design, asked: Any) -> WorkloadSpec:
    if isinstance(asked, str):
        found = design.workloads.get(asked)
        if found is not None:
            return found
        if spellings.normal(asked) in workload_kinds():
            return WorkloadSpec(id="case", kind=spellings.normal(asked))
        raise FormatError(
            f"the design has no workload {asked!r}",
            place="workload",
            remedy=f"use {', '.join(design.workloads)}, or a kind with settings",
        )
    if not isinstance(asked, dict):
        raise FormatError(
            f"{asked!r} is no workload", place="workload", remedy='give an id, or {"kind": ..., "settings": {...}}'
        )
    stated = cast("dict[str, Any]", asked)
    base: Mapping[str, Any] = {}
    if "kind" not in stated:
        if "id" not in stated:
            raise FormatError("the kind is missing", place="workload", remedy=f"use {', '.join(workload_kinds())}")
        drawn = _workload(design, str(stated["id"]))
        stated, base = {**stated, "kind": drawn.kind}, drawn.settings
    kind = _kind(WorkloadSpec(id="case", kind=spellings.normal(stated["kind"]) or "?"))
    return WorkloadSpec(id="case", kind=kind.name, settings={**base, **spellings.settings(kind, _settings_of(stated))})


def _settings_of(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a workload, written under ``settings`` or next to its kind."""
    inner = stated.get("settings", {})
    if not isinstance(inner, dict):
        raise FormatError(
            f"{str(inner)[:40]!r} is no object", place="workload.settings", remedy='write {"name": value}'
        )
    beside = {name: value for name, value in stated.items() if name not in ("kind", "settings", "id", "title", "note")}
    return {**beside, **cast("dict[str, Any]", inner)}


def gathered(paths: Iterable[Path]) -> tuple[list[CaseFile], list[DesignerError]]:
    """All case files of files and folders, each once, and what is wrong with those that are none."""
    files: list[CaseFile] = []
    wrong: list[DesignerError] = []
    seen: set[str] = set()
    for path in paths:
        try:
            below = case_files(path)
        except DesignerError as error:
            wrong.append(error)
            continue
        for file in below:
            # links in a circle have no end; reading them says so
            real = os.path.realpath(file)
            if real in seen:
                continue
            seen.add(real)
            try:
                files.append(look_into(file))
            except DesignerError as error:
                wrong.append(error)
    return files, wrong

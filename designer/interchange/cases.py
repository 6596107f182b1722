"""Files of measurements, and the designs they were made on.

A file is one JSON object: ``{"format": "designer-cases", "version": 1, "cases": [...]}``. Each case has

- ``source``: where the measurement is published, or who made it;
- ``design``: a template id, or a design file beside the case file;
- ``changes``: optional; what is different there, see ``designer.interchange.changes``;
- ``workload``: the id of a workload of the design, or ``{"kind": ..., "settings": {...}}``;
- ``metric``, one that workloads of the kind report, and ``value``: spelled with its unit, or a number in SI units;
- optional ``sided``: ``both``, or ``lower`` or ``upper`` where the measurement is a bound; ``note``;
- optional ``id``, ``group`` (publication and machine, scored by its median) and ``area`` (mean over its groups);
  without them the number of the case, its source and the kind of workload serve.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, cast

from pydantic import ValidationError

from designer import units
from designer.analysis.validation import Measured
from designer.design.document import Design, WorkloadSpec
from designer.errors import DesignerError, FormatError, UnitError
from designer.formulas.scoring import Sided
from designer.interchange.changes import apply_changes
from designer.interchange.native.json_text import decode, parse
from designer.interchange.native.reader import read_bytes, shown
from designer.interchange.templates import open_design
from designer.units import DIMENSION_OF_UNIT
from designer.workload.kind import WorkloadKind, near, workload_kinds
from designer.workload.metrics import METRICS

FORMAT: Final = "designer-cases"
VERSION: Final = 1
MAX_FILE: Final = 32_000_000
_FIELDS: Final = ("source", "design", "workload", "metric", "value")
_REMEDY: Final = "designer validate --help shows a whole case file"
_OPTIONAL: Final = ("id", "area", "group", "changes", "sided", "note")
#: what counts in a second is left out of a spelled rate of events: "2400 images/s"
_COUNTED: Final = re.compile(r"(?<=[\d\s])(?:images|samples|sequences|sentences|tokens|steps)(?=/s\Z)")


def case_files(path: Path) -> list[Path]:
    """The file itself, or the case files below a folder, ordered by name.

    Raises
    ------
    FormatError
        If there is none below the folder.
    """
    if not path.is_dir():
        return [path]
    found = [file for file in sorted(path.rglob("*.json")) if file.is_file() and _is_case_file(file)]
    if not found:
        raise FormatError(
            "no file of measurements below this folder",
            file=shown(path),
            remedy=f'they begin with "format": "{FORMAT}"',
        )
    return found


def _is_case_file(path: Path) -> bool:
    try:
        content = parse(decode(read_bytes(path, MAX_FILE)))
    except DesignerError:
        # a broken file may be a case file: reading it tells what is broken
        return True
    return isinstance(content, dict) and content.get("format") == FORMAT


def read_cases(path: Path) -> list[tuple[Design, Measured]]:
    """Designs and measurements of a case file.

    Raises
    ------
    FormatError
        Naming the file, the case and what is wrong.
    """
    try:
        content = parse(decode(read_bytes(path, MAX_FILE)))
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise FormatError(
                "this is not a file of measurements", place="format", remedy=f'begin with "format": "{FORMAT}"'
            )
        if content.get("version") != VERSION:
            text = f"version {content.get('version')!r} of the format is not known"
            raise FormatError(text, place="version", remedy=f'this program reads "version": {VERSION}')
        cases = content.get("cases")
        if not isinstance(cases, list) or not cases:
            raise FormatError("there are no cases", place="cases", remedy="give at least one")
        return [_case(case, k, path.parent) for k, case in enumerate(cases)]
    except FormatError as error:
        raise error.at(file=shown(path)) from None


def _case(case: Any, index: int, folder: Path) -> tuple[Design, Measured]:
    place = f"cases[{index}]"
    if not isinstance(case, dict):
        raise FormatError("a case is an object", place=place, remedy="see the other cases")
    data = cast("dict[str, Any]", case)
    missing = [name for name in _FIELDS if name not in data]
    unknown = [name for name in data if name not in _FIELDS + _OPTIONAL]
    if missing or unknown:
        told = (f"{', '.join(names)} {what}" for names, what in ((missing, "missing"), (unknown, "unknown")) if names)
        text = "; ".join(told)
        raise FormatError(
            text, place=place, remedy=f"a case has {', '.join(_FIELDS)}; it may have {', '.join(_OPTIONAL)}"
        )
    name = str(data.get("id", index + 1))
    place = f"cases[{index}] ({name})" if "id" in data else place
    try:
        design = apply_changes(_opened(str(data["design"]), str(folder)), data.get("changes", {}), "case")
        workload = _workload(design, data["workload"])
        kind = _kind(workload)
        metric, source = _metric(kind, data["metric"]), str(data["source"])
        return design, Measured(
            name, str(data.get("area", kind.reports)), str(data.get("group", source)), source, metric,
            _value(data["value"], metric), Sided(data.get("sided", "both")), workload,
        )  # fmt: skip
    except DesignerError as error:
        raise FormatError(error.text, place=f"{place}: {error.place or ''}".rstrip(": "), remedy=error.remedy) from None
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(step) for step in first["loc"])
        raise FormatError(first["msg"], place=f"{place}: {at}", remedy=_REMEDY) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(str(error).splitlines()[0], place=place, remedy=_REMEDY) from None


def _kind(workload: WorkloadSpec) -> WorkloadKind:
    kinds = workload_kinds()
    if workload.kind not in kinds:
        meant = near(workload.kind, kinds) or kinds
        raise FormatError(
            f"there is no workload kind {workload.kind!r}", place="workload.kind", remedy=f"use {', '.join(meant)}"
        )
    return kinds[workload.kind]


def _metric(kind: WorkloadKind, name: object) -> str:
    if name in kind.metrics:
        return str(name)
    meant = near(str(name), kind.metrics) or kind.metrics
    raise FormatError(
        f"{kind.name} does not report {name!r}", place="metric", remedy=f"use {', '.join(meant)}"
    )  # fmt: skip


def _value(value: object, metric: str) -> float:
    unit = METRICS[metric].unit
    dimension = DIMENSION_OF_UNIT[unit]
    if isinstance(value, str):
        counted = _COUNTED.sub("", value) if dimension == "frequency" else value
        try:
            number = units.parse(counted, dimension)
        except UnitError as error:
            raise FormatError(error.text, place="value", remedy=error.remedy) from None
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
    else:
        number = math.nan
    if not math.isfinite(number) or number <= 0:
        example = units.EXAMPLE[dimension]
        raise FormatError(
            f"{value!r} was not measured", place="value", remedy=f'give more than zero, such as "{example}"'
        )
    return number


@lru_cache(maxsize=16)
def _opened(name: str, folder: str) -> Design:
    beside = Path(folder) / name
    return open_design(beside if beside.is_file() else name)


def _workload(design: Design, asked: Any) -> WorkloadSpec:
    if isinstance(asked, str):
        found = design.workloads.get(asked)
        if found is None:
            raise FormatError(
                f"the design has no workload {asked!r}", place="workload", remedy=f"use {', '.join(design.workloads)}"
            )
        return found
    if not isinstance(asked, dict):
        raise FormatError(
            f"{asked!r} is no workload", place="workload", remedy='give an id, or {"kind": ..., "settings": {...}}'
        )
    return WorkloadSpec.model_validate({"id": "case", **cast("dict[str, Any]", asked)})

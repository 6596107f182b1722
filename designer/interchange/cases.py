"""Files of measurements, and the designs they were made on.

A file is one JSON object: ``{"format": "designer-cases", "version": 1, "cases": [...]}``. Each case has

- ``id``, ``area``, ``group``, ``source``: what it is, what it is about, who published it together, and where;
- ``design``: a template id, or a design file beside the case file;
- ``changes``: optional; ``parts`` (part id → value name → spelled value), ``links`` (link id → field → value) and
  ``policy`` (field → value) of the top level of the design;
- ``workload``: the id of a workload of the design, or ``{"kind": ..., "settings": {...}}``;
- ``metric`` and ``value`` in SI units; ``sided``: ``both`` (default), ``lower`` or ``upper``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, cast

from pydantic import ValidationError

from designer.analysis.validation import Measured, Outcome, predict
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.errors import DesignerError, FormatError
from designer.fields import Quantity
from designer.formulas.scoring import Sided
from designer.interchange.native.json_text import decode, parse
from designer.interchange.native.reader import read_bytes, shown
from designer.interchange.templates import open_design

FORMAT: Final = "designer-cases"
MAX_FILE: Final = 32_000_000
_FIELDS: Final = ("id", "area", "group", "source", "design", "workload", "metric", "value")
_OPTIONAL: Final = ("changes", "sided", "note")


def validate_file(path: Path) -> list[Outcome]:
    """Every case of a file beside its prediction.

    Raises
    ------
    FormatError
        If the file is no case file, or a case is wrong or names a design that cannot be opened.
    """
    cases = read_cases(path)
    return [predict(design, measured) for design, measured in cases]


def read_cases(path: Path) -> list[tuple[Design, Measured]]:
    """Designs and measurements of a case file.

    Raises
    ------
    FormatError
        Naming the file, the case and what is wrong.
    """
    try:
        content = parse(decode(read_bytes(path, MAX_FILE)))
        if not isinstance(content, dict) or content.get("format") != FORMAT or content.get("version") != 1:
            raise FormatError(
                "this is not a file of measurements", place="format", remedy=f'begin with "format": "{FORMAT}"'
            )
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
        text = f"missing {missing}, unknown {unknown}"
        raise FormatError(text, place=place, remedy=f"a case has {', '.join(_FIELDS)}")
    place = f"cases[{index}] ({data['id']})"
    value = data["value"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        raise FormatError(f"{value!r} was not measured", place=f"{place}.value", remedy="give a number above 0")
    try:
        design = _changed(_opened(str(data["design"]), str(folder)), data.get("changes", {}))
        return design, Measured(
            str(data["id"]), str(data["area"]), str(data["group"]), str(data["source"]), str(data["metric"]),
            float(value), Sided(data.get("sided", "both")), _workload(design, data["workload"]),
        )  # fmt: skip
    except DesignerError as error:
        raise FormatError(error.text, place=f"{place}: {error.place or ''}".rstrip(": "), remedy=error.remedy) from None
    except (ValidationError, ValueError, KeyError, TypeError) as error:
        first = str(error).splitlines()[0]
        raise FormatError(first, place=place, remedy="see designer.interchange.cases for the fields") from None


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
    return WorkloadSpec.model_validate({"id": "case", **asked})


def _changed(design: Design, changes: Mapping[str, Any]) -> Design:
    unknown = set(changes) - {"parts", "links", "policy"}
    if unknown:
        raise FormatError(f"unknown {sorted(unknown)}", place="changes", remedy="change parts, links or policy")
    made: dict[str, object] = {}
    if "parts" in changes:
        made["parts"] = [
            with_changes(part, overrides={**part.overrides, **_quantities(changes["parts"].get(part.id, {}))})
            for part in design.parts.values()
        ]
        _all_known(changes["parts"], design.parts, "part")
    if "links" in changes:
        made["links"] = [with_changes(link, **changes["links"].get(link.id, {})) for link in design.links.values()]
        _all_known(changes["links"], design.links, "link")
    if "policy" in changes:
        made["policy"] = with_changes(design.policy, **changes["policy"])
    return with_changes(design, **made) if made else design


def _quantities(values: Mapping[str, Any]) -> dict[str, Quantity]:
    return {name: Quantity(value=value, source="case") for name, value in values.items()}


def _all_known(named: Mapping[str, Any], known: Mapping[str, Any], what: str) -> None:
    strange: Sequence[str] = sorted(set(named) - set(known))
    if strange:
        raise FormatError(f"there is no {what} {strange[0]!r}", place="changes", remedy="check the id")

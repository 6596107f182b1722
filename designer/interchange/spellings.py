"""Names as publications write them, read as the names of this program: fields of cases, metrics, settings, choices."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from designer.errors import FormatError
from designer.formulas.software import recognised
from designer.resources import assets
from designer.spelling import near
from designer.workload.kind import Setting, WorkloadKind

_PER_ACCELERATOR: Final = re.compile(r"(?P<base>.+?)_(?:per_)?(?:gpu|accelerator|device)\Z")


@cache
def _spellings() -> Mapping[str, Mapping[str, Any]]:
    """Fields, metrics, settings and choices by the names that publications give them."""
    return tomllib.loads((assets() / "spellings.toml").read_text(encoding="utf-8"))


class Named(NamedTuple):
    """A metric as meant: a name of ``designer.workload.metrics``, and whether it is reported per accelerator."""

    name: str
    per_accelerator: bool = False


def normal(name: object) -> str:
    """A name in lower case with ``_`` between its words."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(name).strip())
    return re.sub(r"[\s\-_/.]+", "_", text.lower()).strip("_")


def field(name: str) -> str:
    """A field of a case."""
    plain = normal(name)
    return _spellings()["fields"].get(plain, plain)


def metric(kind: WorkloadKind, name: object) -> Named:
    """The metric of a kind of workload that a name means.

    Raises
    ------
    FormatError
        If the kind reports nothing that may be meant.
    """
    plain = normal(name)
    found = _metric_of(kind, plain)
    if found is not None:
        return Named(found)
    each = _PER_ACCELERATOR.match(plain)
    if each is not None:
        found = _metric_of(kind, each["base"])
        if found in ("samples_per_second", "tokens_per_second"):
            return Named(found, True)
    meant = near(plain, kind.metrics) or kind.metrics
    raise FormatError(f"{kind.name} does not report {name!r}", place="metric", remedy=f"use {', '.join(meant)}")


def _metric_of(kind: WorkloadKind, plain: str) -> str | None:
    """The metric of the kind behind a name."""
    return next((m for m in (plain, *_spellings()["metrics"].get(plain, ())) if m in kind.metrics), None)


def settings(kind: WorkloadKind, given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a kind under their own names, choices and counts in their own form; other values stay as they are.

    Raises
    ------
    FormatError
        If the kind has no such setting, or two names mean one.
    """
    known = {setting.name: setting for setting in kind.settings}
    made: dict[str, Any] = {}
    for name, value in given.items():
        plain = normal(name)
        other = _spellings()["settings"].get(plain, plain)
        meant = plain if plain in known else other
        if meant not in known:
            close = near(plain, known)
            remedy = f"did you mean {', '.join(close)}?" if close else f"designer workloads {kind.name} lists them"
            raise FormatError(f"{kind.name} has no setting {name!r}", place="workload.settings", remedy=remedy)
        if meant in made:
            raise FormatError(f"{meant!r} is given twice", place="workload.settings", remedy="keep one of them")
        made[meant] = _value(known[meant], value)
    return made


def _value(setting: Setting, value: Any) -> Any:
    if setting.dimension == "count":
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and re.fullmatch(r"\s*\d[\d_, ]*", value):
            return int(re.sub(r"\D", "", value))
    if setting.dimension == "flag" and str(value).lower() in ("yes", "on", "true", "no", "off", "false"):
        return str(value).lower() in ("yes", "on", "true")
    if setting.dimension == "choice" and value not in setting.choices:
        return _choice(setting, value)
    return value


def _choice(setting: Setting, value: Any) -> Any:
    plain = re.sub(r"[\s\-_/.]", "", str(value).lower())
    for choice in setting.choices:
        if plain in (re.sub(r"[\s\-_/.]", "", choice.lower()), "") or _spellings()["choices"].get(plain) == choice:
            return choice if plain else value
    if setting.name == "software" and (program := recognised(str(value))) is not None:
        return program.name
    return value

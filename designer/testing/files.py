"""Where design tests are: in ``*.checks.toml`` next to a design, and as assertions inside a design."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from designer import atomic
from designer.checks.runner import Promise, promises_of
from designer.design.document import Design
from designer.engine.account.worth import WORTH
from designer.engine.results import WorkloadResult
from designer.errors import FormatError, UnitError, raised_in
from designer.findings import Finding
from designer.interchange.native.envelope import SUFFIX
from designer.interchange.overrides import overridden, with_workloads
from designer.interchange.templates import open_any
from designer.units import parse, write
from designer.workload.metrics import times_better

CHECKS: Final = ".checks.toml"
#: larger files are refused [B]
_LARGEST: Final = 4_000_000
_KEYS: Final = ("format", "version", "design", "set", "workload_file", "check", "snapshot")
_CHECK_KEYS: Final = ("name", "expect", "note", "set")
_SNAPSHOT_KEYS: Final = ("file", "tolerance", "workloads")
_FORMAT: Final = "designer-checks"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Metrics kept from an earlier run: their file, how much they may differ [1], and of which workloads."""

    file: Path
    tolerance: float
    workloads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Suite:
    """The tests of one design.

    Parameters
    ----------
    file
        Where the tests are.
    name
        The design, for people.
    own_set
        Overrides of single tests, by their name.
    """

    file: Path
    name: str
    design: Design
    findings: tuple[Finding, ...]
    promises: tuple[Promise, ...]
    own_set: Mapping[str, tuple[str, ...]]
    lines: Mapping[str, int]
    snapshot: Snapshot | None = None


def find(paths: Sequence[str]) -> list[Path]:
    """The files with tests that paths represent: files themselves, and in folders all designs and ``*.checks.toml``.

    Raises
    ------
    FormatError
        If a path does not exist.
    """
    found: list[Path] = []
    for name in paths:
        path = Path(name)
        if path.is_dir():
            found += sorted(p for p in path.rglob("*") if p.name.endswith((CHECKS, SUFFIX)) and p.is_file())
        elif path.exists() or not name.endswith(CHECKS):
            found.append(path)
        else:
            raise FormatError("there is no such file", file=name, remedy=f"give a design, a {CHECKS} file or a folder")
    return list(dict.fromkeys(found))


def open_suite(path: Path, overrides: Sequence[str] = (), workload_files: Sequence[str] = ()) -> Suite:
    """The tests in one file: a ``*.checks.toml``, or a design with assertions (or a template id).

    Raises
    ------
    DesignerError
        If the file or its design cannot be read.
    """
    if path.name.endswith(CHECKS):
        return _suite_of_checks(path, overrides, workload_files)
    loaded = open_any(str(path))
    design = with_workloads(overridden(loaded.design, overrides), workload_files)
    return Suite(path, design.name, design, tuple(loaded.findings), tuple(promises_of(design)), {}, {})


def _suite_of_checks(path: Path, overrides: Sequence[str], workload_files: Sequence[str]) -> Suite:
    text, content = _read(path)
    shown = str(path)
    for key in content:
        if key not in _KEYS:
            raise FormatError(f"{key!r} is not known", file=shown, place=key, remedy=f"use {', '.join(_KEYS)}")
    version = content.get("version", 1)
    if content.get("format", _FORMAT) == _FORMAT and isinstance(version, int) and version > 1:
        raise FormatError(
            f"version {version} of design tests is newer than this program",
            file=shown,
            place="version",
            remedy="use a newer designer, or write version = 1",
        )
    if content.get("format", _FORMAT) != _FORMAT or version != 1:
        raise FormatError(
            "this is no file of design tests", file=shown, place="format", remedy=f'format = "{_FORMAT}", version = 1'
        )
    name = content.get("design", path.name.removesuffix(CHECKS) + SUFFIX)
    if not isinstance(name, str):
        raise FormatError("the design is no text", file=shown, place="design", remedy="name a file or a template")
    design_file = path.parent / name
    if not design_file.exists() and (name.endswith(".json") or "design" not in content):
        raise FormatError(
            f"its design {name!r} does not exist next to it",
            file=shown,
            place="design",
            remedy='name another file or a template: design = "hgx-h100-8"',
        )
    if design_file.exists():
        loaded = open_any(str(design_file))
    else:
        with raised_in(file=shown, place="design"):
            loaded = open_any(name)
    own = [str(path.parent / f) for f in _texts(content.get("workload_file", []), shown, "workload_file")]
    design = with_workloads(loaded.design, [*own, *workload_files])
    design = overridden(design, [*_overrides(content.get("set", {}), shown, "set"), *overrides])
    promises, own_set, lines = _promises(text, content, shown)
    inside = [p for p in promises_of(design) if p.name not in lines]
    snapshot = _snapshot(content.get("snapshot"), path)
    return Suite(path, name, design, tuple(loaded.findings), (*promises, *inside), own_set, lines, snapshot)


def _promises(
    text: str, content: Mapping[str, Any], shown: str
) -> tuple[list[Promise], dict[str, tuple[str, ...]], dict[str, int]]:
    """The tests in a file, the overrides of single ones, and the lines they are at."""
    promises: list[Promise] = []
    own_set: dict[str, tuple[str, ...]] = {}
    lines: dict[str, int] = {}
    checks = content.get("check", [])
    if not isinstance(checks, list):
        raise FormatError("the tests are no list", file=shown, place="check", remedy="write [[check]]")
    starts = [k + 1 for k, line in enumerate(text.splitlines()) if line.strip().replace(" ", "") == "[[check]]"]
    for k, check in enumerate(cast("list[Any]", checks)):
        place = f"check[{k}]"
        at = starts[k] if k < len(starts) else 1
        where = f"line {at}, {place}"
        if not isinstance(check, dict):
            raise FormatError("a test is a table", file=shown, place=where, remedy="write [[check]]")
        entry = cast("dict[str, Any]", check)
        for key in entry:
            if key not in _CHECK_KEYS:
                raise FormatError(
                    f"{key!r} is not known", file=shown, place=f"{where}.{key}", remedy=f"use {', '.join(_CHECK_KEYS)}"
                )
        if not isinstance(entry.get("expect"), str):
            raise FormatError("a test needs what it expects", file=shown, place=where, remedy='expect = "… <= 10 s"')
        title = str(entry.get("name", f"{k + 1}"))
        if title in lines:
            raise FormatError(
                f"two tests are called {title!r}", file=shown, place=where, remedy="give one another name"
            )
        lines[title] = _line_of_promise(text, at)
        promises.append(Promise(title, entry["expect"], place, str(entry.get("note", ""))))
        if "set" in entry:
            own_set[title] = tuple(_overrides(entry["set"], shown, f"{place}.set"))
    return promises, own_set, lines


def _line_of_promise(text: str, start: int) -> int:
    """The line where a test that starts at a line says what it expects; both from 1."""
    for number, line in enumerate(text.splitlines()[start:], start + 1):
        if line.lstrip().startswith("[["):
            break
        if line.partition("=")[0].strip() == "expect":
            return number
    return start


def read_promises(path: Path) -> list[Promise]:
    """The tests in a ``*.checks.toml``, without its design; those with overrides of their own are left out.

    Raises
    ------
    FormatError
        If the file cannot be read.
    """
    text, content = _read(path)
    promises, own_set, _ = _promises(text, content, str(path))
    return [promise for promise in promises if promise.name not in own_set]


def _read(path: Path) -> tuple[str, Mapping[str, Any]]:
    try:
        data = atomic.read(path, _LARGEST + 1)
        if len(data) > _LARGEST:
            raise FormatError(
                "the file is too large", file=str(path), place="the whole file", remedy="make several of it"
            )
        text = data.decode("utf-8")
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(
            f"this is no TOML: {error}",
            file=str(path),
            place="the whole file",
            remedy="correct it there; promises stand in quotes: expect = 'rate(\"a -> b\") >= 3 GB/s'",
        ) from None
    except UnicodeDecodeError:
        raise FormatError(
            "this is no UTF-8 text", file=str(path), place="the whole file", remedy="save it as UTF-8"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(
            "the file cannot be read", file=str(path), place="the whole file", remedy=str(error)[:200] or "check it"
        ) from None


def _overrides(given: object, file: str, place: str) -> list[str]:
    if not isinstance(given, dict):
        raise FormatError("this is no table", file=file, place=place, remedy='set = { "gpu*.type" = "…" }')
    found: list[str] = []
    for key, value in cast("dict[str, Any]", given).items():
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        found.append(f"{key}={shown}")
    return found


def _texts(given: object, file: str, place: str) -> list[str]:
    items = [given] if isinstance(given, str) else given
    if not isinstance(items, list) or not all(isinstance(i, str) for i in cast("list[Any]", items)):
        raise FormatError("this is no list of texts", file=file, place=place, remedy='write ["a", "b"]')
    return cast("list[str]", items)


def _snapshot(given: object, path: Path) -> Snapshot | None:
    if given is None:
        return None
    if not isinstance(given, dict):
        raise FormatError("this is no table", file=str(path), place="snapshot", remedy="write [snapshot]")

    table = cast("dict[str, Any]", given)
    for key in table:
        if key not in _SNAPSHOT_KEYS:
            raise FormatError(
                f"{key!r} is not known",
                file=str(path),
                place=f"snapshot.{key}",
                remedy=f"use {', '.join(_SNAPSHOT_KEYS)}",
            )
    name = str(table.get("file", path.name.removesuffix(CHECKS) + ".snapshot.json"))
    try:
        tolerance = parse(table.get("tolerance", "0.1 %"), "ratio")
    except UnitError as error:
        error.remedy = 'write for example "0.1 %"'
        raise error.at(file=str(path), place="snapshot.tolerance") from None
    return Snapshot(
        path.parent / name, tolerance, tuple(_texts(table.get("workloads", []), str(path), "snapshot.workloads"))
    )


#: the figure of a test, the first that a workload has; of a collective the one that nccl-tests prints
_BEGUN: Final = ("bus_bandwidth", *WORTH)
#: dimension of the units that a test can be begun with
_DIMENSIONS: Final = {"B/s": "rate", "s": "duration", "1/s": "frequency", "FLOP/s": "flops"}


def new_suite(design: str, results: Sequence[WorkloadResult]) -> str:
    """The text of a file of tests that a design passes now, one for each workload.

    Each holds the main figure of a workload to the worse end of its band.

    Parameters
    ----------
    design
        The design, as the file is to name it.
    """
    lines = [f"design = {json.dumps(design)}"]
    for result in results:
        name = next((m for m in _BEGUN if m in result.metrics and result.metrics[m].unit in _DIMENSIONS), None)
        if name is None:
            continue
        metric = result.metrics[name]
        more = times_better(name, 1.0, 2.0, result.kind) > 1
        limit = float(f"{metric.low if more else metric.high:.2e}")
        stated = write(limit, _DIMENSIONS[metric.unit])
        expression = f'{name}("{result.id}") {">=" if more else "<="} {stated}'
        lines += ["", "[[check]]", f"name = {json.dumps(result.title or result.id)}", f"expect = '{expression}'"]
    return "\n".join(lines) + "\n"

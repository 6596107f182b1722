"""Reads designs: format and version first, older versions upgraded step by step, one clear error if it cannot be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from designer.design.document import Design
from designer.design.integrity import demand_sound
from designer.design.validation import explain
from designer.errors import DocumentError, FormatError
from designer.findings import Finding, Severity
from designer.interchange.native.envelope import FORMAT, VERSION, written_by
from designer.interchange.native.json_text import decode, parse
from designer.interchange.native.raw import MAX_FILE, digest_of, read_bytes, remember, shown
from designer.plain_text import shortened
from designer.registry import discover

#: longer pieces of a refusal are cut in the middle
_LONGEST_TEXT: Final = 500
_ENVELOPE = {"format", "version", "written_by", "design"}


class Loaded(NamedTuple):
    """A design as read, and what a person should look at."""

    design: Design
    findings: list[Finding]


def load(path: str | Path) -> Loaded:
    """The design in a file.

    Raises
    ------
    FormatError
        If there is no such file, it is no design file, damaged, of a newer version, or breaks the rules of a design.
    """
    path = Path(path)
    data = read_bytes(path, MAX_FILE)
    loaded = loads(data, file=shown(path))
    remember(path, digest_of(data))
    return loaded


def loads(text: str | bytes, file: str | None = None) -> Loaded:
    """The design in a text; `file` is named in errors.

    Raises
    ------
    FormatError
        As `load`.
    """
    try:
        return read_raw(parse(decode(text) if isinstance(text, bytes) else text.removeprefix("\ufeff")))
    except FormatError as error:
        raise _complete_error(error, file) from None


def _complete_error(error: FormatError, file: str | None) -> FormatError:
    """The refusal with file, place and remedy, each short enough to be read on a terminal."""
    # what the unit parser says ends in a remedy of its own
    text, _, own = (error.text, "", "") if error.remedy else error.text.partition(" — ")
    return FormatError(
        shortened(text, _LONGEST_TEXT),
        file=error.file or file,
        place=shortened(error.place or "the whole file", _LONGEST_TEXT),
        remedy=shortened(error.remedy or own or "correct the file there", _LONGEST_TEXT),
    )


def read_raw(content: Any, steps: Mapping[int, Upgrade] | None = None, version: int = VERSION) -> Loaded:
    """The design in the parsed content of a file.

    Parameters
    ----------
    steps
        Upgrade steps by the version they start from; those of this program by default.
    version
        The version this program writes.

    Raises
    ------
    FormatError
        As `load`.
    """
    raw, findings = _current(content, upgrades() if steps is None else steps, version)
    try:
        design = Design.model_validate(raw)
    except ValidationError as error:
        first = explain(error)
        more = f" (and {first.others} more)" if first.others else ""
        place = ".".join(p for p in ("design", first.place) if p)
        raise FormatError(f"{first.text}{more}", place=place, remedy=first.remedy) from None
    except RecursionError:
        raise FormatError("groups stand too deep within each other", place="design.groups") from None
    try:
        return Loaded(design, [*findings, *demand_sound(design)])
    except DocumentError as error:
        place = f"design.{error.place}" if error.place else "design"
        raise FormatError(error.text, place=place, remedy=error.remedy) from None


def _current(content: Any, steps: Mapping[int, Upgrade], version: int) -> tuple[Any, list[Finding]]:
    """The raw design in today's version."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FormatError(
            f"this is not a design file: it does not say {FORMAT!r}",
            place="format",
            remedy="open a .design.json file, or import this one",
        )
    written = content.get("version")
    if isinstance(written, bool) or not isinstance(written, int) or written < 1:
        raise FormatError(
            "the version is missing or no whole number",
            place="version",
            remedy="write 1" if version == 1 else f"write a version from 1 to {version}",
        )
    if written > version:
        by = content.get("written_by")
        named = isinstance(by, str) and by.isprintable() and 0 < len(by) <= 60 and by != written_by()
        newer = f"{by} or later" if named else "a newer designer"
        raise FormatError(
            f"the file has version {written} of the format, this program reads up to {version}",
            place="version",
            remedy=f"open it with {newer}",
        )
    raw = content.get("design")
    if not isinstance(raw, dict):
        raise FormatError("the design is missing", place="design", remedy="restore the file from a backup")
    findings = [
        Finding("FMT-UNKNOWN", Severity.WARNING, f"{key!r} outside the design is not known and will not be kept")
        for key in sorted(content.keys() - _ENVELOPE)
    ]
    for source in range(written, version):
        step = steps.get(source)
        if step is None:
            raise AssertionError(f"no upgrade from version {source}")
        raw, stated = step.run(raw)
        findings += stated
    return raw, findings


@cache
def upgrades() -> Mapping[int, Upgrade]:
    """The upgrade steps of this program by the version they start from.

    Raises
    ------
    AssertionError
        If a step between two versions is missing.
    """
    found = discover("designer.interchange.native.upgrades", "UPGRADE", Upgrade)
    steps = {step.source: step for step in found.values()}
    if sorted(steps) != list(range(1, VERSION)) or len(steps) != len(found):
        raise AssertionError(f"upgrades must lead from version 1 to {VERSION} in single steps, here {sorted(steps)}")
    return steps


# What every upgrade step is.

Raw = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """One step: ``run`` takes the raw content of the ``design`` field of version ``source`` and returns that of the
    next version, with findings about what the user should know. It may change what it is given."""

    name: str
    source: int
    run: Callable[[Raw], tuple[Raw, list[Finding]]]

    @property
    def target(self) -> int:
        """The version it upgrades to."""
        return self.source + 1

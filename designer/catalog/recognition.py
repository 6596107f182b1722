"""How dumps and people name a part: PCI ids, CPUID numbers, driver names, short forms, patterns of product names.

A part's own file says it, in a ``[recognition]`` table that is before its values, so that the names of all parts
are read without reading the parts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationError

from designer.errors import CatalogError
from designer.fields import Frozen

#: the table of a part file that says how the part is recognised
TABLE: Final = "recognition"
_CPUID: Final = re.compile(r"([a-z]+)(?: (\d{1,6})(?: (\d{1,6})(?:-(\d{1,6}))?)?)?")
#: CPUs that report an extended family: NCCL prints it in the high bits, 175 for 25
_BASE_FAMILY: Final = 15


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from None
    return text


def _cpuid(text: str) -> str:
    if not _CPUID.fullmatch(text):
        raise ValueError(f'{text!r} is not like "intel 6 106", "amd 25 16-31", "amd 26" or "amd"')
    return text


_PciId = Annotated[str, Field(pattern=r"^[0-9a-f]{4}:[0-9a-f]{4}$")]


class Recognition(Frozen):
    """What a part is recognised by.

    Parameters
    ----------
    names
        Marketing names, driver names and short forms; case, punctuation and makers' names do not matter.
    pci
        PCI vendor and device to the product they represent; empty where the title of the part says it.
    nccl
        What NCCL and RCCL files call GPUs of which this is the likeliest.
    chips
        Chip and compute units, or ``sm`` and compute capability, that leave no doubt: ``gfx942 304``.
    infiniband
        Device id of a switch chip in listings of InfiniBand fabrics.
    cpuid
        Vendor, family and models of a CPU; families and models may be left out, models may be a range.
    patterns
        Regular expressions for names with numbers in them; case does not matter.
    architecture
        Of an accelerator: a file of ``assets/recognition/architectures``.
    family, most_cores
        Of a CPU: its family as importers state it, and the most cores of one socket in it.
    one_domain
        True if each socket is one NUMA domain, whatever its number.
    is_socket
        True if an accelerator is the CPU socket as well.
    beside
        Compute capabilities of the GPUs that a CPU or NVSwitch sits next to.
    taken_for, guess
        The part that represents this product, and what of that is a guess.
    """

    names: tuple[str, ...] = ()
    pci: Mapping[_PciId, str] = {}
    nccl: tuple[str, ...] = ()
    chips: tuple[str, ...] = ()
    infiniband: tuple[str, ...] = ()
    cpuid: tuple[Annotated[str, AfterValidator(_cpuid)], ...] = ()
    patterns: tuple[Annotated[str, AfterValidator(_pattern)], ...] = ()
    architecture: str = ""
    family: str = ""
    most_cores: int = 0
    one_domain: bool = False
    is_socket: bool = False
    beside: tuple[str, ...] = ()
    taken_for: str = ""
    guess: str = ""

    @property
    def spelled(self) -> tuple[str, ...]:
        """Every name that is looked up as it is."""
        return (*self.pci, *self.nccl, *self.infiniband, *self.names)


#: of a part that says nothing
UNRECOGNISED: Final = Recognition()


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a part file: what is before its values."""

    title: str = ""
    vendor: str = ""
    recognition: Recognition = UNRECOGNISED


def read_head(path: Path) -> Head:
    """The head of a part file; an empty one where it cannot be read, so that one bad file does not hide the others."""
    try:
        text = path.read_text(encoding="utf-8")
        head, _, rest = text.partition("\n[values]")
        data = tomllib.loads(text if f"[{TABLE}" in rest else head)
        recognition = checked(data.get(TABLE, {}), path)
    except (OSError, ValueError, CatalogError):
        return Head()
    title, vendor = data.get("title"), data.get("vendor")
    return Head(title if isinstance(title, str) else "", vendor if isinstance(vendor, str) else "", recognition)


def checked(table: object, path: Path) -> Recognition:
    """The recognition table of a part file.

    Raises
    ------
    CatalogError
        If it has unknown keys or values of another kind, with file and place.
    """
    try:
        return Recognition.model_validate(table) if table else UNRECOGNISED
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join((TABLE, *(str(p) for p in first["loc"])))
        raise CatalogError(
            first["msg"], file=str(path), place=place, remedy="see [recognition] in other files of the kind"
        ) from None


def by_cpuid(parts: Mapping[str, Recognition], vendor: str, family: int, model: int) -> str | None:
    """The id of the CPU with these CPUID values, by the entry that says most; None where not even the vendor is known.

    Parameters
    ----------
    vendor
        Text in which the vendor's name is: ``GenuineIntel``, ``AuthenticAMD``, or a product name.
    family, model
        As CPUID or NCCL print them; 0 where unknown.
    """
    vendor = vendor.lower()
    if family > 2 * _BASE_FAMILY:
        family = _BASE_FAMILY + (family >> 4)
    elif family == 0 and "intel" in vendor:
        family = 6  # every Xeon since 2006
    best: tuple[int, int] | None = None
    found: str | None = None
    for id, recognition in parts.items():
        for entry in recognition.cpuid:
            rank = _rank(entry, vendor, family, model)
            if rank is not None and (best is None or rank > best):
                best, found = rank, id
    return found


def _rank(entry: str, vendor: str, family: int, model: int) -> tuple[int, int] | None:
    """How much of a CPUID an entry matches, more is better; None if it does not."""
    match = _CPUID.fullmatch(entry)
    assert match is not None
    name, wanted, low, high = match.groups()
    if name not in vendor or (wanted and int(wanted) != family):
        return None
    if low and not int(low) <= model <= int(high or low):
        return None
    return (2 if low else 1 if wanted else 0, len(name))


def by_pattern(parts: Mapping[str, Recognition], name: str, kind: str) -> str | None:
    """The id of the part of that kind one of whose patterns is found in `name`."""
    for id, recognition in parts.items():
        if id.startswith(f"{kind}/") and any(re.search(p, name, re.IGNORECASE) for p in recognition.patterns):
            return id
    return None


def alias_tables(parts: Iterable[tuple[str, Recognition]]) -> dict[str, dict[str, object]]:
    """The names and patterns of parts as a file of aliases has them."""
    names: dict[str, object] = {}
    patterns: dict[str, object] = {}
    for id, recognition in parts:
        names.update(dict.fromkeys(recognition.spelled, id))
        patterns.update(dict.fromkeys(recognition.patterns, id))
    return {"names": names, "patterns": patterns}

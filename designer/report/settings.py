"""What a reader of the report may choose: title, front text, logo, chapters, prices, inputs. A small TOML file."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from designer import atomic
from designer.errors import FormatError
from designer.fields import Frozen
from designer.report.document import Logo
from designer.report.tables.cost import Price, read_prices
from designer.report.tables.revisions import Revision

_LARGEST: Final = 4_000_000
_KINDS: Final = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}

Share = Annotated[float, Field(ge=0)]


class Target(Frozen):
    """A promise about a metric next to those of the design."""

    workload: str
    metric: str
    comparison: Literal["<=", ">=", "<", ">", "=="] = ">="
    value: str
    note: str = ""


class Energy(Frozen):
    """Inputs of the reader about energy; each with where it is from.

    Parameters
    ----------
    price
        Of one kWh, in ``currency``.
    pue
        Energy of the building over that of the machines.
    carbon
        Of the grid [g/kWh].
    """

    price: Share | None = None
    currency: str = "USD"
    pue: Annotated[float, Field(ge=1)] | None = None
    carbon: Share | None = None
    source: str = ""


class Cost(Frozen):
    """Inputs of the reader about money; without them nothing is said of it.

    Parameters
    ----------
    rent, server_rent
        Of one accelerator, and of one server, for an hour, in ``currency``; they take the place of a price list. A
        design without accelerators has only servers to rent.
    energy_in_rent
        Whether the rent pays for the energy as well.
    years
        Over which what the price list holds is written off.
    busy
        Share of the time the machines are in use; all of it where it is not given.
    """

    rent: Share | None = None
    server_rent: Share | None = None
    currency: str = "USD"
    energy_in_rent: bool = True
    years: Annotated[float, Field(gt=0, le=100)] | None = None
    busy: Annotated[float, Field(gt=0, le=1)] | None = None
    source: str = ""


class Racks(Frozen):
    """Racks of the proposal, where none are drawn."""

    height: Annotated[int, Field(ge=4, le=100)] | None = None
    power: Annotated[float, Field(gt=0)] | None = None


class Chosen(Frozen):
    """The file as written."""

    title: str = ""
    subtitle: str = ""
    text: str = ""
    author: str = ""
    customer: str = ""
    project: str = ""
    revision: str = ""
    approved: str = ""
    revisions: tuple[Revision, ...] = ()
    date: datetime.date | None = None
    logo: str = ""
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] = "en"
    chapters: tuple[str, ...] = ()
    prices: str = ""
    targets: tuple[Target, ...] = ()
    energy: Energy = Energy()
    cost: Cost = Cost()
    racks: Racks = Racks()


class Settings(Frozen):
    """What was chosen, with files read."""

    chosen: Chosen = Chosen()
    prices: Mapping[str, Price] | None = None
    logo: Logo | None = None


def load_settings(path: Path | None = None, prices: Path | None = None) -> Settings:
    """Settings from a TOML file and a price list; paths in the file are next to it.

    Raises
    ------
    FormatError
        If a file cannot be read or says what is not understood.
    """
    data: dict[str, Any] = {}
    if path is not None:
        try:
            data = tomllib.loads(_read(path).decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise FormatError(str(error), file=str(path), remedy="mend the TOML syntax there") from None
    try:
        chosen = Chosen.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(p) for p in first["loc"])
        known = ", ".join(Chosen.model_fields)
        raise FormatError(first["msg"], file=str(path), place=place, remedy=f"settings are {known}") from None
    folder = path.parent if path is not None else Path()
    listed = prices or (folder / chosen.prices if chosen.prices else None)
    stated = None
    if listed is not None:
        try:
            stated = read_prices(_read(listed).decode("utf-8-sig"), str(listed))
        except UnicodeDecodeError as error:
            raise FormatError("the price list is not UTF-8", file=str(listed), remedy="save it as UTF-8") from error
    logo = _logo(folder / chosen.logo) if chosen.logo else None
    return Settings(chosen=chosen, prices=stated, logo=logo)


def _read(path: Path) -> bytes:
    try:
        data = atomic.read(path, _LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FormatError(
            f"cannot be read: {reason}", file=str(path), remedy="check the name and the rights"
        ) from error
    if len(data) > _LARGEST:
        raise FormatError("is larger than 4 MB", file=str(path), remedy="use a smaller file")
    return data


def _logo(path: Path) -> Logo:
    data = _read(path)
    for start, kind in _KINDS.items():
        if data.startswith(start):
            return Logo(data, kind)
    raise FormatError("the logo is neither PNG nor JPEG", file=str(path), remedy="save it as PNG")

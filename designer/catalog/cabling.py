"""Cables, transceivers and fibres that can be ordered, from ``assets/cabling``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final, Literal, cast

from pydantic import Field, ValidationError

from designer import resources
from designer.errors import CatalogError
from designer.fields import DataRate, Frozen, SomePower, amount
from designer.sources import Status

Medium = Literal["DAC", "ACC", "AOC", "multimode", "single mode", "twisted pair"]
#: media without light
COPPER: Final = frozenset({"DAC", "ACC", "twisted pair"})
#: part number and the vendor's ordering number, as far as they are published
Numbers = Annotated[tuple[str, ...], Field(max_length=2)]


class Product(Frozen):
    """What a cable, a transceiver and a fibre have in common."""

    family: str
    title: str
    medium: Medium
    source: str
    status: Status
    power: SomePower | None = None


class Sold(Product):
    """A product sold by length; without ``lengths`` it is made to length and has no part number."""

    lengths: Mapping[float, Numbers] = {}

    @property
    def longest(self) -> float:
        """The longest length sold [m]; zero where none is listed."""
        return max(self.lengths, default=0.0)


class Assembly(Sold):
    """A cable with fixed plugs; ``power`` is that of one end.

    Parameters
    ----------
    a, b
        Connectors of its ends.
    links, b_links
        Links that share one plug at the a end and at the b end.
    """

    networks: tuple[str, ...]
    rate: DataRate
    a: str
    links: int
    b: str
    b_links: int


class Transceiver(Product):
    """A pluggable module.

    Parameters
    ----------
    ports, rate
        How many links it ends, and the rate of each.
    reach
        Longest fibre [m].
    fibre, splitter
        Families of fibres that fit: straight, and one that serves two links of half the rate.
    """

    order: str = ""
    networks: tuple[str, ...]
    connector: str
    ports: int
    rate: DataRate
    reach: float
    fibre: str
    splitter: str = ""

    def split(self, rate: float) -> int:
        """Links of `rate` [B/s] on one of its ports: 1, 2 with a splitter fibre, 0 where it does not run that rate."""
        own = amount(self.rate, "rate")
        if abs(own - rate) <= own * 1e-3:
            return 1
        return 2 if self.splitter and abs(own - 2 * rate) <= own * 1e-3 else 0


class Fibre(Sold):
    """A fibre between two transceivers; ``links`` of them in one."""

    links: int = 1


class Cabling(Frozen):
    """All products, preferred ones first."""

    assembly: tuple[Assembly, ...] = ()
    transceiver: tuple[Transceiver, ...] = ()
    fibre: tuple[Fibre, ...] = ()

    def fibre_of(self, family: str) -> Fibre:
        """The fibre of a family.

        Raises
        ------
        KeyError
            If there is none.
        """
        return {f.family: f for f in self.fibre}[family]


@lru_cache(maxsize=4)
def cabling(folder: Path | None = None) -> Cabling:
    """The products in all ``*.toml`` of `folder` (``assets/cabling`` when not given).

    Raises
    ------
    CatalogError
        If a file is no TOML, or a product has unknown or missing fields, or names a fibre that is not there.
    """
    found = Cabling()
    for path in sorted((folder or resources.assets() / "cabling").glob("*.toml")):
        try:
            data = cast("dict[str, object]", tomllib.loads(path.read_text(encoding="utf-8")))
            more = Cabling.model_validate(data)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise CatalogError(str(error), file=str(path), remedy="mend the TOML syntax there") from None
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(p) for p in first["loc"])
            raise CatalogError(
                first["msg"], file=str(path), place=place, remedy="see linkx.toml for the fields"
            ) from None
        found = Cabling(
            assembly=found.assembly + more.assembly,
            transceiver=found.transceiver + more.transceiver,
            fibre=found.fibre + more.fibre,
        )
    known = {f.family for f in found.fibre}
    for module in found.transceiver:
        for family in (module.fibre, module.splitter):
            if family and family not in known:
                raise CatalogError(f"no fibre is called {family!r}", place=module.family, remedy="add it to [[fibre]]")
    return found

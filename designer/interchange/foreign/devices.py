"""Hardware as dumps number it: PCI ids, chips and architectures, looked up in the catalog.

Which product a number represents is said by the part's own file, or for products the catalog does not offer by
``assets/recognition/unlisted``. Nothing about hardware is here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from designer import resources
from designer.catalog.architectures import Architecture, architecture
from designer.catalog.loader import Catalog, load_catalog, unlisted_products
from designer.catalog.recognition import Recognition
from designer.errors import CatalogError
from designer.fields import Quantity


@dataclass(frozen=True, slots=True)
class Device:
    """A product: its name, its part type in the catalog (may be missing there), its architecture.

    Parameters
    ----------
    is_socket
        True if an accelerator is the CPU socket as well.
    """

    title: str
    type: str = ""
    architecture: Architecture | None = None
    is_socket: bool = False


@cache
def _by_pci() -> Mapping[str, tuple[str, str]]:
    """Product and id of the part by vendor and device; parts of the catalog before products it does not list."""
    found: dict[str, tuple[str, str]] = {}
    for catalog in (unlisted_products(), load_catalog()):
        for id, recognition in catalog.recognitions.items():
            found |= {pci: (product, id) for pci, product in recognition.pci.items()}
    return found


@cache
def _by_chip() -> Mapping[str, str]:
    return {chip: id for id, recognition in load_catalog().recognitions.items() for chip in recognition.chips}


def _device(id: str, product: str) -> Device:
    catalog = _home(id)
    recognition = catalog.recognitions[id]
    listed = id in load_catalog()
    known = architecture(recognition.architecture) if recognition.architecture else None
    if known is not None and listed:
        known = known.of(catalog.get(id))
    return Device(product, id if listed else "", known, recognition.is_socket)


def _home(id: str) -> Catalog:
    return load_catalog() if id in load_catalog() else unlisted_products()


@lru_cache(maxsize=1024)
def known_device(vendor: str, device: str) -> Device | None:
    """The product with these PCI ids (four hexadecimal digits each), or None."""
    product, id = _by_pci().get(f"{_digits(vendor)}:{_digits(device)}", ("", ""))
    return _device(id, product) if product else None


@lru_cache(maxsize=1024)
def device_of_type(id: str, product: str) -> Device:
    """The product of a part of the catalog, with what is known of its architecture."""
    return _device(id, product) if id in load_catalog().recognitions else Device(product, id)


def known_server(product: str) -> Device | None:
    """The server of the catalog that firmware calls so, or None."""
    id = load_catalog().aliases.get(product, "") if product else ""
    return Device(load_catalog().get(id).title, id) if id.startswith("server/") else None


def device_by_chip(gfx: str, units: int) -> Device | None:
    """The product of an AMD chip name and its compute units, or of ``sm`` and a compute capability; None if unsure."""
    chip = gfx.lower()
    chip = chip if chip.startswith(("gfx", "sm")) else f"gfx{chip}"
    id = _by_chip().get(f"{chip} {units}")
    return None if id is None else _device(id, next(iter(_recognition(id).pci.values()), _home(id).get(id).title))


def nvswitch_type(compute_capability: str) -> str:
    """Id of the NVSwitches next to GPUs of a compute capability such as "9.0": the newest not newer than the GPU.

    Empty where there is none.
    """
    major = compute_capability.partition(".")[0]
    if not major.isdigit():
        return ""
    found = [
        (int(capability.partition(".")[0]), id)
        for id, recognition in load_catalog().recognitions.items()
        if id.startswith("nvswitch/")
        for capability in recognition.beside
    ]
    return max((each for each in found if each[0] <= int(major)), default=(0, ""))[1]


def _recognition(id: str) -> Recognition:
    return _home(id).recognitions[id]


def is_virtual_function(vendor: str, device: str) -> bool:
    """True if these PCI ids belong to a virtual function only."""
    return _digits(device) in _functions("virtual").get(_digits(vendor), ())


def only_displays(vendor: str, device: str) -> bool:
    """True if these PCI ids are those of a graphics chip that only drives a screen."""
    return _digits(device) in _functions("display").get(_digits(vendor), ())


@lru_cache(maxsize=1024)
def _functions(what: str) -> Mapping[str, tuple[str, ...]]:
    table = tomllib.loads((resources.assets() / "recognition" / "functions.toml").read_text(encoding="utf-8"))
    return {vendor: tuple(devices) for vendor, devices in table[what].items()}


@lru_cache(maxsize=1024)
def assumption(name: str) -> Quantity:
    """What is assumed where a dump is silent and no part says it: a value of ``assets/recognition/assumed.toml``.

    Raises
    ------
    CatalogError
        If there is no such value.
    """
    path = resources.assets() / "recognition" / "assumed.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    if name not in table:
        raise CatalogError(f"nothing is assumed for {name!r}", file=str(path), remedy=f"add [{name}]")
    return Quantity.model_validate(table[name])


def _digits(text: str) -> str:
    return text.lower().removeprefix("0x")[:4]

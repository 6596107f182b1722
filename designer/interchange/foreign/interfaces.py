"""What lists of cables say by names: rates in the interface types of NetBox, servers and switches in roles.

Sources: netbox-community/netbox, dcim/choices.py InterfaceTypeChoices.
"""

from __future__ import annotations

import re
from typing import Final

from designer.interchange.foreign.rates import rate_of

_SERVER: Final = re.compile(
    r"server|host|compute|dgx|hgx|gpu|\bnode|ubuntu|centos|esx|hypervisor|storage|datastore|\bnas\b|filer",
    re.IGNORECASE,
)
_SWITCH: Final = re.compile(r"switch|lea(?:f|ves)|spine|core|super|exit|border", re.IGNORECASE)


def is_server(name: str) -> bool:
    """True if a device of that name or role is a server, or storage, and no switch: ``storage-leaf1`` is a switch."""
    return bool(_SERVER.search(name)) and not _SWITCH.search(name)


_ETHERNET: Final = re.compile(r"(\d{1,4}(?:\.\d)?)(g?)base-")
_FIBRE: Final = re.compile(r"(\d{1,3})gfc-")
#: interfaces that are no socket for a cable
VIRTUAL: Final = frozenset({"virtual", "lag", "bridge"})


def interface(slug: str) -> tuple[str, float | None]:
    """The kind of link an interface of that type takes, and its rate per direction [B/s] where the slug says it."""
    slug = slug.strip().lower()
    if slug.startswith("infiniband-"):
        return "infiniband", rate_of("4x", slug.removeprefix("infiniband-"))
    found = _ETHERNET.match(slug)
    if found is not None:
        return "ethernet", float(found[1]) * (1e9 if found[2] else 1e6) / 8
    fibre = _FIBRE.match(slug)
    return ("fabric", float(fibre[1]) * 1e9 / 8) if fibre is not None else ("ethernet", None)

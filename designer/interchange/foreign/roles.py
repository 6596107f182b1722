"""What a device is by its name or role, for lists of cables that do not say it."""

from __future__ import annotations

import re
from typing import Final

_SERVER: Final = re.compile(
    r"server|host|compute|dgx|hgx|gpu|\bnode|ubuntu|centos|esx|hypervisor|storage|datastore|\bnas\b|filer",
    re.IGNORECASE,
)
_SWITCH: Final = re.compile(r"switch|lea(?:f|ves)|spine|core|super|exit|border", re.IGNORECASE)


def is_server(name: str) -> bool:
    """True if a device of that name or role is a server, or storage, and no switch: ``storage-leaf1`` is a switch."""
    return bool(_SERVER.search(name)) and not _SWITCH.search(name)

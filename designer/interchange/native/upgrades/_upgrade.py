"""What every upgrade step is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from designer.findings import Finding

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

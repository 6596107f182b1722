"""Tasks of migrations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from designer.families.machines.operations import Migration
from designer.workload.program.tasks import Task


@dataclass(frozen=True, slots=True)
class Migrate(Task):
    """All moves of a migration workload: admitted, set up, sent pass by pass at what the network gives, resumed.

    Parameters
    ----------
    part
        Share of all sizes and waits that is done: next to what repeats often, a part takes that share of the time [1].
    """

    priced_by: ClassVar[str] = "designer.families.machines.costs"
    moves_data: ClassVar[bool] = True
    side_by_side: ClassVar[bool] = True
    operation: Migration
    part: float = 1.0

"""How many devices a token is sent to where whole experts are shared out over devices."""

from __future__ import annotations

import math
from typing import Final

from designer.formulas.formula import Formula


def expert_dispatch(experts: int, per_token: int, ranks: int) -> float:
    """Ranks that hold at least one of the experts a token chose, so that it is sent there once [1].

    Parameters
    ----------
    experts, per_token
        Of a layer, and how many of them a token chooses, evenly.
    ranks
        Devices, or groups of them, that each hold some experts whole.
    """
    if ranks <= 1 or experts <= 0:
        return 1.0
    held = experts / ranks
    missed = math.prod(max(0.0, experts - held - k) / (experts - k) for k in range(min(per_token, experts)))
    return ranks * (1 - missed)


FORMULA: Final = Formula(
    "expert-dispatch",
    "Devices a token is sent to",
    expert_dispatch,
    ("counted-serving",),
    "routing without favourites or groups of experts; engines that limit a token to some nodes reach fewer",
)

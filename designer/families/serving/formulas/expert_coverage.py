"""How many experts of a layer a step touches, and how unevenly."""

from __future__ import annotations

import math
from typing import Final

from designer.formulas.formula import Formula


def experts_touched(experts: int, per_token: int, tokens: float) -> float:
    """Experts that at least one of `tokens` chose, each choosing `per_token` of them evenly [1]."""
    if tokens <= 0 or experts <= 0:
        return 0.0
    return experts * -math.expm1(tokens * math.log1p(-per_token / experts)) if per_token < experts else float(experts)


FORMULA: Final = Formula(
    "expert-coverage",
    "Experts touched",
    experts_touched,
    ("counted-training",),
    "routing without favourites, as with random text; real text may load some experts more",
)

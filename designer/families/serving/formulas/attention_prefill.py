"""Attention of a prompt or a piece of one over itself and what came before."""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.units import FlopPerSecond, Ratio, Seconds


def prefill_area(tokens: float, before: float) -> float:
    """Pairs of tokens a piece of `tokens` looks at, `before` of them already cached [1]."""
    return tokens * (before + tokens / 2)


def attention_prefill(area: float, heads: float, head_size: float, peak: FlopPerSecond, share: Ratio) -> Seconds:
    """Time of one layer [s]: 4 x heads x head size x pairs, two for the scores and two for the sums.

    Parameters
    ----------
    head_size
        Mean of the sizes of a query and a value head.
    """
    return Seconds(2 * 2 * heads * head_size * area / (share * peak))


FORMULA: Final = Formula(
    "attention-prefill",
    "Attention of prompts",
    attention_prefill,
    ("aic-kernels", "counted-training"),
    "prompts of 1,024 tokens and more; shorter ones vanish against the products",
)

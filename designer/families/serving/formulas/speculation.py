"""Speculative decoding: tokens drafted ahead, verified in one step, kept while they are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Ratio, Seconds

#: a draft is one layer next to the model and its head: of a step that decodes, in addition to one layer's part
DRAFT_HEAD: Final = Constant(0.03, 0.01, 0.08, "assumed-serving", Status.ASSUMED, "1", "head and sampling of a draft")


def accepted(curve: Sequence[float], drafts: int) -> float:
    """Tokens a step gives with so many drafts: measured, the last measured one where more are drafted [1]."""
    if drafts < 1:
        return 1.0
    return curve[min(drafts, len(curve)) - 1]


def chained(acceptance: Ratio, drafts: int) -> tuple[float, ...]:
    """Tokens a step gives with one, two, … drafted, each right with a chance where those before it are [1].

    Notes
    -----
    1 + a + a² + … + a^k (Leviathan et al. 2023, equation 1). Measured curves lie below it where later drafts are worse.
    """
    return tuple(1 + sum(acceptance**k for k in range(1, n + 1)) for n in range(1, drafts + 1))


def drafted_step(verifying: Seconds, plain: Seconds, layers: int, drafts: int, gained: Ratio) -> Seconds:
    """Time per token of a request [s].

    Parameters
    ----------
    verifying
        A step that holds the drafts of all requests [s].
    plain
        A step without drafts, of which drafting one takes a layer's part and the head [s].
    gained
        Tokens that a step gives [1].
    """
    return Seconds((verifying + drafts * plain * (1 / layers + DRAFT_HEAD.value)) / gained)


FORMULA: Final = Formula(
    "speculation",
    "Speculative decoding",
    drafted_step,
    ("golden-acceptance",),
    "one model, draft and kind of text",
)

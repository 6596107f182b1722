"""Steps of an engine that drafts tokens ahead, per token of a request."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from designer.errors import CatalogError
from designer.families.serving.formulas.speculation import accepted, drafted_step
from designer.families.serving.formulas.step_time import StepTime
from designer.resources import assets
from designer.units import Ratio, Seconds


class Drafted:
    """Step times with drafts: a step gives several tokens, so per token it is that much shorter.

    Parameters
    ----------
    drafts
        Tokens drafted ahead.
    curve
        Tokens a step gives by drafts, measured.
    own
        Step times of the model that drafts; None for a layer after those of the model.
    """

    def __init__(self, steps: StepTime, drafts: int, curve: tuple[float, ...], own: StepTime | None = None) -> None:
        self._steps, self.drafts, self._own = steps, drafts, own
        self.gained = accepted(curve, drafts)
        self._known: dict[int, float] = {}

    def decode(self, requests: int) -> float:
        """Time of a decoding step over the tokens a request gets of it [s]."""
        found = self._known.get(requests)
        if found is None:
            steps, all_tokens = self._steps, requests * (self.drafts + 1)
            plain = steps.decode(requests)
            # verifying is a decoding step of more rows; each request still reads its cache once
            rows = steps.tokens(all_tokens, all_tokens) - steps.tokens(requests, requests)
            if self._own is not None:
                found = (plain + rows + self.drafts * self._own.decode(requests)) / self.gained
            else:
                found = drafted_step(Seconds(plain + rows), plain, steps.shape.layers, self.drafts, Ratio(self.gained))
            self._known[requests] = found
        return found

    def context(self) -> float:
        """Time for each token of context, over the tokens a request gets of a step [s]."""
        once = self._steps.context()
        own = once / max(1, self._steps.shape.attention_layers) if self._own is None else self._own.context()
        return (once + self.drafts * own) / self.gained

    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float:
        """Time of a step with prompts [s], which what drafts reads too; requests next to them get one token."""
        time = self._steps.step(tokens, area, finishing, requests, context)
        if self._own is not None:
            return time + self._own.step(tokens, area, finishing, requests, context)
        return time * (1 + 1 / self._steps.shape.layers)

    def uneven(self, full: int, tokens: int) -> float:
        """What experts take less than if all groups were as full as the fullest, over the tokens of a step [s]."""
        return self._steps.uneven(full, tokens) / self.gained


def gain(steps: StepTime, drafted: Drafted, requests: int, context: float) -> float:
    """How many times as fast requests get their tokens with drafts, at a mean context of so many tokens each [1]."""
    cached = requests * context
    plain = steps.decode(requests) + steps.context() * cached
    return plain / (drafted.decode(requests) + drafted.context() * cached)


def pays_until(steps: StepTime, drafted: Drafted, context: float, most: int) -> int:
    """The most requests at once at which drafts make tokens faster; 0 where they never do, `most` where always."""
    low, high = 0, 1
    while high <= most and gain(steps, drafted, high, context) > 1:
        low, high = high, 2 * high
    if low == 0 or low >= most:
        return low
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if gain(steps, drafted, middle, context) > 1 else (low, middle)
    return low


# Measured acceptance of drafted tokens, by draft and model.


@cache
def drafts() -> Mapping[str, tuple[float, ...]]:
    """Tokens per verifying step with one, two, … drafted, by id."""
    data = tomllib.loads((assets() / "serving" / "drafts.toml").read_text(encoding="utf-8"))
    return MappingProxyType({name: tuple(row["curve"]) for name, row in data.items()})


def draft(name: str) -> tuple[float, ...]:
    """The curve of a draft.

    Raises
    ------
    CatalogError
        If there is none of that id.
    """
    found = drafts().get(name)
    if found is None:
        raise CatalogError(f"there is no measured draft {name!r}", remedy=f"choose one of {', '.join(drafts())}")
    return found

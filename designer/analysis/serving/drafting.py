"""Steps of an engine that drafts tokens ahead, per token of a request."""

from __future__ import annotations

from designer.formulas.serving.speculation import accepted, drafted_step
from designer.formulas.serving.step_time import StepTime
from designer.units import Ratio, Seconds


class Drafted:
    """Step times with drafts: a step gives several tokens, so per token it is that much shorter.

    Parameters
    ----------
    drafts
        Tokens drafted ahead.
    curve
        Tokens a step gives by drafts, measured.
    """

    def __init__(self, steps: StepTime, drafts: int, curve: tuple[float, ...]) -> None:
        self._steps, self.drafts = steps, drafts
        self.gained = accepted(curve, drafts)
        self._known: dict[int, float] = {}

    def decode(self, requests: int) -> float:
        """See `StepTime.decode`, per token [s]."""
        found = self._known.get(requests)
        if found is None:
            steps, all_tokens = self._steps, requests * (self.drafts + 1)
            plain = steps.decode(requests)
            # verifying is a decoding step of more rows; each request still reads its cache once
            rows = steps.tokens(all_tokens, all_tokens) - steps.tokens(requests, requests)
            found = drafted_step(Seconds(plain + rows), plain, steps.shape.layers, self.drafts, Ratio(self.gained))
            self._known[requests] = found
        return found

    def context(self) -> float:
        """See `StepTime.context`, per token [s]."""
        return self._steps.context() / self.gained

    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float:
        """See `StepTime.step` [s]: prompts are not drafted; requests beside them get one token of theirs."""
        return self._steps.step(tokens, area, finishing, requests, context)

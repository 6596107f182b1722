"""Every place that names a gain names that of the same thing: one bottleneck alone, or all that bind together."""

from __future__ import annotations

import re

from designer.checks.world import bottleneck_text
from designer.engine.results import WorkloadResult

_GAIN = re.compile(r"twice the capacity of (?P<what>.+) makes it (?P<factor>[\d.]+) times as good$")


def check_gains(result: WorkloadResult) -> None:
    """What a broken promise says would help gains what the analysis says it does."""
    _, text = bottleneck_text(result.binding)
    together = result.binding[0].gain_together if result.binding else None
    # a part may bind in several phases, by a gain of each
    alone = [(b.label, b.gain_if_doubled) for b in result.binding if b.equal == 1 and b.gain_if_doubled is not None]
    if not text:
        assert all(round(gain, 2) <= 1.0 for gain in (*(gain for _, gain in alone), together or 1.0))
        return
    found = _GAIN.match(text)
    assert found is not None, text
    named = {f"{gain:.2f}" for label, gain in alone if label == found["what"]}
    if found["what"].startswith("all ") or (not named and len(result.binding) == 1):
        named = {f"{together:.2f}"}
    assert found["factor"] in named, text

"""The heat layer of failures: every link and part coloured by what its loss costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from designer.decisions.failures_survey import Survey
    from designer.design.document import Design
    from designer.drawing.loads import ChannelState


def heat_of(design: Design, survey: Survey) -> ChannelState:
    """What the loss of each link costs as the utilisation of both its directions, of each part as how busy it is.

    The amount next to a link is what gets done no longer without it.
    """
    from designer.decisions.failures_survey import heat
    from designer.drawing.loads import Activity, ChannelState
    from designer.engine.network import build_network

    network = build_network(design)
    parts, links = heat(survey, network)
    share = np.full(network.net.n_links, np.nan)
    share[list(links)] = list(links.values())
    both = np.repeat(share, 2)
    numbers = np.array(sorted(parts), dtype=np.int64)
    busy = np.array([parts[n] for n in numbers.tolist()], dtype=np.float64)
    doing = Activity(numbers, busy, np.full(len(numbers), np.nan))
    amount = np.nan_to_num(both) * (survey.value if survey.unit == "B/s" else 0.0)
    return ChannelState(amount, both, doing, "Throughput lost without it")

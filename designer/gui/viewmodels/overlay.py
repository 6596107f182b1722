"""What the drawing is coloured by in place of loads: what failures cost, what was measured, what was built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from designer.decisions.failures_survey import heat
from designer.drawing.loads import Activity, ChannelState
from designer.engine.network import build_network

if TYPE_CHECKING:
    from designer.decisions.as_built import Comparison
    from designer.decisions.failures_survey import Survey
    from designer.decisions.watching import Watch
    from designer.design.document import Design

#: what overlays are about
FAILURES, WATCH, BUILT = "failures", "watch", "built"
#: marks on the drawing; more could not be read
_MARKS: Final = 400


@dataclass(frozen=True, slots=True, eq=False)
class Overlay:
    """Colours of the drawing.

    Parameters
    ----------
    about
        Which panel has found it.
    state
        Amounts of channels and activity of parts.
    marked
        Paths of links and parts that are not as drawn; the words are in ``state.words``.
    strays
        Pairs of paths between which a cable runs that is not drawn, each with the word on it.
    """

    about: str
    state: ChannelState
    marked: tuple[str, ...] = ()
    strays: tuple[tuple[str, str, str], ...] = ()


def of_failures(design: Design, survey: Survey) -> Overlay:
    """What the loss of each link costs as the utilisation of both its directions, of each part as how busy it is.

    The amount next to a link is what gets done no longer without it.
    """
    network = build_network(design)
    parts, links = heat(survey, network)
    share = np.full(network.net.n_links, np.nan)
    share[list(links)] = list(links.values())
    both = np.repeat(share, 2)
    numbers = np.array(sorted(parts), dtype=np.int64)
    busy = np.array([parts[n] for n in numbers.tolist()], dtype=np.float64)
    doing = Activity(numbers, busy, np.full(len(numbers), np.nan))
    amount = np.nan_to_num(both) * (survey.value if survey.unit == "B/s" else 0.0)
    return Overlay(FAILURES, ChannelState(amount, both, doing, "Throughput lost without it"))


def of_watch(design: Design, found: Watch) -> Overlay:
    """Measured traffic of each cable as its amount, and as its share of what is predicted; odd ones are marked."""
    net = build_network(design).net
    load, share = np.zeros(2 * net.n_links), np.full(2 * net.n_links, np.nan)
    numbers = {net.link_path(i): i for i in range(net.n_links)} if any(r.link for r in found.rows) else {}
    busy: dict[int, float] = {}
    for row in found.rows:
        if row.link and row.predicted:
            i = numbers[row.link]
            out = net.path(int(net.link_a[i])) == row.path
            channel = 2 * i + (out != (row.name == "nic_transmit"))
            load[channel], share[channel] = row.measured, row.measured / row.predicted
        elif row.name == "gpu_tensor":
            busy[net.index_of(row.path)] = row.measured
    parts = np.array(sorted(busy), dtype=np.int64)
    doing = Activity(parts, np.array([busy[n] for n in parts.tolist()]), np.full(len(parts), np.nan)) if busy else None
    words = {(row.link or row.path): f"{row.ratio:.0%} of its equals" for row in reversed(found.odd[:_MARKS])}
    return Overlay(WATCH, ChannelState(load, share, doing, "Measured of predicted", words), tuple(words))


def of_built(design: Design, found: Comparison) -> Overlay:
    """Cables that are missing, moved or slow are marked; those that are not drawn are strays."""
    net = build_network(design).net
    nothing = np.full(2 * net.n_links, np.nan)
    words = dict(_words(found))
    strays = [(net.path(a), net.path(got), "moved here") for a, _, got in found.differences.moved]
    strays += [(net.path(a), net.path(b), _times("extra", n)) for (a, b), n in found.differences.extra.items()]
    state = ChannelState(np.zeros(2 * net.n_links), nothing, title="As built", words=words)
    return Overlay(BUILT, state, tuple(words), tuple(strays[:_MARKS]))


def _times(word: str, count: int) -> str:
    return word if count == 1 else f"{count} {word}"


def _words(found: Comparison) -> Mapping[str, str]:
    """The word of each cable with a difference, by its path."""
    differences, net = found.differences, found.differences.plan.net
    moved = {tuple(sorted((a, meant))) for a, meant, _ in differences.moved}
    words: dict[str, str] = {}
    for pair, (count, _) in differences.slow.items():
        words |= {net.link_path(i): "slow" for i in differences.plan.links.get(pair, ())[:count]}
    for pair, count in differences.missing.items():
        left = count
        for i in differences.plan.links.get(pair, ()):
            take = min(left, net.link(i).count)
            left -= take
            if take:
                words[net.link_path(i)] = "moved away" if pair in moved else _times("missing", take)
    return dict(list(words.items())[:_MARKS])

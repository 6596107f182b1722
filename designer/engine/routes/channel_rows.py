"""Channels as rows for people: each row is made when somebody looks at it, the numbers of all are there as arrays.

A window asks after every edit for the channels of one way or one part. Naming all ten thousand for that would take
longer than working out what they carry.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.channels import channel_number
from designer.engine.network import Network
from designer.engine.results import ChannelLoads, ChannelRow, Rows
from designer.errors import DocumentError

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: designs with more channels list only the loaded ones, busiest first, up to this many
CHANNELS_LIMIT: Final = 20_000


class ChannelRows(Rows[ChannelRow]):
    """All channels of a small design, of a large one the loaded ones, busiest first.

    Parameters
    ----------
    network
        What the channels are of.
    loads
        What they carry; None for nothing.
    """

    def __init__(self, network: Network, loads: ChannelLoads | None) -> None:
        self.network = network
        self._stated = loads
        super().__init__(one=lambda i: self._rows_at([i])[0], count=lambda: len(self.number), many=self._rows_at)

    @cached_property
    def number(self) -> Int:
        """Number of the channel of each row. : (n,)"""
        return listed(self.network, self._stated)

    @cached_property
    def load(self) -> Float:
        """Payload of each row. : (n,) [B/s]"""
        return self._stated.at(self.number)[0] if self._stated is not None else np.zeros(len(self.number))

    @cached_property
    def utilization(self) -> Float:
        """Share of what the channel can achieve. : (n,)"""
        return self._stated.at(self.number)[1] if self._stated is not None else np.zeros(len(self.number))

    def _rows_at(self, index: Sequence[int]) -> list[ChannelRow]:
        network, net = self.network, self.network.net
        at = np.array(index, dtype=np.int64)
        channel = self.number[at]
        link, back = channel >> 1, (channel & 1).astype(bool)
        a, b = net.link_a[link], net.link_b[link]
        definition = net.link_def[link].tolist()
        columns = zip(
            net.link_paths(link),
            back.tolist(),
            net.paths(np.where(back, b, a)),
            net.paths(np.where(back, a, b)),
            definition,
            network.rate_of(link).tolist(),
            self.load[at].tolist(),
            self.utilization[at].tolist(),
            strict=True,
        )
        kinds = [one.kind for one in net.link_defs]
        status = [str(facts.status) for facts in network.link_facts]
        return [
            ChannelRow(f"{path}:{'ba' if back else 'ab'}", source, target, kinds[d], rate, load, used, status[d])
            for path, back, source, target, d, rate, load, used in columns
        ]

    def rows_of(self, channels: Sequence[int] | Int) -> list[ChannelRow]:
        """Rows of channels by their numbers, in order of the table; those not listed are left out."""
        return self.several(np.flatnonzero(np.isin(self.number, np.asarray(channels, dtype=np.int64))).tolist())


def listed(network: Network, loads: ChannelLoads | None) -> Int:
    """Channels that a table lists. : (n,)"""
    n = 2 * network.net.n_links
    if n <= CHANNELS_LIMIT:
        return np.arange(n)
    if loads is None:
        return np.arange(CHANNELS_LIMIT)
    return loads.busiest(CHANNELS_LIMIT)


def with_ids(rows: Sequence[ChannelRow], ids: Sequence[str]) -> dict[str, ChannelRow]:
    """The rows of channels by id, as far as they are listed."""
    if not isinstance(rows, ChannelRows):
        wanted = set(ids)
        return {row.id: row for row in rows if row.id in wanted}
    numbers = (channel_number(rows.network.net, channel) for channel in ids)
    return {row.id: row for row in rows.rows_of([n for n in numbers if n is not None])}


def of_link(rows: Sequence[ChannelRow], path: str) -> list[ChannelRow]:
    """The rows of both directions of a link."""
    both = (f"{path}:ab", f"{path}:ba")
    return list(with_ids(rows, both).values())


def at_part(rows: Sequence[ChannelRow], path: str) -> tuple[list[ChannelRow], list[ChannelRow]]:
    """The rows of loaded channels that arrive at a part, and of those that leave it."""
    if not isinstance(rows, ChannelRows):
        loaded = [row for row in rows if row.load > 0]
        return [row for row in loaded if row.target == path], [row for row in loaded if row.source == path]
    net = rows.network.net
    try:
        part = net.index_of(path)
    except DocumentError:
        return [], []
    a, b, busy = net.link_a == part, net.link_b == part, rows.load > 0
    link, back = rows.number >> 1, (rows.number & 1).astype(bool)
    arriving = np.flatnonzero(busy & np.where(back, a[link], b[link]))
    leaving = np.flatnonzero(busy & np.where(back, b[link], a[link]))
    return rows.several(arriving.tolist()), rows.several(leaving.tolist())


def fullest(rows: Sequence[ChannelRow], most: int) -> list[ChannelRow]:
    """The loaded rows that use most of what they can, as many as are asked for; of those as full, in their order."""
    if not isinstance(rows, ChannelRows):
        return sorted((row for row in rows if row.load > 0), key=lambda row: -row.utilization)[:most]
    loaded = np.flatnonzero(rows.load > 0)
    order = np.argsort(-rows.utilization[loaded], kind="stable")[:most]
    return rows.several(loaded[order].tolist())


def busiest_first(rows: Sequence[ChannelRow], idle: bool) -> list[int]:
    """Numbers of the rows by utilisation, then load; with `idle` those without load are among them."""
    if not isinstance(rows, ChannelRows):
        chosen = [i for i, row in enumerate(rows) if idle or row.load > 0]
        return sorted(chosen, key=lambda i: (-rows[i].utilization, -rows[i].load))
    order = np.lexsort((-rows.load, -rows.utilization))
    return (order if idle else order[rows.load[order] > 0]).tolist()

"""A running machine next to its drawing: what each NIC and GPU does, what it should do, and which one does not.

Traffic of NICs is compared with the loads that the workload puts on their cables. All readings of one sort share an
error of the estimate and of how long the workload really runs: their common ratio, the median, is taken out. What is
still far from its equals is not as it should be.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np

from designer.analysis.study import run_workload
from designer.catalog.parttype import Capability
from designer.design.document import Design
from designer.design.naming import homes, node_names
from designer.design.selectors import natural_key
from designer.engine.network import Network, build_network
from designer.engine.network.capacities import NETWORK
from designer.engine.results import ChannelLoads
from designer.errors import AnalysisError
from designer.sources import Constant, Status

#: readings of equal devices differ by so much, relative; beyond three times that they are stated
SCATTER: Final = Constant(
    0.05, 0.03, 0.1, "assumed-watching", Status.ASSUMED, "1", "between equal devices under one workload"
)
_FAR: Final = 3.0
#: traffic below this share of the largest prediction is noise of the management
_QUIET: Final = 1e-3
#: sorts by what they are of
NICS: Final = ("nic_transmit", "nic_receive")
UNITS: Final[Mapping[str, str]] = {
    "nic_transmit": "B/s",
    "nic_receive": "B/s",
    "gpu_tensor": "1",
    "gpu_memory": "1",
    "gpu_power": "W",
    "gpu_clock": "Hz",
}


@dataclass(frozen=True, slots=True)
class Counter:
    """One reading: what is measured, on which host, of which device, in SI units."""

    name: str
    host: str
    device: str
    value: float


@dataclass(frozen=True, slots=True)
class Watched:
    """A reading next to its prediction.

    Parameters
    ----------
    path, link
        Of the part on the drawing, and of the cable at it.
    predicted
        What the drawing says; None where it says nothing, and equals alone count.
    ratio
        Measured over predicted (over the median of equals without a prediction), with what all share taken out.
    """

    name: str
    host: str
    path: str
    measured: float
    predicted: float | None
    ratio: float
    link: str = ""

    @property
    def odd(self) -> bool:
        """True if it is far from its equals."""
        return self.ratio <= 0 or abs(math.log(self.ratio)) > _FAR * SCATTER.value


@dataclass(frozen=True, slots=True)
class Watch:
    """All readings, what all of a sort share, and hosts and devices that are not on the drawing."""

    rows: tuple[Watched, ...]
    common: Mapping[str, float]
    unknown: tuple[str, ...]

    @property
    def odd(self) -> tuple[Watched, ...]:
        """What is not as it should be, the farthest first."""
        return tuple(sorted((r for r in self.rows if r.odd), key=lambda r: -_distance(r.ratio)))


def _distance(ratio: float) -> float:
    return abs(math.log(ratio)) if ratio > 0 else math.inf


def watch(design: Design, workload: str, counters: Sequence[Counter], hosts: Mapping[str, str] | None = None) -> Watch:
    """Readings of a machine that runs a workload, next to what the drawing says.

    Parameters
    ----------
    hosts
        Names of nodes in the design by the names that counters have for them.

    Raises
    ------
    AnalysisError
        If there is no such workload, or no counter is of a host of the design.
    """
    return watch_over(design, workload, [counters], hosts)[0]


def watch_over(
    design: Design,
    workload: str,
    instants: Sequence[Sequence[Counter]],
    hosts: Mapping[str, str] | None = None,
) -> tuple[Watch, ...]:
    """The same of each of several instants, of which the drawing says the same.

    Parameters
    ----------
    hosts
        Names of nodes in the design by the names that counters have for them.

    Raises
    ------
    AnalysisError
        If there is no such workload, or no counter is of a host of the design.
    """
    spec = design.workloads.get(workload)
    if spec is None:
        raise AnalysisError(f"there is no workload {workload!r}", remedy=f"use {', '.join(design.workloads) or 'one'}")
    network = build_network(design)
    loads = run_workload(network, spec)[1]
    places = _Places(network)
    expected = _traffic(network, loads) if loads is not None else {}
    cables = _cables(network)
    found = tuple(_at(places, expected, cables, counters, hosts or {}) for counters in instants)
    if not any(one.rows or one.common for one in found):
        unknown = list(dict.fromkeys(name for one in found for name in one.unknown))
        raise AnalysisError(
            f"no counter is of a host of the design: {', '.join(unknown[:3])}",
            remedy="name the hosts with --hosts FILE: a line a node, its name in the design and in the counters",
        )
    return found


def _at(
    places: _Places,
    expected: Mapping[tuple[str, str], float],
    cables: Mapping[str, str],
    counters: Sequence[Counter],
    hosts: Mapping[str, str],
) -> Watch:
    """The readings of one instant."""
    found: dict[str, list[tuple[Counter, str, float | None]]] = defaultdict(list)
    unknown: dict[str, None] = {}
    for counter in counters:
        path = places.of(counter, hosts)
        if path is None:
            unknown[f"{counter.host} {counter.device}"] = None
            continue
        promised = expected.get((counter.name, path)) if counter.name in NICS else None
        found[counter.name].append((counter, path, promised))
    rows: list[Watched] = []
    common: dict[str, float] = {}
    for name, own in found.items():
        kept, share = _judged(name, own, cables)
        rows += kept
        common[name] = share
    return Watch(tuple(rows), common, tuple(unknown))


def _judged(
    name: str, own: list[tuple[Counter, str, float | None]], cables: Mapping[str, str]
) -> tuple[list[Watched], float]:
    """Readings of one sort; devices without a prediction are compared with their median."""
    most = max((p for _, _, p in own if p), default=0.0)
    if name in NICS:
        own = [(c, path, p) for c, path, p in own if p and p > most * _QUIET]
    if not own:
        return [], 1.0
    usual = median(c.value for c, _, _ in own) or 1.0
    bare = [c.value / (p if p is not None else usual) for c, _, p in own]
    share = median(bare) or 1.0
    rows: list[Watched] = []
    for (c, path, p), ratio in zip(own, bare, strict=True):
        rows.append(Watched(name, c.host, path, c.value, p, ratio / share, cables.get(path, "")))
    return rows, share


class _Places:
    """Parts of the drawing by host and device."""

    def __init__(self, network: Network) -> None:
        net = network.net
        home = homes(net)
        self.parts: dict[tuple[str, str], str] = {}
        gpus: dict[int, list[str]] = defaultdict(list)
        nics: list[tuple[int, int]] = []
        accelerates = network.has(Capability.ACCELERATE)
        for n in range(net.n_parts):
            if accelerates[n]:
                gpus[home[n]].append(net.path(n))
            elif net.part(n).kind in ("nic", "dpu"):
                nics.append((home[n], n))
        nodes = tuple(dict.fromkeys((*gpus, *(h for h, _ in nics))))
        self.names = {n: name.lower() for n, name in node_names(net, nodes).items()}
        for node, paths in gpus.items():
            for k, path in enumerate(sorted(paths, key=natural_key)):
                self.parts[self.names[node], str(k)] = path
        for node, n in nics:
            part = net.part(n)
            for name in (part.attributes.get("vendor_name", ""), part.id):
                if name:
                    self.parts.setdefault((self.names[node], name.lower()), net.path(n))

    def of(self, counter: Counter, hosts: Mapping[str, str]) -> str | None:
        """The path of a device; None for one that is not on the drawing."""
        host = hosts.get(counter.host, counter.host).lower()
        return self.parts.get((host, counter.device.lower()))


def _cables(network: Network) -> dict[str, str]:
    """The first cable at each NIC, by path."""
    net = network.net
    found: dict[str, str] = {}
    for i in np.flatnonzero(network.domain == NETWORK).tolist():
        for part in (int(net.link_a[i]), int(net.link_b[i])):
            if net.part(part).kind in ("nic", "dpu"):
                found.setdefault(net.path(part), net.link_path(i))
    return found


def _traffic(network: Network, loads: ChannelLoads) -> dict[tuple[str, str], float]:
    """Payload that leaves and enters each NIC by its cables [B/s]."""
    net = network.net
    cables = np.flatnonzero(network.domain == NETWORK)
    out, back = loads.at(2 * cables)[0], loads.at(2 * cables + 1)[0]
    found: dict[tuple[str, str], float] = defaultdict(float)
    ends = zip(net.link_a[cables].tolist(), net.link_b[cables].tolist(), out.tolist(), back.tolist(), strict=True)
    for a, b, forward, backward in ends:
        for part, sent, received in ((a, forward, backward), (b, backward, forward)):
            if net.part(part).kind in ("nic", "dpu"):
                path = net.path(part)
                found["nic_transmit", path] += sent
                found["nic_receive", path] += received
    return dict(found)

"""Losing more never costs less: of every template, parts against what contains them and what they are joined to."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pytest

from designer.analysis.study.survival import Survival
from designer.engine.network import Network, build_network
from designer.engine.routes.damage import KINDS, contents_of
from designer.errors import AnalysisError
from designer.interchange.templates import list_templates, open_design
from tests.budget import different

Failure = tuple[npt.NDArray[np.int64], tuple[int, ...]]

#: clusters in which one answer takes too long here
_LARGE = frozenset({"cluster-1024", "cluster-16384", "cluster-98304", "cluster-gb200-6912"})
#: workloads of a template, and chains and unions of failures that are tried with each
_WORKLOADS, _CHAINS, _UNIONS = 2, 3, 2
_SAME = 1 + 1e-9


def _chains(network: Network, draw: np.random.Generator) -> Iterator[list[Failure]]:
    """A link, a part at its end, and what contains that part, each with all of the one before."""
    net = network.net
    links = np.flatnonzero(net.link_a != net.link_b)
    for link in draw.choice(links, min(_CHAINS, len(links)), replace=False).tolist():
        none = np.zeros(0, dtype=np.int64)
        chain: list[Failure] = [(none, (link,))]
        at = int(net.link_a[link] if draw.integers(2) else net.link_b[link])
        while at >= 0:
            if net.part(at).kind in KINDS:
                chain.append((contents_of(network, [at]), ()))
            at = int(net.parent[at])
        yield chain


def _unions(network: Network, draw: np.random.Generator) -> Iterator[list[Failure]]:
    """A part, and that part with another."""
    kinds = [network.parts_of_kind(kind) for kind in KINDS]
    able = np.concatenate(kinds)
    for _ in range(_UNIONS if len(able) > 1 else 0):
        one, other = (contents_of(network, [p]) for p in draw.choice(able, 2, replace=False).tolist())
        yield [(one, ()), (np.union1d(one, other), ())]


@pytest.mark.parametrize("template", different(sorted({t.id for t in list_templates()} - _LARGE)))
def test_losing_more_never_costs_less(template: str) -> None:
    design = open_design(template)
    network = build_network(design)
    names = sorted(design.workloads, key=lambda name: crc32(f"{template}/{name}".encode()))
    tried = 0
    for name in names:
        try:
            survival = Survival(network, design.workloads[name])
        except AnalysisError:
            # it needs more than the template has, or has no throughput to lose
            continue
        draw = np.random.default_rng(crc32(name.encode()))
        for chain in [*_chains(network, draw), *_unions(network, draw)]:
            left = [survival.best(parts, links).share for parts, links in chain]
            for less, more in itertools.pairwise(left):
                assert more <= less * _SAME, (name, chain, left)
        tried += 1
        if tried == _WORKLOADS:
            break
    assert tried

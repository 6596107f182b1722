"""Wiring patterns: which member of one selection is joined to which of the other.

Sources: NVIDIA DGX SuperPOD reference architecture RA-11333-001 for rails and for groups of spines and cores; Al-Fares,
Loukissas & Vahdat 2008 for planes of a fat tree.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from designer.design.joining import Indices, Pattern, Selection, present
from designer.errors import DocumentError


def mesh(a: Selection, b: Selection) -> tuple[Indices, Indices]:
    """All pairs; of a selection with itself every pair once."""
    if np.array_equal(a.flat, b.flat):
        first, second = np.triu_indices(len(a.flat), 1)
        return a.flat[first], a.flat[second]
    return np.repeat(a.flat, len(b.flat)), np.tile(b.flat, len(a.flat))


def mesh_links(a: Selection, b: Selection) -> int:
    """Every part of one side times every part of the other; of a selection with itself every pair once."""
    if np.array_equal(a.flat, b.flat):
        return a.flat.size * (a.flat.size - 1) // 2
    return a.index.size * b.index.size


def pairs(a: Selection, b: Selection) -> tuple[Indices, Indices]:
    """The n-th of one side with the n-th of the other."""
    if a.index.size != b.index.size:
        raise DocumentError(
            f"pairs need as many parts on both sides, here {a.index.size} and {b.index.size}",
            remedy="change the selection or use the pattern spread",
        )
    return present(a.places, b.places)


def rails_of(a: Selection, b: Selection) -> tuple[Indices, Indices]:
    """NIC r of server s to leaf ``unit(s) * R + r``."""
    servers, rails = a.index.shape
    leaves = b.flat
    if len(leaves) % rails:
        raise DocumentError(
            f"{rails} NICs a server need a multiple of {rails} leaves, here {len(leaves)}",
            remedy=f"use {rails} leaves for each unit of servers",
        )
    units = len(leaves) // rails
    unit = np.arange(servers) * units // servers
    return present(a.places, leaves[(unit[:, None] * rails + np.arange(rails)).ravel()])


def spread(a: Selection, b: Selection) -> tuple[Indices, Indices]:
    """Part i of n goes to part ``i * m // n`` of m."""
    many, few = a.places, b.flat
    return present(many, few[np.arange(len(many)) * len(few) // len(many)])


def stripes(a: Selection, b: Selection) -> tuple[Indices, Indices]:
    """Every lower switch to all upper switches of its plane."""
    lower, upper = a.places, b.flat
    planes = a.last * a.index.shape[1]
    if len(upper) % planes:
        raise DocumentError(
            f"{planes} planes need a multiple of {planes} upper switches, here {len(upper)}",
            remedy=f"use a multiple of {planes} switches on side b",
        )
    share = len(upper) // planes
    plane = np.arange(len(lower)) % planes
    return present(np.repeat(lower, share), upper[(plane[:, None] * share + np.arange(share)).ravel()])


def stripe_links(a: Selection, b: Selection) -> int:
    """Every lower switch times its share of the upper ones."""
    return a.index.size * (b.index.size // max(1, a.last * a.index.shape[1]))


PATTERNS: Final = (
    Pattern("mesh", "All to all", mesh, "each leaf to each spine", mesh_links),
    Pattern("pairs", "One to one", pairs, "first with first, second with second"),
    Pattern("rails", "Rails", rails_of, "NIC i of every server to leaf i"),
    Pattern("spread", "Many to few, in blocks", spread, "servers to top-of-rack switches, servers to storage"),
    Pattern("stripes", "Planes of a fat tree", stripes, "spine i of every pod to the cores of plane i", stripe_links),
)

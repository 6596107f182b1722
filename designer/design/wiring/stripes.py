"""Planes of a fat tree: the i-th switch of every pod to the i-th share of the other side.

With s switches in a pod and m upper switches, switch i of each pod joins upper switches ``i·m/s`` to ``(i+1)·m/s − 1``.
Sources: Al-Fares, Loukissas & Vahdat 2008; NVIDIA DGX SuperPOD RA-11333-001 for groups of spines and cores.
"""

import numpy as np

from designer.design.joining import Indices, Pattern, Selection, present
from designer.errors import DocumentError


def join(a: Selection, b: Selection) -> tuple[Indices, Indices]:
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


def links(a: Selection, b: Selection) -> int:
    """Every lower switch times its share of the upper ones."""
    return a.index.size * (b.index.size // max(1, a.last * a.index.shape[1]))


PATTERN = Pattern("stripes", "Planes of a fat tree", join, "spine i of every pod to the cores of plane i", links)

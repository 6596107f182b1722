"""What an edit of values leaves as it was: networks connected alike, by links of equal worth to routes, share it.

Routes depend on which parts are joined, on the policy, and inside an island on rates where paths are split. Rates of
network links, values of parts and names do not change them, so an edit of those finds its routes made.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.islands import find_islands
from designer.analysis.network import Network
from designer.catalog.parttype import Domain

Bool = npt.NDArray[np.bool_]

#: structures kept, such as those of both sides of a comparison and of the edits between them
STRUCTURES_LIMIT: Final = 8
_structures: OrderedDict[object, dict[str, object]] = OrderedDict()


def passing(network: Network) -> Bool:
    """Which parts pass on network traffic, as switches do. : (n_parts,)"""
    kinds = [k.passes(Domain.NETWORK, Domain.NETWORK) for k in network.kinds]
    return np.array(kinds, dtype=bool)[network.net.part_def]


def structure_of(network: Network) -> dict[str, object]:
    """What modules worked out about networks connected like this one."""
    known = network.memo.get("structure")
    if isinstance(known, dict):
        return known  # pyright: ignore[reportUnknownVariableType]
    key = _key(network)
    found = _structures.setdefault(key, {})
    _structures.move_to_end(key)
    while len(_structures) > STRUCTURES_LIMIT:
        _structures.popitem(last=False)
    network.memo["structure"] = found
    return found


def digest(*arrays: npt.NDArray[np.generic]) -> bytes:
    """A key for the contents of arrays of known types."""
    total = blake2b()
    for array in arrays:
        total.update(f"{len(array)};".encode())
        total.update(np.ascontiguousarray(array).data)
    return total.digest()


def _key(network: Network) -> object:
    net, policy, islands = network.net, network.design.policy, find_islands(network)
    arrays = digest(
        net.link_a, net.link_b, network.domain, network.count, passing(network), islands.class_of, network.island
    )
    rules = (policy.relay_through_gpu, policy.pcie_acs, policy.ecmp, policy.hash_seed, policy.rail_affinity)
    # Graphs of islands are known by identity, and are themselves kept for all that are equal.
    return net.n_parts, arrays, islands.classes, rules

"""What an edit of values leaves as it was, shared by networks connected in the same way.

Routes depend on which parts are joined, on the policy, and inside an island on rates where paths are split. Rates of
network links, values of parts and names do not change them, so an edit of those finds its routes made.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Domain
from designer.design.document import Policy
from designer.engine.network import NETWORKS_LIMIT, Network
from designer.engine.network.frame import STRUCTURES_LIMIT, Frame
from designer.engine.network.hashing import mix
from designer.engine.network.islands import find_islands
from designer.memo import Interned, memo

Int = npt.NDArray[np.int64]

Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """What networks connected in the same way share; one object for all of them, so that answers can hang on it.

    Parameters
    ----------
    network
        The first of them that was met.
    """

    network: Network

    @property
    def extent(self) -> int:
        """Parts and links; see ``designer.memo``."""
        return self.network.extent


_structures: Interned[Structure] = Interned(STRUCTURES_LIMIT)


def passing(network: Network) -> Bool:
    """Which parts pass on network traffic, as switches do. : (n_parts,)"""
    return _is_transit(network.frame)


@memo(most=STRUCTURES_LIMIT)
def _is_transit(frame: Frame) -> Bool:
    if frame.departs is not None:
        return _is_transit(frame.departs.frame)
    return np.array([k.passes(Domain.NETWORK, Domain.NETWORK) for k in frame.kinds], dtype=bool)[frame.net.part_def]


@memo(most=NETWORKS_LIMIT)
def structure_of(network: Network) -> Structure:
    """The structure of a network: the same object for all that are connected like it."""
    return _structures(_key(network), lambda: Structure(network))


def digest(*arrays: npt.NDArray[np.generic]) -> bytes:
    """A key for the contents of arrays of known types."""
    total = blake2b()
    for array in arrays:
        total.update(f"{len(array)};".encode())
        total.update(np.ascontiguousarray(array).data)
    return total.digest()


def seed_of(policy: Policy) -> int:
    """The seed that routes depend on: none of the policy's where flows are spread evenly."""
    return policy.hash_seed if policy.ecmp == "hash" else 0


def hashed_by(policy: Policy) -> tuple[bool, int, int]:
    """What routes over equal paths depend on: whether flows are hashed, the seed, and the queue pairs of a flow."""
    hashed = policy.ecmp == "hash"
    return hashed, seed_of(policy), policy.hash_flows if hashed else 1


def cables_of(policy: Policy, flow: Int, link: Int, cables: Int) -> Int:
    """Which cable of its bundle each entry takes where flows are hashed.

    Parameters
    ----------
    flow, link, cables : (nnz,) of each entry; queue pairs of a flow are entries of their own
    """
    _, seed, pieces = hashed_by(policy)
    columns = [flow, link]
    if seed:
        columns.append(np.full(len(flow), seed))
    if pieces > 1:
        order = np.lexsort((np.arange(len(flow)), link, flow))
        new = np.ones(len(flow), dtype=bool)
        new[1:] = (np.diff(flow[order]) != 0) | (np.diff(link[order]) != 0)
        place = np.arange(len(flow)) - np.maximum.accumulate(np.where(new, np.arange(len(flow)), 0))
        number = np.empty(len(flow), dtype=np.int64)
        number[order] = place
        columns.append(number)
    return (mix(*columns) % cables.astype(np.uint64)).astype(np.int64)


def _key(network: Network) -> object:
    policy, islands = network.design.policy, find_islands(network)
    rules = (policy.relay_through_gpu, policy.pcie_acs, *hashed_by(policy), policy.rail_affinity)
    return network.frame, tuple(graph.shape for graph in islands.classes), rules

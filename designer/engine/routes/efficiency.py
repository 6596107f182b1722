"""What share of a raw channel a flow's payload achieves: per link definition, protocol and placement of the flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.engine.network import NETWORKS_LIMIT, Network
from designer.engine.network.frame import examples
from designer.engine.routes.legs import Routes
from designer.formulas.transfer import LinkClass, Placement, TransferProtocol
from designer.formulas.transfer.achievable_fraction import achievable_fraction
from designer.memo import memo
from designer.sources import Constant, Status
from designer.units import BytesPerSecond

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

PROTOCOLS: Final = (
    TransferProtocol.COPY,
    TransferProtocol.P2P,
    TransferProtocol.RDMA,
    TransferProtocol.STORAGE,
    TransferProtocol.STORAGE_WRITE,
)
COPY, P2P, RDMA, STORAGE, STORAGE_WRITE = range(len(PROTOCOLS))
_PLACEMENTS: Final = (Placement.SAME_SWITCH, Placement.SAME_SOCKET, Placement.CROSS_SOCKET)
N_PLACEMENTS: Final = len(_PLACEMENTS)
_CLASS: Final = {
    "pcie": LinkClass.PCIE,
    "nvlink": LinkClass.NVLINK,
    "xgmi": LinkClass.XGMI,
    "c2c": LinkClass.C2C,
    "upi": LinkClass.SOCKET,
    "infinity_fabric": LinkClass.SOCKET,
    "x_bus": LinkClass.SOCKET,
    "memory_bus": LinkClass.MEMORY_BUS,
    "ethernet": LinkClass.ETHERNET,
    "infiniband": LinkClass.INFINIBAND,
    "fabric": LinkClass.FABRIC,
}


def derated(found: Constant, attributes: Mapping[str, str], what: str) -> Constant:
    """A fraction as calibrated on the machine itself: times the ``derating.<what>`` of the link, 1 where it has none.

    The attribute reads ``0.93 source-key``; the source is in the design.
    """
    text = attributes.get(f"derating.{what}", "").split()
    try:
        factor = float(text[0]) if text else 1.0
    except ValueError:
        return found
    if not text or not 0 < factor < np.inf:
        return found
    source = text[1] if len(text) > 1 else found.source
    return Constant(found.value * factor, found.low * factor, found.high * factor, source, Status.DERIVED, found.unit)


#: fewer entries than all links divided by this are sorted, more are marked
_FEW_ROWS_LIMIT: Final = 16


def both_directions(network: Network, channel: Int, flow: Int, protocol: Int) -> tuple[Int, Int]:
    """PCIe links that copies, or traffic between peers, use in both directions.

    Parameters
    ----------
    channel, flow : (nnz,) of each entry of routes
    protocol : (n_flows,)

    Returns
    -------
    tuple
        Entries of such traffic on PCIe, and the links that have it both ways, ascending.
    """
    net, link = network.net, channel >> 1
    pcie = np.array([definition.kind == "pcie" for definition in net.link_defs], dtype=bool)
    rows = np.flatnonzero(pcie[net.link_def[link]])
    carried = protocol[flow[rows]]
    rows = rows[((carried == COPY) | (carried == P2P)) & network.full[link[rows]]]
    if len(rows) < net.n_links // _FEW_ROWS_LIMIT:
        met = np.unique(channel[rows]) >> 1
        return rows, met[1:][met[1:] == met[:-1]]
    used = np.zeros((2, net.n_links), dtype=bool)
    used[channel[rows] & 1, link[rows]] = True
    return rows, np.flatnonzero(used.all(axis=0))


class Efficiencies:
    """Looks up the efficiency of every entry of routes, with its band."""

    def __init__(self, network: Network) -> None:
        self._network = network
        net = network.net
        n = len(net.link_defs)
        self._example = dict(zip(*examples(net), strict=True))
        self._found: dict[tuple[int, int, int], Constant] = {}
        #: links between sockets; between a socket and its own NUMA domains they are links on the die
        cores = network.has(Capability.COMPUTE)
        socket_kind = np.array(
            [d.kind in ("upi", "infinity_fabric", "x_bus", "c2c") for d in net.link_defs], dtype=bool
        )
        self._between_sockets = np.zeros(n, dtype=bool)
        self._through_root = np.zeros(n, dtype=bool)
        root = network.has(Capability.ROOT)
        definition, link = (np.array(column, dtype=np.int64) for column in examples(net))
        a, b = net.link_a[link], net.link_b[link]
        self._between_sockets[definition] = socket_kind[definition] & cores[a] & cores[b]
        self._through_root[definition] = root[a] | root[b]

    def placement(self, routes: Routes, n_flows: int) -> Int:
        """Code of each flow's placement: below one switch, through a root, across sockets. : (n_flows,)"""
        definition = self._network.net.link_def[routes.channel >> 1]
        code = np.zeros(n_flows, dtype=np.int64)
        code[routes.flow[self._through_root[definition]]] = 1
        code[routes.flow[self._between_sockets[definition]]] = 2
        return code

    def constant(self, definition: int, protocol: int, placement: int) -> Constant:
        """The fraction for one link definition."""
        key = (definition, protocol, placement)
        if key not in self._found:
            self._found[key] = self._look_up(*key)
        return self._found[key]

    def codes(self, routes: Routes, protocol: Int, placement: Int) -> tuple[list[tuple[int, int, int]], Int]:
        """Link definition, protocol and placement as they occur, and which of these each entry has. : (nnz,)"""
        definition = self._network.net.link_def[routes.channel >> 1]
        code = (definition * len(PROTOCOLS) + protocol[routes.flow]) * len(_PLACEMENTS) + placement[routes.flow]
        codes, which = np.unique(code, return_inverse=True)
        return [self._split(code) for code in codes.tolist()], which

    def of(self, routes: Routes, protocol: Int, placement: Int) -> Float:
        """Fraction of every entry. : (nnz,)"""
        codes, which = self.codes(routes, protocol, placement)
        return np.array([self.constant(*code).value for code in codes], dtype=np.float64)[which]

    @staticmethod
    def _split(code: int) -> tuple[int, int, int]:
        rest, placement = divmod(code, len(_PLACEMENTS))
        definition, protocol = divmod(rest, len(PROTOCOLS))
        return definition, protocol, placement

    def _look_up(self, definition: int, protocol: int, placement: int) -> Constant:
        network = self._network
        link = network.net.link_defs[definition]
        kind = _CLASS.get(link.kind, LinkClass.FABRIC)
        if kind is LinkClass.ETHERNET and link.attributes.get("technology", "").upper() == "EFA":
            kind = LinkClass.EFA
        if kind is LinkClass.SOCKET and not self._between_sockets[definition]:
            kind = LinkClass.FABRIC
        generation = link.generation or 0
        if kind is LinkClass.NVLINK and not generation:
            generation = self._nvlink_generation(definition)
        if network.link_facts[definition].measured:
            kind = LinkClass.FABRIC
        found = achievable_fraction(
            kind,
            PROTOCOLS[protocol],
            generation=generation,
            placement=_PLACEMENTS[placement],
            raw_bandwidth=BytesPerSecond(network.link_facts[definition].rate),
        )
        # a machine is calibrated by what it reads
        calibrated = STORAGE if protocol == STORAGE_WRITE else protocol
        return derated(found, link.attributes, str(PROTOCOLS[calibrated]))

    def _nvlink_generation(self, definition: int) -> int:
        net, design = self._network.net, self._network.design
        link = self._example[definition]
        for end in (int(net.link_a[link]), int(net.link_b[link])):
            quantity = design.quantity(net.part(end), "nvlink_generation")
            if quantity is not None and isinstance(quantity.value, int):
                return int(quantity.value)
        return 0


@memo(most=NETWORKS_LIMIT)
def efficiencies_of(network: Network) -> Efficiencies:
    """What transfers achieve on the links of a network."""
    return Efficiencies(network)

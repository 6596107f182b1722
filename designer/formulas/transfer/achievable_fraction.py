"""Share of a raw channel that a protocol achieves in steady state."""

from __future__ import annotations

import math
from collections.abc import Mapping

from designer.formulas.formula import Formula
from designer.formulas.transfer import _constants as c
from designer.formulas.transfer._constants import LinkClass, Placement, TransferProtocol
from designer.sources import Constant, weakest
from designer.units import BytesPerSecond


def achievable_fraction(
    link: LinkClass,
    protocol: TransferProtocol,
    *,
    generation: int = 0,
    placement: Placement = Placement.SAME_SWITCH,
    both_directions: bool = False,
    raw_bandwidth: BytesPerSecond = BytesPerSecond(0.0),
) -> Constant:
    """Achieved ÷ raw bandwidth of one channel, with its 80 % band and source [1].

    Parameters
    ----------
    link, protocol
        What the channel is, and who moves the bytes. A pair that does not occur gets the copy figure of the link.
    generation
        Of PCIe or NVLink; 0 takes the fourth of PCIe and the third of NVLink, the commonest with measurements.
    placement
        Matters for ``p2p`` and ``rdma`` on PCIe.
    both_directions
        The opposite channel is as busy.
    raw_bandwidth
        Needed where the answer depends on the line rate: TCP [B/s].
    """
    found = _one_way(link, protocol, generation, raw_bandwidth)
    if protocol is TransferProtocol.STORAGE_WRITE and link in _NETWORKS:
        found = product(found, c.NETWORK_WRITE)
    if link is LinkClass.PCIE and protocol is TransferProtocol.P2P:
        found = product(found, c.P2P_PLACEMENT[placement])
    if link is LinkClass.PCIE and protocol is TransferProtocol.RDMA and placement is not Placement.SAME_SWITCH:
        found = product(found, c.RDMA_PLACEMENT[placement])
    if both_directions:
        if link is LinkClass.PCIE:
            found = product(found, both_directions_share(generation, peers=protocol is TransferProtocol.P2P))
        elif link in c.BOTH_DIRECTIONS:
            found = product(found, c.BOTH_DIRECTIONS[link])
    return found


_NETWORKS = (LinkClass.ETHERNET, LinkClass.EFA, LinkClass.INFINIBAND)


def both_directions_share(generation: int, *, peers: bool = False) -> Constant:
    """What each direction of a PCIe link keeps of its one-way rate while the other is as busy [1].

    Parameters
    ----------
    generation
        Of PCIe; 0 takes the fourth.
    peers
        True if the bytes go from device to device rather than from and to host memory.
    """
    table = c.PEER_BOTH_DIRECTIONS if peers else c.PCIE_BOTH_DIRECTIONS
    return newest(table, generation or int(c.USUAL_PCIE.value))


def _one_way(link: LinkClass, protocol: TransferProtocol, generation: int, raw: float) -> Constant:
    if link is LinkClass.PCIE:
        return _pcie(protocol, generation, raw)
    if protocol is TransferProtocol.TCP and link in (LinkClass.ETHERNET, LinkClass.EFA, LinkClass.INFINIBAND):
        return next(share for limit, share in c.TCP if raw <= limit.value)
    storage = protocol in (TransferProtocol.STORAGE, TransferProtocol.STORAGE_WRITE)
    if link is LinkClass.EFA and not storage:
        return c.EFA_RDMA
    if link in (LinkClass.ETHERNET, LinkClass.EFA):
        return c.ETHERNET_STORAGE if storage else c.ETHERNET_RDMA
    if link is LinkClass.INFINIBAND:
        return c.INFINIBAND_STORAGE if storage else c.INFINIBAND_RDMA
    if link is LinkClass.NVLINK:
        return newest(c.NVLINK_COPY, generation or int(c.USUAL_NVLINK.value))
    if link is LinkClass.SOCKET:
        peer = protocol in (TransferProtocol.P2P, TransferProtocol.RDMA)
        return c.SOCKET_P2P if peer else c.SOCKET_COPY
    return {
        LinkClass.XGMI: c.XGMI_COPY,
        LinkClass.C2C: c.C2C_COPY,
        LinkClass.MEMORY_BUS: c.MEMORY_BUS,
        LinkClass.FABRIC: c.FABRIC,
    }[link]


def _pcie(protocol: TransferProtocol, generation: int, raw: float) -> Constant:
    copy = newest(c.PCIE_COPY, generation or int(c.USUAL_PCIE.value))
    return {
        TransferProtocol.RDMA: c.PCIE_RDMA,
        TransferProtocol.STORAGE: c.PCIE_STORAGE,
        TransferProtocol.STORAGE_WRITE: c.PCIE_STORAGE,
    }.get(protocol, copy)


def newest(table: Mapping[int, Constant], generation: int) -> Constant:
    """The entry of the newest generation not newer than the given one; the oldest if all are newer."""
    return table[max((key for key in table if key <= generation), default=min(table))]


def product(first: Constant, second: Constant) -> Constant:
    """Product of two fractions; relative bands add in squares [1]."""
    value = first.value * second.value
    down = math.hypot(1 - first.low / first.value, 1 - second.low / second.value)
    up = math.hypot(first.high / first.value - 1, second.high / second.value - 1)
    note = "; ".join(part for part in (first.note, second.note) if part)
    status = weakest(first.status, second.status)
    source = first.source if status is first.status else second.source
    return Constant(value, value * max(0.0, 1 - down), value * (1 + up), source, status, "1", note)


FORMULA = Formula(
    name="achievable-fraction",
    title="Achieved share of a raw channel",
    function=achievable_fraction,
    sources=("transfers-fit", "nvbandwidth-readme", "nvbandwidth-50", "rccl-topology", "assumed-transfers"),
    valid_when="large transfers in steady state",
)

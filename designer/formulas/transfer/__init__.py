"""Achieved rates of transfers over PCIe, NVLink, sockets and networks, and their latencies."""

from designer.formulas.transfer._constants import LATENCY
from designer.formulas.transfer._situation import LinkClass, Placement, TransferProtocol

__all__ = ["LATENCY", "LinkClass", "Placement", "TransferProtocol"]

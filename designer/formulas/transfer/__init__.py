"""Achieved rates of transfers over PCIe, NVLink, sockets and networks, and their latencies."""

from designer.formulas.transfer._constants import LATENCY, LinkClass, Placement, TransferProtocol

__all__ = ["LATENCY", "LinkClass", "Placement", "TransferProtocol"]

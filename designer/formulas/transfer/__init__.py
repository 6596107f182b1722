"""Achieved rates and times of transfers over PCIe, NVLink, sockets and networks."""

from designer.formulas.transfer._constants import LATENCY
from designer.formulas.transfer._situation import (
    LinkClass,
    Placement,
    TransferProtocol,
    TransferSituation,
    TransferTime,
)

__all__ = ["LATENCY", "LinkClass", "Placement", "TransferProtocol", "TransferSituation", "TransferTime"]

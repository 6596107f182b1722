"""Raw rate of a PCIe link after line encoding, and what packet headers leave of it."""

from __future__ import annotations

from designer.formulas.formula import Formula
from designer.formulas.transfer import _constants as c
from designer.units import Bytes


def pcie_rate(generation: int, lanes: int) -> float:
    """Raw bandwidth of a PCIe link per direction, after line encoding, before packets [B/s].

    Raises
    ------
    AssertionError
        If the generation is unknown or there are no lanes.
    """
    if generation not in c.PCIE_LANE or lanes < 1:
        raise AssertionError(f"no PCIe generation {generation} with {lanes} lanes")
    return c.PCIE_LANE[generation].value * lanes


def packet_efficiency(payload: Bytes) -> float:
    """Share of packet bytes that is payload, for a maximum payload in bytes [1].

    This is an upper bound for copies; ``achievable_fraction`` already contains it.

    Raises
    ------
    AssertionError
        If the payload is empty.
    """
    if payload <= 0:
        raise AssertionError("a packet needs a payload")
    return payload / (payload + c.TLP_OVERHEAD.value)


FORMULA = Formula(
    name="pcie-rate",
    title="Raw rate of a PCIe link",
    function=pcie_rate,
    sources=("pcie-rates", "pcie-tlp"),
    valid_when="generations 1 to 7; the seventh not verified",
)

"""Raw rate of a PCIe link after line encoding."""

from __future__ import annotations

from designer.formulas.formula import Formula
from designer.formulas.transfer import _constants as c


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


FORMULA = Formula(
    name="pcie-rate",
    title="Raw rate of a PCIe link",
    function=pcie_rate,
    sources=("pcie-rates",),
    valid_when="generations 1 to 7; the seventh not verified",
)

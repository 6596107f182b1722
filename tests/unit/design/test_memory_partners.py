"""What memory joins: modules fit the sockets of their kind, and only memory behind CXL is joined by PCIe."""

from __future__ import annotations

import pytest

from designer.catalog.loader import Catalog
from designer.design.document import Design, Part
from designer.design.legality import can_connect


def two(a: str, b: str) -> Design:
    catalog = Catalog()
    parts = [Part(id=name, kind=t.partition("/")[0], type=t) for name, t in (("a", a), ("b", b))]
    return Design.model_validate({"name": "two", "parts": parts, "part_types": [catalog.get(a), catalog.get(b)]})


@pytest.mark.parametrize(
    ("other", "memory", "links"),
    [
        ("cpu/intel/xeon-icx", "memory/generic/ddr4-3200-8ch", ("memory_bus",)),
        ("cpu/intel/xeon-icx", "memory/intel/pmem-200", ("memory_bus",)),
        ("cpu/intel/xeon-icx", "memory/generic/ddr5-4800-8ch", ()),
        ("cpu/intel/xeon-spr", "memory/generic/ddr4-3200-8ch", ()),
        ("cpu/intel/xeon-gnr-sp", "memory/generic/mrdimm-8000-8ch", ("memory_bus",)),
        ("cpu/intel/xeon-max", "memory/intel/hbm2e-xeon-max", ("memory_bus",)),
        ("cpu/nvidia/grace", "memory/nvidia/lpddr5x-grace", ("memory_bus",)),
        # LPDDR5 is soldered, and no DDR5
        ("cpu/nvidia/grace", "memory/generic/ddr5-4800-8ch", ()),
        ("gpu/nvidia/h100-pcie", "memory/generic/ddr5-4800-8ch", ()),
        ("gpu/nvidia/h100-pcie", "memory/generic/cxl-gen5-x8", ()),
        ("pcie_switch/generic/gen5", "memory/generic/ddr5-4800-8ch", ()),
        ("pcie_switch/generic/gen5", "memory/generic/cxl-gen5-x8", ("pcie",)),
    ],
)
def test_memory_joins_what_takes_it(other: str, memory: str, links: tuple[str, ...]) -> None:
    found = can_connect(two(other, memory), "a", "b")
    assert (found.ok, found.kinds) == (bool(links), links), found.reason
    assert found.ok or found.reason

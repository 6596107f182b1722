"""Links of UFM: shapes of its REST API, version 6.20."""

from __future__ import annotations

import json
from typing import Any

import pytest

from designer.errors import ExchangeError
from designer.interchange.importing import read_bytes


def link(a: str, b: str, ports: tuple[str, str] = ("5", "5"), **more: Any) -> dict[str, Any]:
    guids = {name: f"{sum(name.split(':')[0].encode()):016x}" for name in (a, b)}
    return {
        "source_guid": guids[a],
        "source_port": ports[0],
        "destination_guid": guids[b],
        "destination_port": ports[1],
        "source_port_dname": "1/3/1",
        "destination_port_dname": ports[1],
        "width": "4x",
        "severity": "Info",
        "source_port_node_description": a,
        "destination_port_node_description": b,
        **more,
    }


def test_switches_hosts_and_cables() -> None:
    """Two switches with two cables, one of them listed from both ends; a host with two adapters; SHARP inside."""
    text = json.dumps(
        [
            link("leaf:1/3/1", "spine:1/3/1"),
            link("spine:1/3/1", "leaf:1/3/1"),
            link("leaf:1/3/2", "spine:1/3/2", ("6", "6"), severity="Warning"),
            link("leaf:1/1/1", "node07 mlx5_0", ("1", "1"), speed="NDR"),
            link("leaf:1/1/2", "node07 mlx5_1", ("2", "1"), cable_info={"speed": "NDR"}),
            link("leaf:41", "Mellanox Technologies Aggregation Node", ("41", "1")),
        ]
    )
    found = read_bytes(text.encode())
    parts = found.design.parts
    kinds = [p.kind for p in parts.values()]
    assert (kinds.count("switch"), kinds.count("server"), kinds.count("nic")) == (2, 1, 2)
    rates = sorted(str(li.bandwidth_per_direction) for li in found.design.links.values())
    # four lanes of 100 Gb/s are 50 GB/s; between switches the file states no generation
    assert rates == ["50 GB/s", "50 GB/s", "None", "None"]
    assert any(li.attributes.get("severity") == "Warning" for li in found.design.links.values())
    assert {"IMP-AGGREGATION", "IMP-ASSUMED-RATE"} <= {f.code for f in found.findings}


def test_hosts_may_stand_by_their_name_alone() -> None:
    design = read_bytes(json.dumps([link("leaf:1", "storage-7", ("1", "1"))]).encode()).design
    assert [p.label for p in design.parts.values() if p.kind == "server"] == ["storage-7"]


@pytest.mark.parametrize(
    "content", [[], [{"source_port_node_description": "a:1"}], {"source_port_node_description": 1}]
)
def test_without_cables_it_is_refused(content: Any) -> None:
    with pytest.raises(ExchangeError, match="two ends"):
        read_bytes(json.dumps(content).encode(), "ufm")

"""A design as a networkx graph."""

from __future__ import annotations

import networkx

from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.design.graph import to_networkx
from tests.designs import one_unit


def test_every_part_is_a_node_and_every_link_two_edges() -> None:
    design = one_unit(2)
    graph, net = to_networkx(design), elaborate(design)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (net.n_parts, 2 * net.n_links)
    assert graph.nodes["servers[1]/gpu0"]["parent"] == "servers[1]/server"
    edge = graph.edges["servers[0]/gpu0", "servers[0]/nvsw1", "servers[0]/gpu0--nvsw1"]
    assert edge["bandwidth_per_direction"] == 25e9
    assert (edge["capacity"], edge["count"], edge["kind"]) == (125e9, 5, "nvlink")
    for a, b, key, data in graph.edges(keys=True, data=True):
        assert graph.edges[b, a, key] == data
        assert data["link"] == key
    assert len({key for _, _, key in graph.edges(keys=True)}) == net.n_links


def test_values_are_in_si_units_and_overrides_win() -> None:
    values = {
        "memory_capacity": {"value": "80 GB"},
        "architecture": {"value": "Hopper"},
        "nvlink_links": {"value": 18},
    }
    gpu = {"id": "gpu/x/y", "kind": "gpu", "title": "Y", "values": values}
    part = {"id": "a", "kind": "gpu", "type": "gpu/x/y", "overrides": {"memory_capacity": {"value": "96 GB"}}}
    node = to_networkx(Design.model_validate({"name": "x", "parts": [part], "part_types": [gpu]})).nodes["a"]
    assert node == {
        "kind": "gpu",
        "type": "gpu/x/y",
        "name": "a",
        "memory_capacity": 96e9,
        "architecture": "Hopper",
        "nvlink_links": 18.0,
    }


def test_it_can_be_written_as_graphml() -> None:
    text = "\n".join(networkx.generate_graphml(to_networkx(one_unit(2))))
    assert networkx.parse_graphml(text, force_multigraph=True).number_of_nodes() == elaborate(one_unit(2)).n_parts

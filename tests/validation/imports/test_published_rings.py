"""Rings and planned speed of a published search of the library against those of the same machine here."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from designer.design.document import Design
from designer.engine.network import build_network
from designer.engine.routes.selection import resolve
from designer.families.collective.communicator import make_communicator
from designer.formulas.collectives._planning import planned_inside
from designer.interchange.importing import read_any
from designer.interchange.templates import open_design
from tests.real import real_folder

pytestmark = pytest.mark.real
#: graph of the search that holds rings, in the numbers of the library
RING = "4"


@pytest.fixture(scope="module")
def graph() -> ElementTree.Element:
    folder = real_folder()
    if folder is None:
        pytest.skip("the dumps are not beside the checkout")
    root = ElementTree.parse(folder / "nccl_xml" / "azure_ncv4_graphs_NOT_A_TOPOLOGY.xml").getroot()
    (found,) = (one for one in root if one.get("pattern") == RING)
    return found


def _machines() -> dict[str, Design]:
    folder = real_folder()
    found = {"template": open_design("azure-ncv4-a100-pcie")}
    if folder is not None:
        found["dump"] = read_any(folder / "nccl_xml" / "azure_ncv4_a100_pcie.xml").design
    return found


@pytest.mark.parametrize("name", ["template", "dump"])
def test_rings_go_the_same_way(graph: ElementTree.Element, name: str) -> None:
    """Channels run 0-1-2-3 and back: the neighbours of the ring here are the same."""
    network = build_network(_machines()[name])
    gpus = resolve(network, "gpus", "g")
    group = make_communicator(network, gpus, "g")
    place = {int(part): k for k, part in enumerate(gpus)}
    assert group.inside is not None
    legs = group.inside.hops.legs
    ours = {frozenset((place[int(a)], place[int(b)])) for a, b in zip(legs.source, legs.target, strict=True)}
    for channel in graph:
        order = [int(str(gpu.get("dev"))) for gpu in channel]
        assert ours == {frozenset(pair) for pair in zip(order, [*order[1:], order[0]], strict=True)}


@pytest.mark.parametrize("name", ["template", "dump"])
def test_the_planned_speed_is_that_of_the_channels(graph: ElementTree.Element, name: str) -> None:
    """Two channels of 12 GB/s each are 24 of the 31.5 GB/s of the PCIe link."""
    network = build_network(_machines()[name])
    group = make_communicator(network, resolve(network, "gpus", "g"), "g")
    channels, each = int(str(graph.get("nchannels"))), float(str(graph.get("speedintra")))
    assert len(graph) == channels
    assert planned_inside(group.situation) == pytest.approx(channels * each * 1e9, rel=0.01)

"""What parts and links are called in the drawing, by hand."""

from __future__ import annotations

import pytest

from designer.design.document import Block, Group, Part
from designer.design.naming import in_names, link_title, part_title
from designer.engine.network import build_network
from designer.interchange.templates import open_design

SWITCH = Block(parts={"switch": Part(id="switch", kind="switch", name="QM9700")})
HOST = Block(
    parts={
        "server": Part(id="server", kind="server", name="Host"),
        "gpu0": Part(id="gpu0", kind="gpu", name="GPU 0", parent="server"),
        "nic0": Part(id="nic0", kind="nic", name="NIC", parent="server"),
        "nic1": Part(id="nic1", kind="nic", name="NIC", parent="server"),
    }
)
OTHER = Block(parts={"server": Part(id="server", kind="server", name="Spare")})
DESIGN = Block(
    parts={"nfs": Part(id="nfs", kind="storage", name="Storage")},
    groups={
        "hosts": Group(id="hosts", name="ESXi hosts", replicas=4, content=HOST, exceptions={2: OTHER}),
        "leaves": Group(id="leaves", name="Leaves", replicas=2, content=SWITCH),
    },
)


@pytest.mark.parametrize(
    ("path", "titles"),
    {
        "nfs": ("Storage", "Storage"),
        "hosts[1]/gpu0": ("ESXi host 2, GPU 0", "GPU 0"),
        "hosts[1]/server": ("ESXi host 2", "ESXi host 2"),
        "hosts[*]/gpu0": ("ESXi hosts, GPU 0", "GPU 0"),
        "hosts[1]": ("ESXi host 2", "ESXi host 2"),
        "leaves[0]/switch": ("Leaf 1", "Leaf 1"),
        # two are called so
        "hosts[0]/nic1": ("ESXi host 1, NIC [hosts[0]/nic1]", "NIC [hosts[0]/nic1]"),
        # what is not there stays as it is: a member without that part, a number beyond the members, no such group
        "hosts[2]/gpu0": ("hosts[2]/gpu0", "hosts[2]/gpu0"),
        "hosts[4]/gpu0": ("hosts[4]/gpu0", "hosts[4]/gpu0"),
        "racks[0]/gpu0": ("racks[0]/gpu0", "racks[0]/gpu0"),
        "Storage (media)": ("Storage (media)", "Storage (media)"),
        "": ("", ""),
    }.items(),
)
def test_parts_are_called_as_in_the_drawing(path: str, titles: tuple[str, str]) -> None:
    assert (part_title(DESIGN, path), part_title(DESIGN, path, alone=True)) == titles


def test_links_are_called_by_both_ends() -> None:
    assert link_title(DESIGN, "hosts[1]/gpu0 → nfs (pcie ×4)") == "ESXi host 2, GPU 0 → Storage (pcie ×4)"
    assert link_title(DESIGN, "leaves[0]/switch ↔ hosts[0]/gpu0 (ethernet)") == "Leaf 1 ↔ ESXi host 1, GPU 0 (ethernet)"
    assert link_title(DESIGN, "hosts[1]/gpu0 → leaves[1]/switch", alone=True) == "GPU 0 → Leaf 2"
    assert link_title(DESIGN, "nfs") == "Storage"


def test_links_in_a_sentence_are_called_by_their_names() -> None:
    text = "hosts[1]/gpu0 → nfs (pcie), hosts[0]/gpu0 ↔ leaves[0]/switch; nothing → else"
    assert in_names(DESIGN, text) == (
        "ESXi host 2, GPU 0 → Storage (pcie), ESXi host 1, GPU 0 ↔ Leaf 1; nothing → else"
    )


def test_members_of_groups_in_what_binds_are_called_by_their_names() -> None:
    assert (
        link_title(DESIGN, "vMotion streams of hosts[0]/gpu0, out: 1")
        == "vMotion streams of ESXi host 1, GPU 0, out: 1"
    )
    assert link_title(DESIGN, "client of nfs on hosts[1]") == "client of nfs on ESXi host 2"
    assert link_title(DESIGN, "shelves[0] of nothing") == "shelves[0] of nothing"


@pytest.mark.parametrize("template", ["hgx-h100-8", "su-h100-32", "vsphere-cluster-4"])
def test_every_part_of_a_design_has_a_title_of_its_own(template: str) -> None:
    design = open_design(template)
    net = build_network(design).net
    paths = [net.path(i) for i in range(min(net.n_parts, 2000))]
    titles = [part_title(design, path) for path in paths]
    assert len(set(titles)) == len(paths)


def test_a_text_without_end_is_searched_no_further_than_it_is_read() -> None:
    """A word of so many letters was looked through again from each of them, for minutes."""
    assert in_names(DESIGN, "x" * 300_000) == "x" * 300_000

"""Trees of ``lspci -tvv``: what hangs where, by the columns of the drawing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import ExchangeError
from designer.interchange.importing import importers, read_bytes

#: composed after ls-tree.c of pciutils: a root port with a switch of three ports, one empty; a card with two functions;
#: a bridge with a screen behind it; regions as -vv writes them
TREE = r"""-+-[0000:00]-+-00.0  Intel Corporation Device 09a2
 |           +-1d.0-[01-02]----00.0-[02]----00.0  ASPEED Technology, Inc. ASPEED Graphics Family
 |           \-1f.0  Intel Corporation C741 LPC/eSPI Controller
 +-[0000:15]-+-00.0  Intel Corporation Ice Lake Memory Map/VT-d
 |           +-01.0-[16-1d]----00.0-[17-1d]--+-00.0-[18]--+-00.0  Mellanox Technologies MT2910 Family [ConnectX-7]
 |           |                               |            \-00.1  Mellanox Technologies MT2910 Family [ConnectX-7]
 |           |                               +-01.0-[1b]----00.0  NVIDIA Corporation GH100 [H100 SXM5 80GB]
 |           |                               |                      Memory at 20b042000000 (64-bit, prefetchable)
 |           |                               \-02.0-[1c]--
 |           \-03.0-[1e]----00.0  Samsung Electronics Co Ltd NVMe SSD Controller PM9A1/PM9A3/980PRO
 \-[0000:80]-+-00.0  Intel Corporation Ice Lake Memory Map/VT-d
             +-01.0-[81]--+-00.0  NVIDIA Corporation AD102GL [L40S]
             |            \-00.1  NVIDIA Corporation AD102 High Definition Audio Controller
             \-02.0-[82]----00.0  NVIDIA Corporation GH100 [H100 NVSwitch] [10de:22a3]
"""


def links(text: str) -> set[tuple[str, str]]:
    design = read_bytes(text.encode()).design
    return {(link.a, link.b) for link in design.links.values() if link.kind == "pcie"}


def test_a_switch_is_a_bridge_with_bridges_below_another() -> None:
    """Bus 16 leads to the upstream port 16:00.0, whose ports 17:00.0 and 17:01.0 hold a NIC and a GPU: one switch.
    The drive and the L40S hang from root ports, so from the processor; the screen and the sound are no parts."""
    imported = read_bytes(TREE.encode())
    parts = imported.design.parts
    assert links(TREE) == {
        ("numa0", "pcie_switch0"),
        ("pcie_switch0", "nic0"),
        ("pcie_switch0", "gpu0"),
        ("numa0", "drive0"),
        ("numa0", "gpu1"),
    }
    assert parts["gpu0"].type == "gpu/nvidia/h100-sxm5"
    assert parts["gpu0"].attributes["busid"] == "0000:1b:00.0"
    assert parts["nic0"].attributes["functions"] == "2"
    assert parts["nvswitch0"].type == "nvswitch/nvidia/nvswitch-gen3"
    codes = {f.code for f in imported.findings}
    assert {"IMP-ASSUMED-PCIE", "IMP-PLACE", "IMP-CLASSES"} <= codes


def test_four_root_complexes_of_epyc_are_a_socket() -> None:
    """Eight root complexes of Milan are two sockets; a GPU at bus a0, the sixth of them, is at the second."""
    buses = ("00", "20", "40", "60", "80", "a0", "c0", "e0")
    lines = []
    for place, bus in enumerate(buses):
        start = "-+-" if place == 0 else " \\-" if place == len(buses) - 1 else " +-"
        wall = " " if place == len(buses) - 1 else "|"
        lines.append(f"{start}[0000:{bus}]-+-00.0  Advanced Micro Devices, Inc. [AMD] Milan Root Complex")
        lines.append(
            f" {wall}           \\-03.1-[{int(bus, 16) + 1:02x}]----00.0  NVIDIA Corporation GA100 [A100 SXM4 80GB]"
        )
    design = read_bytes("\n".join(lines).encode()).design
    homes = {link.b: link.a for link in design.links.values() if link.kind == "pcie"}
    assert [homes[f"gpu{k}"] for k in range(8)] == ["numa0"] * 4 + ["numa1"] * 4
    assert sum(p.kind == "cpu" for p in design.parts.values()) == 2


def test_one_root_bus_alone_is_read() -> None:
    """With a single root bus lspci draws no branches before it."""
    text = "-[0000:00]-+-00.0  Intel Corporation Device 1\n           \\-01.0-[01]----00.0  NVIDIA Corporation GA100\n"
    assert links(text) == {("numa0", "gpu0")}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (re.sub(r"  [A-Z].*", "", TREE), "no names"),
        (TREE.replace("-[1b]-", "~[1b]~"), "not how lspci draws"),
        (TREE.replace(" +-[0000:15]", "  +-[0000:15]"), "not how lspci draws"),
        (TREE + TREE, "several trees"),
        ("-+-[0000:00]-+-00.0  " + "x" * 5_000, "far larger"),
    ],
)
def test_what_is_no_such_tree_is_refused(text: str, what: str) -> None:
    with pytest.raises(ExchangeError, match=what) as refused:
        read_bytes(text.encode())
    assert refused.value.remedy


def test_names_are_kept_as_text() -> None:
    text = TREE.replace("[L40S]", '[<script>alert("x")</script> =cmd() \u202e]')
    names = [p.attributes.get("product", "") for p in read_bytes(text.encode()).design.parts.values()]
    assert any("<script>" in name for name in names)


@given(st.integers(0, len(TREE)), st.text(" |+\\-[]0:.x\n", max_size=8))
def test_damaged_trees_are_read_or_refused(at: int, junk: str) -> None:
    text = TREE[:at] + junk + TREE[at + len(junk) :]
    if importers()["lspci"].sniff(text) < 0.5:
        return
    try:
        design = read_bytes(text.encode(), "lspci").design
    except ExchangeError:
        return
    assert design.parts

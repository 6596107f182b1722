"""Damaged and hostile dumps: refused or read, never a crash, never long."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import ExchangeError
from designer.interchange.importing import importers, read_any
from designer.interchange.native.writer import dumps

NCCL = """<system version="1">
 <cpu host_hash="0xabc" numaid="0" affinity="ffff,0000ffff" arch="x86_64" vendor="GenuineIntel" familyid="6"
  modelid="143">
  <pci busid="0000:10:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
   <pci busid="0000:11:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32 GT/s" link_width="16">
    <gpu dev="0" sm="90" rank="0" gdr="1"><nvlink target="0000:c1:00.0" count="9" tclass="0x068000"/>
     <nvlink target="0000:12:00.0" count="2" tclass="0x030200"/><c2c bw="44712" count="5"/></gpu></pci>
   <pci busid="0000:12:00.0" class="0x030200"><gpu dev="1" sm="90" rank="1" gdr="1"/></pci>
   <pci busid="0000:13:00.0" class="0x020700"><nic><net name="mlx5_0" dev="0" speed="400000" guid="0x1"/></nic></pci>
  </pci><nic><net name="eth0" dev="1" speed="10000" port="0" guid="0x2"/></nic></cpu></system>"""
HWLOC = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine" os_index="0" cpuset="0x3" nodeset="0x1">
 <object type="Package" os_index="0" cpuset="0x3" nodeset="0x1" gp_index="3">
  <info name="CPUVendor" value="GenuineIntel"/>
  <object type="NUMANode" os_index="0" cpuset="0x3" nodeset="0x1" gp_index="4" local_memory="1024"/>
  <object type="Bridge" bridge_type="0-1" bridge_pci="0000:[00-05]">
   <object type="Bridge" bridge_type="1-1" pci_busid="0000:00:01.0"
     pci_type="0604 [8086:2030] [0000:0000] 04" pci_link_speed="15.75">
    <object type="PCIDev" gp_index="5" pci_busid="0000:11:00.0" pci_type="0302 [10de:1db1] [10de:1212] a1"
     pci_link_speed="15.753846">
     <object type="OSDev" gp_index="7" name="nvml0" osdev_type="5"/></object></object></object></object></object>
 <distances2hetero nbobjs="2" kind="25" name="NVLinkBandwidth"><indexes length="9">OSDev:7 Package:3 </indexes>
  <u64values length="9">1000000 50000 50000 0 </u64values></distances2hetero></topology>"""
MATRIX = (
    "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \tNV12\tPXB\t0-15,32-47\t0\t\tN/A\n"
    "GPU1\tNV12\t X \tSYS\t16-31\t1\t\tN/A\nNIC0\tPXB\tSYS\t X \t\t\t\n"
    "\nLegend:\n  X = Self\n\nNIC Legend:\n  NIC0: mlx5_0\n"
)
SAMPLES = {"nccl-xml": NCCL, "hwloc-xml": HWLOC, "nvidia-smi-topo": MATRIX}


def survives(data: bytes, format: str | None) -> bool:
    """True if `data` was read; otherwise an error with a message is raised."""
    try:
        imported = read_any(data, format)
    except ExchangeError as error:
        return not (error.text and error.file)
    assert dumps(imported.design)
    return True


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_are_read(name: str) -> None:
    assert survives(SAMPLES[name].encode(), None)


@pytest.mark.parametrize("name", SAMPLES)
def test_truncation_at_every_byte(name: str) -> None:
    data = SAMPLES[name].encode()
    read = [at for at in range(len(data)) if survives(data[:at], name)]
    # XML is whole only with its last bracket; a table may lose what follows the last row.
    last = data.rindex(b">") if name != "nvidia-smi-topo" else data.index(b"NIC0\tPXB\tSYS\t X") + 12
    assert all(at >= last for at in read), read[:3]


@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_mutations(name: str, data: st.DataObject) -> None:
    text = bytearray(SAMPLES[name].encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        length = data.draw(st.integers(0, 12))
        text[at : at + length] = data.draw(st.binary(max_size=12) | st.sampled_from(WORDS))
    survives(bytes(text), data.draw(st.sampled_from([None, name])))


WORDS = [
    w.encode()
    for w in (
        "nan",
        "inf",
        "1e309",
        "-1",
        "-0",
        "1000000000000000000",
        "0x10",
        "",
        "tbd",
        "N/A",
        "true",
        "\u0663",
        " 7 ",
        "..",
        "/",
        "a" * 300,
        "\u202e",
        '"',
        "<",
        "&amp;",
        "&#0;",
        "]]>",
        "<![CDATA[x]]>",
        "=1+1",
        "\r",
        "\r\n",
        "\x1b[2J",
        "SYSSYS",
        "NV0",
        "NV999",
        "GPU0",
        "\t\t",
        "fffffff:ff:ff.0",
        "0x068000",
        "0xf...f",
        ",,,",
        "0-1-2",
        "5-3",
        "9999999-1",
    )
]


@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_values_replaced(name: str, data: st.DataObject) -> None:

    text = SAMPLES[name]
    values = list(re.finditer(r'"([^"]*)"' if name != "nvidia-smi-topo" else r"([^\t\n]+)", text))
    chosen = data.draw(st.lists(st.sampled_from(values), min_size=1, max_size=4, unique_by=lambda m: m.start()))
    for match in sorted(chosen, key=lambda m: -m.start()):
        word = data.draw(st.sampled_from(WORDS)).decode()
        text = text[: match.start(1)] + word + text[match.end(1) :]
    survives(text.encode(), name)


@given(st.binary(max_size=400), st.sampled_from([None, *SAMPLES]))
def test_noise(data: bytes, format: str | None) -> None:
    survives(data, format)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize(
    "text",
    [
        "<system>" + "<cpu>" * 100_000,
        "<topology>" + "<object>" * 100_000,
        "<system>" + "<cpu/>" * 1_000_000 + "</system>",
        '<system version="' + "9" * 50_000_000 + '"/>',
        "\tGPU0" * 100_000 + "\n",
        "GPU0 " + "X " * 1_000_000,
        " " * 1_000_000,
        "\n" * 1_000_000 + "x",
        "\x1b[" * 300_000,
        "\x1b]" * 300_000,
        "GPU0\n" * 300_000,
        "<!--" * 300_000,
        "<![CDATA[" * 100_000,
        "<system><cpu a='" + "&lt;" * 400_000 + "'/></system>",
        "<system " + " ".join(f"a{n}='1'" for n in range(100_000)) + "/>",
        "X" * 5_000_000,
        "0" * 5_000_000 + "\n",
    ],
    ids=range(17),
)
def test_monsters_are_refused(name: str, text: str) -> None:
    assert not survives(text.encode(), name)
    assert not survives(text.encode(), None)


def test_sniffing_never_claims_nothing() -> None:
    for importer in importers().values():
        assert importer.sniff("") == 0
        assert importer.sniff("hello") == 0

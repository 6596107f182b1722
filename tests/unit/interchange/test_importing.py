"""The door for foreign files: formats are recognised, damaged and hostile dumps refused, identifiers taken out."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import ExchangeError
from designer.interchange.importing import MAX_BYTES, decode, importers, read_any, read_bytes, strip_identifiers
from designer.interchange.native.writer import dumps

# The door for foreign files.

NCCL = '<system version="1"><cpu numaid="0" arch="x86_64"><pci busid="0000:11:00.0" class="0x030200"/></cpu></system>'


def test_every_importer_is_found_and_named_by_its_module() -> None:
    assert set(importers()) >= {"hwloc-xml", "nccl-xml", "nvidia-smi-topo", "ibnetdiscover", "slurm-topology"}


@pytest.mark.parametrize(
    "data",
    [
        NCCL.encode(),
        b"\xef\xbb\xbf" + NCCL.encode(),
        NCCL.encode("utf-16"),
        NCCL.encode("utf-16-le"),
        NCCL.encode("utf-16-be"),
        NCCL.encode("utf-32"),
        NCCL.replace("><", ">\r\n<").encode(),
        NCCL.replace("><", ">\r<").encode(),
        b"\n\n" + NCCL.encode(),
        b"```xml\n" + NCCL.encode() + b"\n```\n",
        ('<?xml version="1.0" encoding="UTF-16"?>' + NCCL).encode(),
    ],
)
def test_encodings_and_line_ends(data: bytes) -> None:
    design = read_any(data).design
    assert sum(p.kind == "gpu" for p in design.parts.values()) == 1


def test_encoding_that_is_not_the_declared_one() -> None:
    text = NCCL.replace("x86_64", "  Sch\u00e4ngha\u00ef  ")
    imported = read_any(text.encode("latin-1"))
    assert imported.design.parts["numa0"].attributes["arch"].strip() == "Sch\u00e4ngha\u00ef"
    assert "IMP-ENCODING" in {f.code for f in imported.findings}
    declared = ('<?xml version="1.0" encoding="ISO-8859-1"?>' + text).encode("latin-1")
    assert "IMP-ENCODING" not in {f.code for f in read_any(declared).findings}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n\t ", "empty"),
        (b"\xff\xfe", "empty"),
        (b"<system\0>", "binary"),
        (bytes(range(128, 256)) * 8 + b"\x01" * 20, "binary"),
        (b"\x1f\x8b\x08rest", "gzip"),
        (b"PK\x03\x04rest", "zip"),
        (b"\x89PNG\r\n", "picture"),
        (b"%PDF-1.7", "PDF"),
        (b"hello world", "not recognised"),
        (b'{"format": "designer-design"}', "a design of this program"),
        (b"<platform version='4.1'>", "SimGrid|well-formed|ends inside"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"npus_count: [ 8 ]", "ASTRA-sim"),
        (b"<graphs version='1'/>", "rings"),
        (b"SwitchName=s0 Nodes=n[3-0]", "backwards"),
        (b"<svg>", "SVG"),
        (b"manufacturer: X\nmodel: Y\n", "without ports"),
        (b"x" * (MAX_BYTES + 1), "more than 64"),
        (b"\n" * 70_000 + b"x", "not recognised"),
        (b"<cpu " * 20_000, "well-formed|recognised|fragment|ends inside"),
        (b"GPU0 " * 20_000, "recognised|header"),
    ],
    ids=range(22),
)
def test_refusals_say_what_it_is(data: bytes, reason: str) -> None:
    with pytest.raises(ExchangeError, match=reason):
        read_any(data)


def test_unknown_format_lists_the_known_ones() -> None:
    with pytest.raises(ExchangeError, match=r"hwloc-xml, .*nccl-xml"):
        read_any(NCCL.encode(), "visio")


def test_only_regular_files_of_bounded_size_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    huge = tmp_path / "huge.xml"
    with huge.open("wb") as file:
        file.truncate(3 * MAX_BYTES)
    for path, reason in (
        (tmp_path, "a folder"),
        (pipe, "device or pipe"),
        (huge, "more than 64"),
        (tmp_path / "none.xml", "cannot be read"),
        (Path("bad\0name"), "cannot be read"),
    ):
        with pytest.raises(ExchangeError, match=reason) as refusal:
            read_any(path)
        assert refusal.value.file == str(path)


def test_name_of_the_design_comes_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rack 7 \u202e\u00fc.topo.xml"
    path.write_text(NCCL, "utf-8")
    assert read_any(path).design.name == "rack 7 \u00fc.topo"
    assert read_any(NCCL.encode()).design.name == "<input>"


def test_bytes_of_a_stream_have_the_name_they_are_given() -> None:
    assert read_bytes(NCCL.encode(), None, "standard input").design.name == "standard input"
    with pytest.raises(ExchangeError, match="standard input: the file is empty"):
        read_bytes(b"", None, "standard input")


def test_decode_tells_the_byte_that_is_no_utf8() -> None:
    text, notes = decode(b"abc \xe4 def")
    assert text == "abc \u00e4 def"
    assert "byte 4" in notes[0].text


# Finding out what a file is takes no longer for a file made to be slow.

HEAD = 64 * 1024


MONSTERS = (
    "\n",
    " ",
    "\t\n",
    "a",
    "a: ",
    "1 ",
    '"',
    "<",
    "[1]",
    "- ",
    "==(",
    ":a",
    "topology:\n",
    "Nodes 1\n",
    "SwitchName",
    "graph {",
    "CA 1 1 0x",
    "manufacturer:\n",
    '"model" : ',
    "\\\n",
)


@pytest.mark.parametrize("name", sorted(importers()))
def test_sniffing_is_linear(name: str) -> None:
    sniff = importers()[name].sniff
    for piece in MONSTERS:
        head = (piece * HEAD)[:HEAD]
        begin = time.process_time()
        sniff(head)
        # a quadratic search of so much text takes 20 s and more
        assert time.process_time() - begin < 2.0, piece


# Damaged and hostile dumps: refused or read, never a crash, never long.

NCCL_DUMP = """<system version="1">
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


SAMPLES = {"nccl-xml": NCCL_DUMP, "hwloc-xml": HWLOC, "nvidia-smi-topo": MATRIX}


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


# Identifiers can be taken out of a design.

TEXT = """<system version="1"><cpu host_hash="0xabc0000000000001" numaid="0" arch="x86_64">
<pci busid="0000:12:00.0" class="0x020700" vendor="0x15b3" device="0x1021"><nic>
<net name="enx0011aabbccdd" dev="0" speed="400000" port="1" guid="0x02aa000000000001"/></nic></pci></cpu></system>"""


def test_identifiers_go_and_the_rest_stays() -> None:
    design = read_any(TEXT.encode()).design
    stripped = strip_identifiers(design)
    text = stripped.model_dump_json()
    for secret in ("0xabc0000000000001", "02aa000000000001", "0011aabbccdd"):
        assert secret in design.model_dump_json()
        assert secret not in text
    nic = stripped.parts["nic0"]
    assert nic.attributes["busid"] == "0000:12:00.0"
    assert nic.overrides == design.parts["nic0"].overrides
    assert stripped.links == design.links
    assert strip_identifiers(stripped) == stripped

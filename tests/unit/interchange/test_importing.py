"""The door for foreign files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from designer.errors import ExchangeError
from designer.interchange.importing import MAX_BYTES, decode, importers, read_any, read_bytes

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

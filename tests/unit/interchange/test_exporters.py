"""Designs written in other formats."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from designer import atomic
from designer.design.elaborate import elaborate
from designer.errors import ExchangeError, FormatError
from designer.interchange.exporting import ExportOptions, exporters, format_of, write_design
from designer.interchange.native.reader import load
from tests.designs import one_server, one_unit

pytestmark = pytest.mark.without_qt

_STARTS = {
    "svg": b"<svg ",
    "png": b"\x89PNG\r\n",
    "pdf": b"%PDF-",
    "graphml": b"<?xml ",
    "design": b"{",
}


def test_all_formats_are_found() -> None:
    assert set(exporters()) >= set(_STARTS)
    for name, exporter in exporters().items():
        assert exporter.name == name
        assert exporter.title
        assert format_of(f"x{exporter.suffix.upper()}") == name
    assert format_of("design.doc") is None


@pytest.mark.parametrize("name", sorted(_STARTS))
def test_every_format_writes_the_same_file_twice(name: str, tmp_path: Path) -> None:
    design = one_unit(servers=2)
    files = [tmp_path / f"{n}{exporters()[name].suffix}" for n in range(2)]
    for file in files:
        write_design(design, name if file is files[0] else None, file, ExportOptions(scale=0.5, theme="dark"))
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes().startswith(_STARTS[name])
    assert sorted(tmp_path.iterdir()) == files


def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ExchangeError, match="docx"):
        write_design(one_server(), "docx", tmp_path / "x.docx")
    with pytest.raises(ExchangeError) as refused:
        write_design(one_server(), None, tmp_path / "x")
    assert "svg" in refused.value.remedy


def test_graphml_holds_every_part_and_link(tmp_path: Path) -> None:
    design = one_unit(servers=2)
    write_design(design, "graphml", tmp_path / "x.graphml")
    graph = nx.read_graphml(tmp_path / "x.graphml", force_multigraph=True)
    net = elaborate(design)
    assert graph.number_of_nodes() == net.n_parts
    assert graph.number_of_edges() == net.n_links
    assert graph.nodes["servers[1]/gpu3"] == {"kind": "gpu", "parent": "servers[1]/server"}
    values = next(iter(graph.get_edge_data("servers[0]/nic2", "leaves[2]/switch").values()))
    assert values["bytes_per_second_per_direction"] == pytest.approx(50e9)
    assert values["count"] == 1


def test_the_native_format_reads_back(tmp_path: Path) -> None:
    design = one_unit(servers=2)
    write_design(design, "design", tmp_path / "x.design.json")
    assert load(tmp_path / "x.design.json").design == design


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x.svg"
    file.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(ExchangeError, match="No space left"):
        write_design(one_server(), "svg", file)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ExchangeError) as refused:
        write_design(one_server(), "svg", tmp_path / "nowhere" / "x.svg")
    assert "folder" in refused.value.remedy


@pytest.mark.parametrize(("name", "module"), [("png", "PIL.Image"), ("pdf", "reportlab.pdfgen.canvas")])
def test_a_missing_library_is_named(name: str, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(ExchangeError, match="need") as refused:
        write_design(one_server(), name, tmp_path / f"x.{name}")
    assert "pip install" in refused.value.remedy
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", sorted(_STARTS))
def test_a_missing_folder_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises((ExchangeError, FormatError), match=r"no folder .*missing.* make the folder first"):
        write_design(one_server(), name, tmp_path / "missing" / "x")
    assert not list(tmp_path.iterdir())

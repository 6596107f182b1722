"""draw.io diagrams back: whole as they were written, with what was changed in them, and by their shapes alone."""

from __future__ import annotations

import base64
import urllib.parse
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path

import pytest

from designer.design.document import Design
from designer.errors import ExchangeError
from designer.findings import Finding
from designer.interchange.exporting import write_design
from designer.interchange.importing import read_any, read_bytes
from designer.interchange.templates import open_design


def written(template: str, tmp_path: Path) -> ET.Element:
    write_design(open_design(template), "drawio", tmp_path / "x.drawio")
    return ET.parse(tmp_path / "x.drawio").getroot()


def back(root: ET.Element) -> tuple[Design, tuple[Finding, ...]]:
    imported = read_bytes(ET.tostring(root))
    return imported.design, tuple(imported.findings)


def find(root: ET.Element, path: str) -> ET.Element:
    return next(o for o in root.iter("object") if o.get("path") == path)


def drop(root: ET.Element, gone: ET.Element) -> None:
    cells = next(root.iter("root"))
    cells.remove(gone)


@pytest.mark.parametrize("template", ["hgx-h100-8", "su-h100-32", "cluster-98304", "vsphere-cluster-4"])
def test_what_was_written_comes_back_whole(template: str, tmp_path: Path) -> None:
    write_design(open_design(template), "drawio", tmp_path / "x.drawio")
    assert read_any(tmp_path / "x.drawio").design == open_design(template)


def test_changes_made_in_the_diagram_are_done(tmp_path: Path) -> None:
    root = written("hgx-h100-8", tmp_path)
    before = open_design("hgx-h100-8")
    gone, renamed, moved = find(root, "nic7"), find(root, "gpu3"), find(root, "gpu5")
    drop(root, gone)
    renamed.set("label", "<b>my &lt;GPU&gt;</b><br><font>H100</font>")
    moved[0][0].set("x", "-1000")
    moved[0][0].set("y", "2000")
    design, findings = back(root)
    assert design.parts.keys() == before.parts.keys() - {"nic7"}
    assert not any("nic7" in (link.a, link.b) for link in design.links.values())
    assert design.parts["gpu3"].name == "my <GPU>"
    place = design.parts["gpu5"].position
    assert place is not None
    assert (place.x, place.y) == (-1000, 2000)
    assert design.parts["gpu4"] == before.parts["gpu4"]
    assert any(f.code == "IMP-DRAWN" for f in findings)


def test_a_group_is_repeated_as_its_label_says(tmp_path: Path) -> None:
    """The label states how often: 32 servers become 16, half the GPUs."""
    root = written("su-h100-32", tmp_path)
    servers = next(o for o in root.iter("object") if o.get("replicas") == "32")
    servers.set("label", servers.get("label", "").replace("× 32", "× 16"))
    design, _ = back(root)
    assert design.groups["servers"].replicas == 16


def test_new_shapes_and_connections_are_drawn_or_refused_with_the_reason(tmp_path: Path) -> None:
    root = written("hgx-h100-8", tmp_path)
    cells = next(root.iter("root"))
    server = find(root, "gpu0")[0].get("parent", "")
    nic = ET.SubElement(cells, "object", {"id": "n1", "label": "new NIC", "kind": "nic"})
    ET.SubElement(ET.SubElement(nic, "mxCell", {"vertex": "1", "parent": server}), "mxGeometry", {"x": "8", "y": "8"})
    for number, (a, b, kind) in enumerate((("psw0", "n1", "pcie"), ("gpu0", "gpu1", "pcie"))):
        ends = {"source": find(root, a).get("id", ""), "target": "n1" if b == "n1" else find(root, b).get("id", "")}
        edge = ET.SubElement(cells, "object", {"id": f"e{number}", "label": "", "kind": kind})
        ET.SubElement(edge, "mxCell", {"edge": "1", "parent": "1", **ends})
    ET.SubElement(cells, "mxCell", {"id": "doodle", "value": "a note", "vertex": "1", "parent": "1"})
    design, findings = back(root)
    (new,) = [p for p in design.parts.values() if p.name == "new NIC"]
    assert any({link.a, link.b} == {"psw0", new.id} for link in design.links.values())
    (lost,) = [f for f in findings if f.code == "IMP-DRAWN-LOST"]
    assert "gpu0 to gpu1" in lost.text
    assert any(f.code == "IMP-KIND" and f.text.startswith("1 ") for f in findings)


def test_compressed_diagrams_are_opened(tmp_path: Path) -> None:
    root = written("dgx-a100", tmp_path)
    page = next(root.iter("diagram"))
    inner = urllib.parse.quote(ET.tostring(page[0], encoding="unicode"))
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    page.text = base64.b64encode(packer.compress(inner.encode()) + packer.flush()).decode()
    page.remove(page[0])
    assert back(root)[0] == open_design("dgx-a100")


def test_shapes_with_kinds_are_enough(tmp_path: Path) -> None:
    """Without the design the shapes state what they hold: 8 GPUs, and links with their number and rate."""
    root = written("hgx-h100-8", tmp_path)
    drop(root, next(o for o in root.iter("object") if o.get("id") == "designer"))
    design, _ = back(root)
    before = open_design("hgx-h100-8")
    kinds = [p.kind for p in design.parts.values()]
    assert kinds.count("gpu") == 8
    nvlinks = [li for li in design.links.values() if li.kind == "nvlink"]
    assert sum(li.count for li in nvlinks) == sum(li.count for li in before.links.values() if li.kind == "nvlink")
    assert {str(li.bandwidth_per_direction) for li in nvlinks} == {"25 GB/s"}


def bomb() -> str:
    return base64.b64encode(zlib.compress(b"0" * 400_000_000, 9)).decode()


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ('<mxCell id="2" value="a box" vertex="1" parent="1"/>', "no machine"),
        ('<object id="designer" document0="AAAA"><mxCell vertex="1"/></object>', "damaged"),
        ('<object id="designer" document0="eJyrrgUAAXUA+Q=="><mxCell vertex="1"/></object>', "another version"),
    ],
)
def test_pictures_and_damaged_files_are_refused(body: str, what: str) -> None:
    with pytest.raises(ExchangeError, match=what):
        read_bytes(f"<mxGraphModel><root>{body}</root></mxGraphModel>".encode())


def test_what_unpacks_to_too_much_is_refused() -> None:
    text = bomb()
    chunks = " ".join(f'document{k}="{text[at : at + 60_000]}"' for k, at in enumerate(range(0, len(text), 60_000)))
    body = f'<object id="designer" {chunks}><mxCell vertex="1"/></object>'
    with pytest.raises(ExchangeError, match="larger than any design"):
        read_bytes(f"<mxGraphModel><root>{body}</root></mxGraphModel>".encode())

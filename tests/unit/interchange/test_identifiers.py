"""Identifiers can be taken out of a design."""

from __future__ import annotations

from designer.interchange.identifiers import strip_identifiers
from designer.interchange.importing import read_any

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

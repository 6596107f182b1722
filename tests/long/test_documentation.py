"""The documentation builds without a warning, and its made pages hold what the program has."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed: pip install designer[docs]")
    root = Path(__file__).parents[2]
    folder = tmp_path_factory.mktemp("site")
    asked = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(asked, cwd=root, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def page(site: Path, name: str) -> str:
    return (site / name / "index.html").read_text("utf-8")


def test_made_pages_hold_what_the_program_has(site: Path) -> None:
    from designer.catalog.loader import load_catalog
    from designer.cli.main import commands
    from designer.rules.rule import rules

    cli = page(site, "reference/cli")
    assert [name for name in commands() if f'id="{name}"' not in cli] == []
    listed = page(site, "reference/rules")
    assert [code for code in rules() if code not in listed] == []
    assert all((site / "rules" / code / "index.html").exists() for code in rules())
    gpus = page(site, "reference/parts/gpu")
    assert [e.id for e in load_catalog().entries("gpu") if e.id not in gpus] == []


def test_links_between_pages_lead_somewhere(site: Path) -> None:
    for file in site.rglob("*.html"):
        if file.name == "404.html":
            continue
        for target in re.findall(r'href="(?!https?:|mailto:|#|data:|/)([^"#?]+)', file.read_text("utf-8")):
            place = (file.parent / target).resolve()
            assert place.exists(), (file, target)


def test_pages_ask_nobody_else(site: Path) -> None:
    """No fonts, scripts or pictures from other places: the pages can be read offline."""
    text = page(site, "tutorial")
    outside = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)"', text)
    assert outside == []


def test_the_gallery_has_pictures_answers_and_files(site: Path) -> None:
    text = page(site, "gallery")
    shown = re.findall(r'<img[^>]+src="([^"]+)"', text)
    assert len(shown) >= 20
    for picture in shown:
        assert (site / "gallery" / picture).resolve().read_text("utf-8").startswith("<svg"), picture
    files = set(re.findall(r'href="(\.\./designs/[^"]+)"', text))
    assert len(files) >= 18
    for file in files:
        assert "design" in json.loads((site / "gallery" / file).resolve().read_text("utf-8")), file
    assert "444 GB/s in all. PCIe from CPU to GPU limits it." in text


def test_every_page_of_concepts_and_how_tos_has_a_picture(site: Path) -> None:
    for folder in ("concepts", "how-to"):
        pages = sorted((site / folder).glob("*/index.html"))
        assert len(pages) >= 4
        assert [p for p in pages if "<img" not in p.read_text("utf-8") and "calibration" not in str(p)] == []


def test_every_public_function_has_its_signature(site: Path) -> None:
    import designer

    text = page(site, "reference/python")
    assert [name for name in designer.__all__ if f'id="{name}"' not in text and f">{name}<" not in text] == []
    assert text.count("doc-signature") >= len(designer.__all__)

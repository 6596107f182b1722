"""Hook of mkdocs: adds the pages and pictures that are made from the program to the written pages of docs/."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

import api  # noqa: E402
import gallery  # noqa: E402
import pictures  # noqa: E402
import reference  # noqa: E402


def on_files(files: Any, config: Any) -> Any:
    """Add made pages, the designs of the gallery, screenshots, and the drawings and charts that pages show."""
    from mkdocs.structure.files import File

    from designer.resources import assets

    made = {**reference.pages(), **gallery.pages(), **api.pages()}
    texts = [*made.values(), *(file.read_text("utf-8") for file in sorted((ROOT / "docs").rglob("*.md")))]
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    for name, content in {**gallery.downloads(), **pictures.shown_in(texts)}.items():
        files.append(File.generated(config, name, content=content))
    for picture in sorted(p for p in (assets() / "pictures").iterdir() if p.suffix in (".png", ".svg")):
        name = f"assets/pictures/{picture.name}"
        files.append(File.generated(config, name, abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A page of docs/ with its links to assets/ as the site has them."""
    depth = page.file.src_uri.count("/")
    return re.sub(r"\]\((?:\.\./)+assets/", f"]({'../' * depth}assets/", markdown)

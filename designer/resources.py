"""Where assets, templates and the documentation live: inside an installed wheel, or at the top of a source checkout."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from designer.errors import CatalogError


@lru_cache(maxsize=1024)
def _folder(name: str) -> Path:
    here = Path(__file__).resolve().parent
    for candidate in (here / f"_{name}", here.parent / name):
        if candidate.is_dir():
            return candidate
    raise CatalogError(f"the folder of {name} is missing from this installation", remedy="install designer again")


def assets() -> Path:
    """Folder of catalog, icons, fonts and palettes."""
    return _folder("assets")


def templates() -> Path:
    """Folder of template designs."""
    return _folder("templates")


def documentation() -> Path:
    """Folder with mkdocs.yml and what the pages of the documentation are built from."""
    here = Path(__file__).resolve().parent
    for candidate in (here / "_documentation", here.parent):
        if (candidate / "mkdocs.yml").is_file():
            return candidate
    raise CatalogError("the documentation is missing from this installation", remedy="install designer again")

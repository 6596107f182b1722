"""The documentation as pages that open without a network: built once for an installation by MkDocs."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from designer.errors import ReportError
from designer.resources import documentation

#: names of what the pages are built from, next to each other
_SOURCES: Final = ("mkdocs.yml", "README.md", "docs", "packaging/site")


def front_page() -> Path:
    """Path of the first page [file]; the pages are built if this version of them is not there yet (about 20 s).

    Raises
    ------
    ReportError
        If MkDocs is not installed, or if it fails.
    """
    folder = _cache() / f"documentation-{_version()}"
    page = folder / "index.html"
    if page.is_file():
        return page
    if missing := [name for name in ("mkdocs", "material", "mkdocstrings") if importlib.util.find_spec(name) is None]:
        raise ReportError(
            f"the pages are built by MkDocs, and {missing[0]} is not installed",
            remedy="pip install 'designer[docs]'",
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    # built next to its place and then renamed: two that build at once do not mix their pages
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".documentation-") as made:
        done = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--quiet", "--no-directory-urls", "--site-dir", f"{made}/pages"],
            cwd=documentation(),
            env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
            raise ReportError(f"MkDocs failed: {reason[0]}", remedy="run `mkdocs build` in a checkout to see why")
        try:
            Path(made, "pages").rename(folder)
        except OSError:
            if not page.is_file():
                raise
    return page


def _version() -> str:
    """Hash of names, sizes and times of the sources."""
    top = documentation()
    files = [
        f for name in _SOURCES for f in ([top / name] if (top / name).is_file() else sorted((top / name).rglob("*")))
    ]
    digest = hashlib.sha256()
    for file in files:
        if file.is_file() and "__pycache__" not in file.parts:
            state = file.stat()
            digest.update(f"{file.relative_to(top)} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(home) if Path(home).is_absolute() else Path.home() / ".cache") / "designer"

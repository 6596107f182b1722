"""The repository speaks of the product alone, and the formatter lays out every line."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

# The repository speaks of the product alone: no builder's folders, no package index, no password.

#: what must not be written → why. Spelled in two pieces here, so that this file passes its own test.
FORBIDDEN = {
    r"(?<![\w.])/" + r"work/": "a folder of one machine",
    r"/tmp/" + r"bash_jobs": "a folder of one machine",
    r"(?<![\w.])/" + r"(?:home|Users)/(?!user\b|you\b)\w+/": "somebody's home folder",
    r"--(?:extra-)?index"
    + r"-url|--find"
    + r"-links|--trusted"
    + r"-host": "the package index is the machine's choice",
    r"(?:PIP|UV)_(?:\w+_)?INDEX" + r"(?:_URL)?\s*=": "the package index is the machine's choice",
    r"(?i)https?://[^/\s]*(?:pypi|npm|registry|artifactory|nexus|mirror)" + r"[^/\s]*\.": "a package index",
    r"(?i)\bpypi" + r"\.\w|python" + r"hosted\.org": "a package index",
    r"https?://[^/\s:@]+:[^/\s@]+" + r"@": "a password in an address",
}


TEXT = {".py", ".toml", ".md", ".json", ".yml", ".yaml", ".sh", ".cfg", ".txt", ".spec", ".desktop", ".svg", ".xml", ""}


def offences(text: str) -> list[tuple[int, str]]:
    """Line number and reason of each forbidden spelling in a text."""
    return sorted(
        (text.count("\n", 0, match.start()) + 1, f"{match[0]!r}: {why}")
        for pattern, why in FORBIDDEN.items()
        for match in re.finditer(pattern, text)
    )


def tracked_files(checkout: Path) -> list[Path]:
    """Text files that are or would be committed; without git, all that no dot-folder hides."""
    done = subprocess.run(
        ["git", "-C", str(checkout), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if done.returncode == 0:
        paths = [checkout / name.decode() for name in done.stdout.split(b"\0") if name]
    else:
        everything = (path.relative_to(checkout) for path in checkout.rglob("*"))
        paths = [checkout / path for path in everything if not any(p[0] == "." or p == "build" for p in path.parts)]
    return [path for path in paths if path.suffix in TEXT and path.is_file()]


def test_the_repository_speaks_of_the_product_alone(checkout: Path) -> None:
    files = tracked_files(checkout)
    assert files
    found = [
        f"{path.relative_to(checkout)}:{line}: {what}"
        for path in files
        for line, what in offences(path.read_text("utf-8", errors="replace"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "cd /" + "work/main",
        "see /tmp/" + "bash_jobs.0/3",
        "open('/home/" + "alex/x.json')",
        "pip install --index" + "-url x",
        "export PIP_INDEX" + "_URL=x",
        "https://pypi" + ".example.org/simple",
        "https://artifactory" + ".corp.example/api/pypi",
        "pypi" + ".example.org",
        "https://me:secret" + "@example.org/x",
    ],
)
def test_an_offence_is_seen(text: str) -> None:
    assert len(offences(text)) >= 1


@pytest.mark.parametrize(
    "text",
    [
        "../shared/real",
        "docs/framework/x",
        "registry.discover('designer.rules', 'RULE')",
        "from designer.registry import discover",
        "https://www.kernel.org/doc/html/latest/",
        "/proc/net/work",
        "a@b.example: x",
    ],
)
def test_ordinary_text_passes(text: str) -> None:
    assert offences(text) == []


# The formatter lays out every line: nothing asks to be left as it is.

ROOT = Path(__file__).resolve().parents[2]


LEFT_ALONE = re.compile(r"#\s*(fmt|yapf):\s*(skip|off)")


def test_no_line_asks_the_formatter_to_leave_it() -> None:
    files = [f for part in ("designer", "tests", "packaging") for f in (ROOT / part).rglob("*.py")]
    found = [str(f.relative_to(ROOT)) for f in files if LEFT_ALONE.search(f.read_text(encoding="utf-8"))]
    assert found == []

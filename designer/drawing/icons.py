"""Icons as outlines in one colour: of part kinds from ``assets/icons/<kind>.toml``, of the window from one file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from designer.resources import assets

#: icons are drawn on a square of this extent
EXTENT: Final = 24.0
#: width of the lines of parts on it
LINE: Final = 1.5
_ROUND: Final = 0.5523  # control distance of a quarter circle drawn as a Bézier curve
Command = tuple[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Outline:
    """A path of M, L, C and Z commands in absolute coordinates."""

    commands: tuple[Command, ...]
    filled: bool


@lru_cache(maxsize=1024)
def glyph(kind: str) -> tuple[Outline, ...]:
    """The outlines of a kind's icon; kinds without one look unknown."""
    file = _folder() / f"{kind}.toml"
    if not kind.isidentifier() or not file.is_file():
        file = _folder() / "unknown.toml"
    return _outlines(_read(file)["shapes"])


@cache
def window_icons() -> Mapping[str, tuple[Outline, ...]]:
    """The icons of the window by name."""
    return {name: _outlines(shapes) for name, shapes in _read(_folder() / "window.toml").items()}


def _folder() -> Path:
    return assets() / "icons"


def _read(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _outlines(shapes: Sequence[Mapping[str, Any]]) -> tuple[Outline, ...]:
    return tuple(Outline(_commands(shape), shape.get("filled", False)) for shape in shapes)


def _commands(shape: Mapping[str, Any]) -> tuple[Command, ...]:
    if "path" in shape:
        return tuple((name, tuple(map(float, places))) for name, *places in shape["path"])
    if "circle" in shape:
        x, y, r = shape["circle"]
        return rounded(x - r, y - r, 2 * r, 2 * r, r)
    return rounded(*shape["rect"])


def rounded(x: float, y: float, width: float, height: float, radius: float) -> tuple[Command, ...]:
    """The outline of a rectangle with rounded corners."""
    r = min(radius, width / 2, height / 2)
    right, bottom, k = x + width, y + height, r * (1 - _ROUND)
    if r <= 0:
        return (("M", (x, y)), ("L", (right, y)), ("L", (right, bottom)), ("L", (x, bottom)), ("Z", ()))
    return (
        ("M", (x + r, y)),
        ("L", (right - r, y)),
        ("C", (right - k, y, right, y + k, right, y + r)),
        ("L", (right, bottom - r)),
        ("C", (right, bottom - k, right - k, bottom, right - r, bottom)),
        ("L", (x + r, bottom)),
        ("C", (x + k, bottom, x, bottom - k, x, bottom - r)),
        ("L", (x, y + r)),
        ("C", (x, y + k, x + k, y, x + r, y)),
        ("Z", ()),
    )

"""The colours of reports by name, light and dark; print uses the light ones. Text on paper keeps 4.5 : 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from designer.report.drawing.elements import Area, Element, Glyph, Label, Panel, Picture, Stroke

INKS: Final[Mapping[str, tuple[str, str]]] = {
    "paper": ("#ffffff", "#171c24"),
    "desk": ("#f1f3f6", "#11151b"),
    "tint": ("#f4f6f9", "#1f2630"),
    "ink": ("#1c2430", "#e6eaf0"),
    "muted": ("#566273", "#a5b0bf"),
    "rule": ("#cfd6df", "#3c4655"),
    "hair": ("#e3e8ee", "#2b3340"),
    "data": ("#2c6e91", "#69b3d6"),
    "band": ("#bcd5e1", "#2d5468"),
    "data2": ("#3a7d72", "#79c2b4"),
    "band2": ("#bfdcd6", "#2f534d"),
    "quiet": ("#a9b4c1", "#6d7a8b"),
    "quiet2": ("#d5dce4", "#3a4453"),
    "alarm": ("#c62f1d", "#ff7d69"),
    "alarm-tint": ("#fbe9e5", "#3b2220"),
    "ok": ("#20704f", "#6cc79e"),
    "warn": ("#8f5600", "#eab454"),
    "assumed": ("#80620f", "#dcc06c"),
    "assumed-tint": ("#fdf5dc", "#332d1b"),
    "on": ("#ffffff", "#14181f"),
    "link": ("#1d5c80", "#86c4e2"),
}


def recoloured(picture: Picture, colour: Callable[[str], str]) -> Picture:
    """The picture with every colour replaced; no colour stays none."""

    def ink(name: str) -> str:
        return colour(name) if name else ""

    def changed(element: Element) -> Element:
        if isinstance(element, Panel):
            return replace(element, fill=ink(element.fill), stroke=ink(element.stroke))
        if isinstance(element, Area):
            return replace(element, fill=ink(element.fill))
        assert isinstance(element, Stroke | Label | Glyph)
        return replace(element, colour=ink(element.colour))

    return replace(picture, elements=tuple(map(changed, picture.elements)), background=ink(picture.background))


def colours_of(element: Element) -> tuple[str, ...]:
    """The colours of an element, in a fixed order; an empty one where it has none."""
    if isinstance(element, Panel):
        return element.fill, element.stroke
    return (element.fill,) if isinstance(element, Area) else (element.colour,)

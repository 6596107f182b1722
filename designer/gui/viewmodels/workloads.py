"""Workloads as forms, built from the settings their kinds declare."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from designer.design.document import Design, WorkloadSpec
from designer.design.ids import next_id
from designer.errors import UnitError
from designer.gui.viewmodels.forms import Entry, means_zero
from designer.units import DIMENSIONS, parse
from designer.workload.kind import Setting, workload_kinds

_MEANS: Final = re.compile(r"0(?: \S+)? for (.+)")
_EMPTY: Final = re.compile(r"(?:.*; )?empty for (.+)")
_ZERO: Final = {"size": "0 B", "rate": "0 B/s", "duration": "0 s", "frequency": "0 1/s"}


def kinds() -> tuple[tuple[str, str, str], ...]:
    """Name, title and help of every kind of workload, by title."""
    ordered = sorted(workload_kinds().values(), key=lambda k: k.title.casefold())
    return tuple((k.name, k.title, k.help) for k in ordered)


def entries(kind_name: str, settings: Mapping[str, JsonValue]) -> tuple[Entry, ...]:
    """The lines of the form of a kind, filled with settings; empty for an unknown kind."""
    kind = workload_kinds().get(kind_name)
    return tuple(_entry(s, settings.get(s.name)) for s in kind.settings) if kind else ()


def _entry(setting: Setting, value: JsonValue) -> Entry:
    now = setting.default if value is None else value
    spelled = ("yes" if now else "no") if isinstance(now, bool) else ("" if now is None else str(now))
    if setting.dimension == "frequency":
        # as people write it: 1/s, and not 1 1/s
        spelled = spelled.replace(" 1/s", "/s")
    word = word_for_zero(setting)
    if word and _is_nothing(setting, now):
        spelled = word
    empty = _EMPTY.fullmatch(setting.help)
    choices = tuple((c, c or (empty[1] if empty is not None else "")) for c in setting.choices)
    dimension = "text" if setting.dimension == "selector" else setting.dimension
    return Entry(
        setting.name,
        setting.title,
        spelled,
        spelled,
        dimension,
        choices,
        note=setting.help,
        overridden=value is not None and value != setting.default,
        required=setting.default is None,
        zero=word,
    )


def word_for_zero(setting: Setting) -> str:
    """What zero represents, from the help of a setting: ``0 B/s for none``; empty where zero is a number."""
    found = _MEANS.fullmatch(setting.help.rpartition(";")[2].strip())
    return found[1] if found is not None and setting.dimension != "flag" else ""


def _is_nothing(setting: Setting, value: JsonValue) -> bool:
    """True if a value is zero."""
    if isinstance(value, int | float):
        return value == 0
    if setting.dimension not in DIMENSIONS or not isinstance(value, str):
        return value == "0"
    try:
        return parse(value, setting.dimension) == 0
    except UnitError:
        return False


def typed(kind_name: str, texts: Mapping[str, str]) -> dict[str, JsonValue]:
    """Settings from the texts of a form; what equals the default is left out."""
    kind = workload_kinds()[kind_name]
    found: dict[str, JsonValue] = {}
    for setting in kind.settings:
        text = texts.get(setting.name, "").strip()
        if means_zero(text, word_for_zero(setting)):
            text = _nothing(setting)
        if setting.default is not None and (not text or (setting.dimension in DIMENSIONS and _is_same(setting, text))):
            continue
        value: JsonValue = text
        if setting.dimension == "flag":
            value = text == "yes"
        elif setting.dimension == "count" or (
            setting.dimension not in DIMENSIONS and isinstance(setting.default, int) and text.isdigit()
        ):
            value = int(text) if text.isdigit() else text
        if value != setting.default:
            found[setting.name] = value
    return found


def _is_same(setting: Setting, text: str) -> bool:
    """True if a text is the default of a setting, however it is spelled."""
    try:
        return parse(text, setting.dimension) == parse(setting.default, setting.dimension)
    except UnitError:
        return text == str(setting.default)


def _nothing(setting: Setting) -> str:
    """Zero as the setting's default spells it, or plainly."""
    return str(setting.default) if _is_nothing(setting, setting.default) else _ZERO.get(setting.dimension, "0")


def new_workload(design: Design, kind_name: str, title: str, settings: Mapping[str, JsonValue]) -> WorkloadSpec:
    """A workload with a free id made from its kind."""
    wish = kind_name.replace("_", "-")
    return WorkloadSpec(id=next_id(design.workloads, wish), kind=kind_name, title=title.strip(), settings=settings)


def choices(design: Design) -> tuple[tuple[str, str], ...]:
    """Id and title of every workload of a design, for the chooser."""
    titles = {k.name: k.title for k in workload_kinds().values()}
    return tuple((w.id, w.title or titles.get(w.kind, w.kind)) for w in design.workloads.values())

"""What one can search for: commands, workloads, things of the design, templates, and parts that fit somewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtGui import QAction, QIcon, QKeySequence

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import part_kinds
from designer.design.address import Ref
from designer.gui import icons
from designer.gui.actions._action import menus
from designer.gui.dialogs.command_palette import PaletteEntry, command_words
from designer.gui.theme import Theme
from designer.gui.viewmodels.palette import kind_words, part_words
from designer.gui.viewmodels.ranking import template_words
from designer.gui.viewmodels.workloads import choices as workload_choices
from designer.interchange.templates import list_templates

if TYPE_CHECKING:
    from designer.gui.canvas.canvas import Canvas
    from designer.gui.canvas.tools._tool import QuickAdd
    from designer.gui.session import Picked, Session

FindIcon = Callable[[str], QIcon | None]
#: a list longer than this is no help; the outline finds the rest
_MOST: Final = 2000
#: what one puts next to servers, most usual first
_OUTSIDE: Final = ("switch", "storage", "server")


def everything(
    actions: Mapping[str, QAction],
    run: Callable[[str], object],
    session: Session | None,
    open_template: Callable[[str], object],
    theme: Theme,
    find_icon: FindIcon,
    go_to: Callable[[Picked], object] | None = None,
    insert: Callable[[str, str], object] | None = None,
) -> list[PaletteEntry]:
    """All one can search for from anywhere; `go_to` takes one to a thing of the design, `insert` puts a part in."""

    found: list[PaletteEntry] = []
    for menu in menus():
        for action in menu.actions:
            made = actions.get(action.id)
            if made is None:
                continue
            keys = made.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            icon = icons.icon(action.icon, theme.muted) if action.icon else None
            words = command_words(action.title, action.words, menu.title)
            run_it = partial(run, action.id)
            found.append(PaletteEntry(action.title, run_it, keys, menu.title, icon, made.isEnabled(), words))
    if session is not None:
        icon = icons.icon("workload", theme.muted)
        found += [
            PaletteEntry(title, partial(session.set_workload, key), "", "Workload", icon)
            for key, title in workload_choices(session.design)
        ]
        found += _things(session, find_icon, go_to or _revealer(session))
    icon = icons.icon("template", theme.muted)
    found += [
        PaletteEntry(t.title, partial(open_template, t.id), "", "Template", icon, words=template_words(t))
        for t in list_templates()
    ]
    return found + (_parts(insert, find_icon) if insert is not None else [])


def _parts(insert: Callable[[str, str], object], find_icon: FindIcon) -> list[PaletteEntry]:
    catalog = load_catalog()
    words, kinds, drawn = part_words(catalog), part_kinds(), dict[str, QIcon | None]()
    found: list[PaletteEntry] = []
    for entry in catalog.entries():
        kind = kinds.get(entry.kind)
        if entry.kind not in drawn:
            drawn[entry.kind] = find_icon(entry.kind)
        run = partial(insert, "part", entry.id)
        group = f"Insert {kind.title}" if kind is not None else "Insert"
        found.append(PaletteEntry(entry.title, run, "", group, drawn[entry.kind], words=words[entry.id]))
    return found


def _revealer(session: Session) -> Callable[[Picked], object]:
    return lambda picked: session.reveal([picked])


def _things(session: Session, find_icon: FindIcon, go_to: Callable[[Picked], object]) -> list[PaletteEntry]:
    def choice(title: str, what: str, key: str, icon: str) -> PaletteEntry:
        picked: Picked = ((), Ref(what, key))  # type: ignore[arg-type]
        return PaletteEntry(title, partial(go_to, picked), key, "In the design", find_icon(icon))

    design = session.design
    found = [choice(p.label, "parts", p.id, p.kind) for p in list(design.parts.values())[:_MOST]]
    return found + [choice(g.label, "groups", g.id, "group") for g in design.groups.values()]


def fitting_parts(canvas: Canvas, wanted: QuickAdd, find_icon: FindIcon) -> list[PaletteEntry]:
    """The parts that fit at a point of the canvas."""

    kinds, catalog = part_kinds(), load_catalog()
    words = part_words(catalog)
    found: list[PaletteEntry] = []
    for entry in sorted(catalog.entries(), key=lambda e: _liked(wanted, e.kind)):
        if not wanted.kinds or entry.kind in wanted.kinds:
            run = partial(canvas.add_part, entry.kind, entry.id, wanted)
            plural = kinds[entry.kind].plural if entry.kind in kinds else entry.kind
            found.append(PaletteEntry(entry.title, run, "", plural, find_icon(entry.kind), words=words[entry.id]))
    # a part of which nothing is known comes last
    for kind in [k for k in kinds.values() if not wanted.kinds or k.name in wanted.kinds]:
        run = partial(canvas.add_part, kind.name, "", wanted)
        title = f"{kind.title}, no type"
        found.append(PaletteEntry(title, run, "", kind.plural, find_icon(kind.name), words=kind_words(kind)))
    return found


def _liked(wanted: QuickAdd, kind: str) -> int:
    """Rank of the parts of a kind: next to all servers first what joins them, else the order of kinds."""
    if wanted.container is None and kind in _OUTSIDE:
        return _OUTSIDE.index(kind) - len(_OUTSIDE)
    return wanted.kinds.index(kind) if kind in wanted.kinds else len(wanted.kinds)

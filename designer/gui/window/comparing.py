"""What the shown document can be compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from designer.interchange.templates import list_templates, open_design

if TYPE_CHECKING:
    from designer.gui.documents import Document

#: what a design is compared with when others changed its file
ON_DISK: Final = "its file as it is now"


def others(shown: Document | None, documents: Sequence[Document]) -> list[tuple[str, Callable[[], Any]]]:
    """Names of designs, each with what gives it."""
    if shown is None:
        return []
    first = shown.session.history.steps[0].before if shown.session.history.steps else None
    found: list[tuple[str, Callable[[], Any]]] = []
    if shown.session.file is not None:
        found.append((ON_DISK, shown.on_disk))
    if first is not None:
        found.append(("itself as it was opened", lambda: first))
    found += [(d.session.title, partial(_design_of, d)) for d in documents if d is not shown]

    return found + [(f"template: {t.title}", partial(_template, t.id)) for t in list_templates()]


def _design_of(document: Document) -> Any:
    return document.session.design


@lru_cache(maxsize=4)
def _template(template_id: str) -> Any:
    """A template to compare with; kept, since each edit asks for it again."""

    return open_design(template_id)

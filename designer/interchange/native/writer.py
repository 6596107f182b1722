"""Writes designs: the same bytes on every machine, and never half a file."""

from __future__ import annotations

import json
from pathlib import Path

from designer.atomic import write
from designer.design.document import Design
from designer.errors import WriteError
from designer.interchange.native.envelope import FORMAT, VERSION, written_by
from designer.interchange.native.raw import shown


def dumps(design: Design) -> str:
    """The text of a design file: sorted keys, defaults left out, every quantity spelled."""
    content = design.model_dump(mode="json", exclude_defaults=True)
    envelope = {"format": FORMAT, "version": VERSION, "written_by": written_by(), "design": content}
    return json.dumps(envelope, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def save(design: Design, path: str | Path) -> tuple[str, ...]:
    """Write `design` to `path`, whole or not at all; says what one should know (see ``atomic.write``).

    Raises
    ------
    FormatError
        If the file cannot be written.
    """
    try:
        data = dumps(design).encode()
    except UnicodeEncodeError:
        raise WriteError(
            "it holds half a character (a lone surrogate)", file=shown(path), remedy="type the text with it again"
        ) from None
    return write(path, data)

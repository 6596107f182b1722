"""Streams to a terminal: characters that would command it are shown, not obeyed."""

from __future__ import annotations

from typing import Any, TextIO, cast

from designer.plain_text import harmless


class _Plain:
    """A text stream that replaces control characters in what is written to it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text; its length."""
        return self._stream.write(harmless(text))

    def write_coloured(self, text: str, code: str) -> None:
        """Write the text, control characters replaced, in a colour of the terminal."""
        self._stream.write(f"\x1b[{code}m{harmless(text)}\x1b[0m")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def write_coloured(stream: Any, text: str, code: str) -> None:
    """Write text in a colour, without it where the stream takes none.

    Parameters
    ----------
    code
        Parameters of the SGR sequence: ``1``, ``31``.
    """
    if code and isinstance(stream, _Plain):
        stream.write_coloured(text, code)
    else:
        stream.write(text)


def is_utf8(stream: Any) -> bool:
    """True if a stream takes every character."""
    return str(getattr(stream, "encoding", None) or "utf-8").lower().replace("_", "-") in ("utf-8", "utf8")


def plain(stream: TextIO) -> TextIO:
    """The stream, with control characters replaced on the way."""
    return cast("TextIO", _Plain(stream))

"""Text from files of others on a terminal: characters that would command the terminal are shown, not obeyed."""

from __future__ import annotations

from typing import Any, Final, TextIO, cast

#: control characters but tab, line feed and carriage return, which layout and progress need
_CONTROLS: Final = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), "�")


class _Plain:
    """A text stream that replaces control characters in what is written to it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text; its length."""
        return self._stream.write(text.translate(_CONTROLS))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def plain(stream: TextIO) -> TextIO:
    """The stream, with control characters replaced on the way."""
    return cast("TextIO", _Plain(stream))

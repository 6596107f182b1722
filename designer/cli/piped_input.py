"""Standard input for a server that reads lines of JSON: read by a thread of our own and handed on through a pipe.

Libraries read standard input in a thread that nothing can interrupt, and drop lines with half a character (a lone
surrogate, ``"\\ud800"``) without an answer. Here such characters become U+FFFD, and Ctrl-C ends the input.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

#: an escape that may be half a character
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_STDIN: Final = 0
#: exit code of a command that cannot go on
_STOPPED: Final = 2


@contextmanager
def piped_input() -> Generator[None]:
    """Let file descriptor 0 be the pipe while a server runs.

    Raises
    ------
    KeyboardInterrupt
        At the end, if Ctrl-C ended the input. A second Ctrl-C ends the process at once.
    """
    source = os.dup(_STDIN)
    out, into = os.pipe()
    os.dup2(out, _STDIN)
    os.close(out)
    interrupted = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        if interrupted.is_set():
            os._exit(_STOPPED)
        interrupted.set()
        _end(into)

    before = signal.signal(signal.SIGINT, stop)
    # a daemon: it waits for lines as long as the process lives
    threading.Thread(target=_hand_on, args=(source, into), name="designer-input", daemon=True).start()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted.is_set():
        raise KeyboardInterrupt


def _end(into: int) -> None:
    """End the pipe without freeing its number, which the thread may be about to use."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, into, inheritable=False)
    os.close(nowhere)


def _hand_on(source: int, into: int) -> None:
    with suppress(OSError), os.fdopen(source, "rb") as lines:
        for line in lines:
            data = memoryview(whole(line))
            while data:
                data = data[os.write(into, data) :]
    with suppress(OSError):
        _end(into)


def whole(line: bytes) -> bytes:
    """A line of JSON without half characters: each becomes U+FFFD; what is no JSON stays as it is.

    >>> whole(b'{"a": "\\\\ud800"}\\n').decode()
    '{"a": "\\ufffd"}\\n'
    >>> whole(b'{"a": "\\\\ud83d\\\\ude00"}')
    b'{"a": "\\\\ud83d\\\\ude00"}'
    """
    if _SURROGATE.search(line) is None:
        return line
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode() + b"\n"
    return line

"""One of several writers of one file: a window, or a script, that edits and saves at random.

Run by the trial of two writers. Each save is stated with what the file held before, as far as the writer knew; where
somebody was asked, that is what he was shown.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

from designer.design.document import Design
from designer.design.edits.properties import SetProperties
from designer.errors import FormatError
from designer.interchange.native.raw import MAX_FILE, digest_of, read_bytes
from designer.interchange.native.reader import load, loads
from designer.interchange.native.writer import Conflict, encoded, replace, save


class Teller:
    """Writes lines that are with the system before it goes on."""

    def __init__(self, log: str, who: str, writers: int) -> None:
        self._out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._log, self._writers = Path(log), writers
        self.who = who

    def ready(self) -> None:
        """Wait until everybody is there: nobody is to be through before the last one has begun."""
        self("ready")
        until = time.monotonic() + 120
        while self._log.read_bytes().count(b'"ready"') < self._writers and time.monotonic() < until:
            time.sleep(0.005)

    def __call__(self, what: str, **more: Any) -> None:
        os.write(self._out, json.dumps({"what": what, "who": self.who, **more}).encode() + b"\n")


def window(file: Path, tell: Teller, rng: random.Random, rounds: int) -> None:
    """A user at a window, who is asked and answers this way or that."""
    from designer.gui.app import make_application, make_window
    from designer.gui.documents import Document
    from designer.gui.files import Files

    def answer(_self: Files, _document: Document, _file: Path, conflict: Conflict) -> str:
        tell("asked", owner=conflict.owner is not None)
        return rng.choice(("keep", "keep", "reload", "cancel"))

    Files.ask_about = answer  # type: ignore[method-assign]
    Files.ask_to_save = lambda self, unsaved: "discard"  # type: ignore[method-assign]
    app = make_application()
    shown = make_window(app)
    shown.show()
    document = shown.workspace.open(file)
    assert document is not None
    original = Document.save

    def saving(self: Document, path: Path, asked: Conflict | None = None) -> tuple[str, ...]:
        before = asked.found if asked is not None else self.digest
        notes = original(self, path, asked)
        tell("saved", over=before, wrote=self.digest, asked=asked is not None)
        return notes

    Document.save = saving  # type: ignore[method-assign]
    tell.ready()
    for turn in range(rounds):
        document.session.apply(SetProperties({"title": f"{tell.who} {turn} {rng.random()}"}))
        app.processEvents()
        shown.files.save_document(document)
        time.sleep(rng.random() * 0.02)
        app.processEvents()
    shown.close()


def script(file: Path, tell: Teller, rng: random.Random, rounds: int) -> None:
    """A script that reads, changes and writes; when it is refused it reads again."""
    tell.ready()
    refused = 0
    for turn in range(rounds):
        data = read_bytes(file, MAX_FILE)
        design: Design = SetProperties({"title": f"{tell.who} {turn} {rng.random()}"}).apply(loads(data).design)
        time.sleep(rng.random() * 0.02)
        try:
            # it knows that the file is open in windows, and writes all the same
            written = replace(file, encoded(design, file), digest_of(data), ours=True)
        except Conflict:
            refused += 1
            continue
        tell("saved", over=digest_of(data), wrote=written.digest, asked=False)
    tell("refused", times=refused)


def plain_script(file: Path, tell: Teller, rng: random.Random, rounds: int) -> None:
    """A script that knows nothing of windows."""
    tell.ready()
    refused = 0
    for turn in range(rounds):
        before = digest_of(read_bytes(file, MAX_FILE))
        try:
            design = load(file).design
            save(SetProperties({"title": f"{tell.who} {turn} {rng.random()}"}).apply(design), file)
        except FormatError:
            refused += 1
        else:
            tell("saved", over=before, wrote=digest_of(read_bytes(file, MAX_FILE)), asked=False)
        time.sleep(rng.random() * 0.02)
    tell("refused", times=refused)


WRITERS = {"window": window, "script": script, "plain": plain_script}


def main(kind: str, who: str, file: str, log: str, rounds: str, writers: str) -> None:
    """Write so many rounds."""
    WRITERS[kind](Path(file), Teller(log, who, int(writers)), random.Random(who), int(rounds))


if __name__ == "__main__":
    main(*sys.argv[1:])

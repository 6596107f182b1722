"""A window with several designs that edits, saves, imports and closes at random until it is killed.

Run by the trial of kills. It writes a line before each thing it is about to do and one when that was accepted; each
line is with the system before it goes on. All windows come from one process that has loaded everything and has made
no window itself: two hundred programs that load everything would take an hour.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import random
import sys
from pathlib import Path
from typing import Any

import designer
from designer.catalog.loader import load_catalog
from designer.design.document import Design, Part
from designer.design.edit import Edit
from designer.design.edits.parts import AddParts, RemoveParts
from designer.design.edits.properties import SetProperties
from designer.gui.app import make_application, make_window
from designer.gui.documents import Document
from designer.gui.session import Session
from designer.interchange.native.raw import digest_of
from designer.interchange.native.writer import dumps
from tests.designs import one_server

DOCUMENTS = 4
TOPOLOGY = (
    "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-31\nGPU1\tNV12\t X \t0-31\n\n"
    "Legend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n"
)


def main(log: str, folder: str, seed: str) -> None:
    """Edit until killed."""
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    rng = random.Random(int(seed))
    count = 0

    def tell(what: str, about: Design | None = None, **more: Any) -> None:
        line = {"what": what, **more}
        if about is not None:
            line |= {"name": about.name, "digest": digest_of(dumps(about).encode())}
        os.write(out, json.dumps(line).encode() + b"\n")

    app = make_application()
    window = make_window(app)
    window.files.ask_to_save = lambda unsaved: "discard"  # type: ignore[method-assign]
    window.show()
    app.processEvents()
    workspace = window.workspace
    for leftover in workspace.leftovers():
        document = workspace.recover(leftover.journal)
        assert document is not None
        tell("unsaved", document.session.design)

    def add() -> None:
        nonlocal count
        count += 1
        if rng.random() < 0.3:
            document = workspace.import_bytes(TOPOLOGY.encode(), "clipboard")
            assert document is not None
            # what came in by an import is stated by its own name, which the next edit makes its own
            tell("imported", document.session.design)
            change(document, SetProperties({"name": f"i{seed}-{count}"}), ("was", document.session.design.name))
        else:
            tell(
                "opened", workspace.add(SetProperties({"name": f"d{seed}-{count}"}).apply(one_server())).session.design
            )

    def change(document: Document, edit: Edit, more: tuple[str, str] | None = None) -> None:
        after = edit.apply(document.session.design)
        extra = dict([more]) if more is not None else {}
        tell("changing", after, **extra)
        assert document.session.apply(edit)
        tell("changed", document.session.design, **extra)

    def turn() -> None:
        nonlocal count
        count += 1
        document = rng.choice(workspace.documents)
        session, dice = document.session, rng.random()
        if dice < 0.02 and len(workspace.documents) > 1:
            tell("closing", session.design)
            workspace.close(document)
            tell("closed", session.design)
        elif dice < 0.12:
            file = Path(folder) / f"{session.design.name}-{count % 2}.design.json"
            tell("saving", session.design, file=str(file))
            assert window.files.save_to(document, file)
            tell("saved", session.design, file=str(file))
        elif dice < 0.22 and session.history.can_undo and before(session).name == session.design.name:
            # a design keeps the name it is stated by
            tell("changing", before(session))
            session.undo()
            tell("changed", session.design)
        elif dice < 0.5:
            change(document, AddParts((Part(id=f"p{seed}-{count}", kind="switch"),)))
        elif dice < 0.6 and any(p.startswith("p") for p in session.design.parts):
            change(document, RemoveParts((next(p for p in session.design.parts if p.startswith("p")),)))
        else:
            change(document, SetProperties({"title": f"{seed} {count} " + "x" * rng.randrange(2000)}))

    while len(workspace.documents) < DOCUMENTS:
        add()
    tell("ready")
    while True:
        for _ in range(rng.randrange(1, 12)):
            turn()
        if len(workspace.documents) < DOCUMENTS:
            add()
        app.processEvents()


def before(session: Session) -> Design:
    """What undo would bring back."""
    return session.history.steps[session.history.done - 1].before


def serve() -> None:
    """For each line of standard input make a window, and say when it is gone."""
    for module in pkgutil.walk_packages(designer.__path__, "designer."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    load_catalog()
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        order = json.loads(line)
        process = os.fork()
        if not process:
            os.environ.update(order["environment"])
            with open(order["errors"], "wb") as errors:
                os.dup2(errors.fileno(), 2)
            main(order["log"], order["folder"], str(order["seed"]))
        sys.stdout.write(f"{process}\n")
        sys.stdout.flush()
        os.waitpid(process, 0)
        sys.stdout.write("gone\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()

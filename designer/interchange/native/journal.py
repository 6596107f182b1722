"""The journal beside a design that is being edited: after a crash it gives back all but at most the last edit.

The file is JSON lines. The first holds a whole design, each further one what changed since the line before, as
things to put in and ids to take out per collection and block. When the changes outgrow the design the file is
written anew, so it stays within a few times the size of the design. Nothing in it is executed when it is read.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from designer.atomic import write
from designer.design.address import BLOCK_COLLECTIONS, DESIGN_COLLECTIONS, Address, block_at, collection
from designer.design.diff import Diff, diff
from designer.design.document import Design
from designer.errors import FormatError
from designer.findings import Finding, Severity
from designer.interchange.native.envelope import FORMAT, VERSION, written_by
from designer.interchange.native.json_text import decode, parse
from designer.interchange.native.raw import read_bytes, shown
from designer.interchange.native.reader import read_raw

JOURNAL: Final = "designer-journal"
SUFFIX: Final = ".journal"
#: changes of at least so many bytes are collected before the file is written anew [B]
_COMPACT_FROM: Final = 1_000_000
_LARGEST: Final = 1_000_000_000


class Journal:
    """Keeps the journal of one window.

    Parameters
    ----------
    path
        The journal's own file; it appears with the first edit.
    file
        The design file being edited, if it has one; told at recovery.
    sync
        Whether every edit is forced to the disk, so that it also outlives a power failure.
    """

    def __init__(self, path: str | Path, file: str | None = None, sync: bool = True) -> None:
        self.path = Path(path)
        self.file = file
        self._sync = sync
        self._last: Design | None = None
        self._handle: BinaryIO | None = None
        self._start = self._size = 0

    def record(self, design: Design) -> None:
        """Note the current design: after an edit, undo or redo. Does nothing if it is the one noted last.

        Raises
        ------
        FormatError
            If the journal cannot be written; the next call begins it anew.
        """
        if design is self._last:
            return
        try:
            if self._handle is None or self._last is None or self._size > max(_COMPACT_FROM, 2 * self._start):
                self._begin(design)
            else:
                self._append(diff(self._last, design))
        except OSError as error:
            self.close()
            raise FormatError(
                f"the journal cannot be written: {error.strerror}",
                file=shown(self.path),
                remedy="save the design, and free some space",
            ) from None
        self._last = design

    def _begin(self, design: Design) -> None:
        self.close()
        head = {"format": JOURNAL, "version": VERSION, "written_by": written_by(), "file": self.file,
                "process": os.getpid(), "design": design.model_dump(mode="json", exclude_defaults=True)}  # fmt: skip
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write(self.path, _line(head).encode(), private=True)
        self._handle = self.path.open("ab")
        self._start, self._size = self.path.stat().st_size, 0

    def _append(self, changes: Diff) -> None:
        if not changes:
            return
        assert self._handle is not None
        data = _line(_patch(changes)).encode()
        self._handle.write(data)
        self._handle.flush()
        if self._sync:
            os.fsync(self._handle.fileno())
        self._size += len(data)

    def close(self) -> None:
        """Let go of the file and leave it where it is, for another run to recover."""
        self._last = None
        if self._handle is not None:
            handle, self._handle = self._handle, None
            try:
                handle.close()
            except OSError:
                return

    def discard(self) -> None:
        """Remove the journal: the design was saved, or its changes are not wanted. The next edit begins a new one."""
        self.close()
        self.path.unlink(missing_ok=True)


class Recovered(NamedTuple):
    """What a journal gave back: the design, the file it belongs to, how many edits, and what to know about it."""

    design: Design
    file: str | None
    edits: int
    findings: list[Finding]


def recover(path: str | Path) -> Recovered:
    """The last design noted in a journal; a last line that was not finished is left out.

    Raises
    ------
    FormatError
        If there is no journal, or its beginning is damaged.
    """
    path = Path(path)
    lines = read_bytes(path, _LARGEST).split(b"\n")
    try:
        head = parse(decode(lines[0]))
        if not isinstance(head, dict) or head.get("format") != JOURNAL:
            raise FormatError("this is no journal", place="line 1", remedy="choose a .journal file")
        raw, edits, findings = head.get("design"), 0, list[Finding]()
        if isinstance(raw, dict):
            for number, line in enumerate(lines[1:], start=2):
                if not line:
                    continue
                try:
                    _replay(raw, parse(decode(line)))
                except (FormatError, KeyError, TypeError, AttributeError, IndexError, ValueError):
                    findings.append(
                        Finding(
                            "JRN-TAIL", Severity.WARNING, f"the journal is damaged from line {number} on",
                            remedy="check the last changes",
                        )
                    )  # fmt: skip
                    break
                edits += 1
        loaded = read_raw({"format": FORMAT, "version": head.get("version"), "design": raw})
    except FormatError as error:
        raise error.at(file=shown(path)) from None
    file = head.get("file")
    return Recovered(loaded.design, file if isinstance(file, str) else None, edits, [*findings, *loaded.findings])


def left_behind(folder: str | Path) -> list[Path]:
    """The journals in a folder whose program is not running any more, newest first."""
    found: list[tuple[float, Path]] = []
    for path in Path(folder).glob(f"*{SUFFIX}"):
        try:
            with path.open("rb") as file:
                head = file.readline(_LARGEST)
            process = json.loads(head).get("process")
            if isinstance(process, int) and not is_running(process):
                found.append((path.stat().st_mtime, path))
        except (OSError, ValueError, AttributeError, RecursionError):
            continue
    return [path for _, path in sorted(found, reverse=True)]


def is_running(process: int) -> bool:
    """Whether a process of that number is alive."""
    if process <= 0:
        return False
    if sys.platform == "win32":
        import ctypes

        # asking by os.kill would end it there
        handle = ctypes.windll.kernel32.OpenProcess(0x1000, False, process)
        if handle:
            ctypes.windll.kernel32.CloseHandle(handle)
        return bool(handle)
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _line(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"


def _patch(changes: Diff) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = []
    for within, block in changes.blocks.items():
        if _is_put_whole(changes, within):
            continue
        after = block_at(changes.after, within)
        put: dict[str, Any] = {}
        take: dict[str, Any] = {}
        for what, these in block.collections.items():
            items = collection(after, what)
            if these.added or these.changed:
                put[what] = [
                    items[i].model_dump(mode="json", exclude_defaults=True) for i in (*these.added, *these.changed)
                ]
            if these.removed:
                take[what] = list(these.removed)
        blocks.append({"at": [list(step) for step in within], "put": put, "take": take})
    names = set(changes.properties)
    return {"blocks": blocks, "set": changes.after.model_dump(mode="json", include=names) if names else {}}


def _is_put_whole(changes: Diff, within: Address) -> bool:
    """Whether the block lies in a group that is written out itself."""
    return any(group_id in changes.at(within[:d], "groups").changed for d, (group_id, _) in enumerate(within))


def _replay(raw: dict[str, Any], patch: dict[str, Any]) -> None:
    """Make the changes of one line to a raw design; its collections become mappings by id on the way."""
    for change in patch["blocks"]:
        block = raw
        for group_id, member in change["at"]:
            group = _by_id(block, "groups")[group_id]
            block = group["content"] if member is None else group["exceptions"][str(member)]
        for what in (*BLOCK_COLLECTIONS, *DESIGN_COLLECTIONS):
            for item_id in change["take"].get(what, ()):
                del _by_id(block, what)[item_id]
            for item in change["put"].get(what, ()):
                _by_id(block, what)[item["id"]] = item
    raw.update(patch["set"])


def _by_id(block: dict[str, Any], what: str) -> dict[str, Any]:
    items = block.setdefault(what, {})
    if isinstance(items, list):
        items = block[what] = {item["id"]: item for item in items}
    return items

"""A search that goes on where it was stopped: what was worked out, a line each, in a file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final, cast

from designer import atomic
from designer.decisions.pareto import Settings, Worth
from designer.errors import FormatError
from designer.proposals.question import Question
from designer.sources import Estimate

_FORMAT: Final = "designer-proposals"


class Kept:
    """Finished results, one per line; a line cut off when the search was stopped is ignored."""

    def __init__(self, path: Path, question: Question) -> None:
        self._head = {"format": _FORMAT, "version": 2, "question": _digest(question)}
        self.known: dict[Settings, Worth] = {}
        if path.exists() and not path.is_file():
            # a pipe or device holds nothing to go on from
            raise FormatError("this is no plain file", file=str(path), remedy="choose another file for --keep")
        try:
            if path.exists():
                self._read(path.read_text("utf-8"), path)
            lines = [json.dumps(self._head, sort_keys=True)]
            lines += [_line(settings, worth) for settings, worth in self.known.items()]
            atomic.write(path, ("\n".join(lines) + "\n").encode())
            self._file = path.open("a", encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise FormatError(
                f"it cannot be kept there: {error}", file=str(path), remedy="choose another file"
            ) from None

    def _read(self, text: str, path: Path) -> None:
        lines = text.splitlines()
        if not lines:
            return
        try:
            head = json.loads(lines[0])
        except ValueError:
            head = None
        if not isinstance(head, dict) or cast("dict[str, Any]", head).get("format") != _FORMAT:
            raise FormatError("the file holds no search", file=str(path), remedy="choose another file for --keep")
        if head != self._head:
            raise FormatError(
                "the file holds the search for another goal, other prices or choices",
                file=str(path),
                remedy="choose another file for --keep, or ask as before",
            )
        for line in lines[1:]:
            try:
                settings, worth = _unlined(json.loads(line))
            except (ValueError, TypeError, KeyError):
                continue
            self.known[settings] = worth

    def add(self, settings: Settings, worth: Worth) -> None:
        """Put one in."""
        self._file.write(_line(settings, worth) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Nothing more comes."""
        self._file.close()


def _line(settings: Settings, worth: Worth) -> str:
    values = {k: [e.value, e.low, e.high, e.unit] for k, e in worth.values.items()}
    return json.dumps({"settings": list(settings), "values": values, "refused": worth.refused}, sort_keys=True)


def _unlined(line: dict[str, Any]) -> tuple[Settings, Worth]:
    values = {
        k: Estimate(float(v), float(low), float(high), str(unit)) for k, (v, low, high, unit) in line["values"].items()
    }
    return tuple(str(s) for s in line["settings"]), Worth(values, str(line["refused"]))


def _digest(question: Question) -> str:
    """Tells whether two searches ask about the same designs and measures; limits may differ."""
    wanted = question.wanted
    pieces = [
        wanted.goal.model_dump_json(),
        json.dumps({k: list(v) for k, v in wanted.given.items()}, sort_keys=True),
        json.dumps({k: [p.price, p.currency] for k, p in (wanted.prices or {}).items()}, sort_keys=True),
        json.dumps([wanted.rack_power, wanted.rack_height, wanted.unpriced, [m.name for m in question.measures]]),
        wanted.base.model_dump_json() if wanted.base is not None else "",
    ]
    return hashlib.sha256("\0".join(pieces).encode("utf-8", "surrogatepass")).hexdigest()[:16]

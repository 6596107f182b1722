"""Designs for a goal: a load within limits, a training in so many days, a host emptied in minutes.

Families draw designs out of templates, generated fabrics and parts of the catalog. Each is judged by the analysis, the
bill of materials at the reader's own prices, rated power and racks; what remains are those that no other beats.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from designer.analysis.study import run_workload
from designer.contrib.proposals.goal import Wanted
from designer.contrib.proposals.page import impossible
from designer.contrib.proposals.pareto import SPACE_LIMIT, Search, Settings, Worth
from designer.contrib.proposals.question import Question
from designer.contrib.proposals.results import Proposal, Proposals
from designer.decisions.answers import program_version
from designer.design.document import Design
from designer.engine.network import build_network
from designer.errors import FormatError
from designer.findings import Severity
from designer.progress import Cancel, Progress, Watch
from designer.report.tables.power import draws, total
from designer.rules.runner import check
from designer.shared_files import LineFile
from designer.sources import Estimate
from designer.workload.text_files import Contents


def propose(
    wanted: Wanted,
    *,
    keep: Path | None = None,
    progress: Progress | None = None,
    cancelled: Cancel | None = None,
) -> Proposals:
    """The best designs for a goal.

    Parameters
    ----------
    keep
        A file that takes each design as it is worked out; given again, the search goes on from there.

    Raises
    ------
    Cancelled
        If `cancelled` says so; what was worked out is in the file.
    DesignerError
        If the goal or a choice makes no sense, or the file holds something else.
    """
    question = Question(wanted)
    kept = Kept(keep, question) if keep is not None else None
    search = Search(
        question,
        question.limits,
        sure=wanted.sure,
        known=kept.known if kept is not None else None,
        stated=kept.add if kept is not None else None,
        watch=Watch(progress, cancelled),
    )
    if search.space > SPACE_LIMIT:
        raise FormatError(f"{search.space:,} designs", place="--choose", remedy=f"at most {SPACE_LIMIT:,}")
    found = search.run()
    nearest = search.nearest() if not found.front else ()
    why = impossible(question, search, found, nearest) if not found.front else ""
    best = tuple(_proposal(question, point.settings, point.worth) for point in found.front)
    return Proposals(wanted, question.measures, best, found, nearest, why, question.title)


def _proposal(question: Question, settings: Settings, worth: Worth) -> Proposal:
    design = question.design(settings)
    spec = next(iter(design.workloads.values()))
    result, _ = run_workload(build_network(design), spec, False)
    titled, title = question.titled(settings), design.title or design.name
    unrated = tuple(dict.fromkeys(total(draws(design, None))[2]))
    return Proposal(title, settings, titled, design, worth, result.binding, _errors(design), unrated)


def _errors(design: Design) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{f.code}: {f.text}" for f in check(design).findings if f.severity is Severity.ERROR))


# A search that goes on where it was stopped: what was worked out, a line each, in a file.

_FORMAT: Final = "designer-proposals"
#: files of searches larger than this are refused [B]
_LARGEST: Final = 2_000_000_000


class Kept:
    """Finished results, one per line; a line cut off when the search was stopped is ignored.

    Raises
    ------
    FormatError
        If the file holds something else, the search for another goal, or lines that were changed.
    """

    def __init__(self, path: Path, question: Question) -> None:
        self._path = path
        self._head = {"format": _FORMAT, "version": 3, "question": _digest(question)}
        self._file = LineFile(path, json.dumps(self._head, sort_keys=True))
        self.known: dict[Settings, Worth] = {}
        if path.exists() and not path.is_file():
            # a pipe or device holds nothing to go on from
            raise self._file_error("this is no plain file")
        self._read(self._file.read(_LARGEST))
        # a place that cannot be written is known before hours of work
        with self._file.turn():
            pass

    def _read(self, text: str) -> None:
        lines = text.splitlines()
        if not lines:
            return
        try:
            head = json.loads(lines[0])
        except ValueError:
            head = None
        if not isinstance(head, dict) or cast("dict[str, Any]", head).get("format") != _FORMAT:
            raise self._file_error("the file holds no search")
        if head != self._head:
            raise self._file_error(
                "the file holds the search for another goal, other prices or choices, or models that changed since"
            )
        for number, line in enumerate(lines[1:], start=2):
            try:
                settings, worth = _parse_line(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError):
                raise self._file_error("the line was changed by hand", f"line {number}") from None
            self.known[settings] = worth

    def _file_error(self, text: str, place: str | None = None) -> FormatError:
        return FormatError(text, file=str(self._path), place=place, remedy="choose another file for --keep")

    def add(self, settings: Settings, worth: Worth) -> None:
        """Append one; from then on no stop loses it.

        Raises
        ------
        WriteError
            If the system refuses.
        """
        self._file.append(_line(settings, worth))


def _line(settings: Settings, worth: Worth) -> str:
    values = {k: [e.value, e.low, e.high, e.unit] for k, e in worth.values.items()}
    content = {"settings": list(settings), "values": values, "refused": worth.refused}
    return json.dumps({**content, "checksum": _checksum(content)}, sort_keys=True)


def _parse_line(line: dict[str, Any]) -> tuple[Settings, Worth]:
    """The content of a line.

    Raises
    ------
    ValueError, TypeError, KeyError, AttributeError
        If it is not as it was written.
    """
    said = line.pop("checksum")
    if said != _checksum(line):
        raise ValueError("the checksum does not match")
    values = {
        k: Estimate(float(v), float(low), float(high), str(unit)) for k, (v, low, high, unit) in line["values"].items()
    }
    return tuple(str(s) for s in line["settings"]), Worth(values, str(line["refused"]))


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()[:16]


def _digest(question: Question) -> str:
    """States whether two searches ask about the same designs and measures; limits may differ."""
    wanted = question.wanted
    pieces = [
        wanted.goal.model_dump_json(),
        json.dumps({k: list(v) for k, v in wanted.given.items()}, sort_keys=True),
        json.dumps({k: [p.price, p.currency] for k, p in (wanted.prices or {}).items()}, sort_keys=True),
        json.dumps([wanted.rack_power, wanted.rack_height, wanted.unpriced, [m.name for m in question.measures]]),
        wanted.base.model_dump_json() if wanted.base is not None else "",
        Contents().digest(_values(wanted)),
        program_version(),
    ]
    return hashlib.sha256("\0".join(pieces).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _values(wanted: Wanted) -> Iterator[object]:
    """All values that may name a file: of the goal, its choices and the workloads of the design it begins with."""
    yield from wanted.goal.settings.values()
    for values in wanted.given.values():
        yield from values
    for spec in wanted.base.workloads.values() if wanted.base is not None else ():
        yield from spec.settings.values()

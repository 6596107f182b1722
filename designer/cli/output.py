"""Tables, JSON, findings and progress on a terminal."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from designer.cli.plain import is_utf8
from designer.findings import Finding, Severity
from designer.plain_text import DIRECTIONAL, shortened

#: what JSON may hold as it is, but a terminal must not get: control characters and marks of direction
_ESCAPED = re.compile(f"[{''.join(map(chr, (*range(127, 160), *DIRECTIONAL)))}]")


def print_json(document: Any) -> None:
    """One JSON document on stdout; numbers that JSON does not know become null."""
    text = as_json(document, ascii_only=not is_utf8(sys.stdout))
    print(_ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def as_json(document: Any, *, ascii_only: bool = False) -> str:
    """A document as JSON, indented by one blank for each level.

    Notes
    -----
    ``json`` indents in Python, a generator for each level: seconds for twenty thousand rows. Here what holds no
    further lists, and lists of such, are left to its compiled encoder. It separates items by a character that JSON
    never holds as it is, so only separators are turned into ends of lines.
    """
    encode = json.JSONEncoder(ensure_ascii=ascii_only, allow_nan=False, separators=(_BETWEEN, ": ")).encode

    def flat(value: Any) -> str:
        try:
            return encode(value)
        except ValueError:
            return encode(finite(value))

    def text(value: Any, depth: int) -> str:
        if not isinstance(value, dict | list | tuple) or not value:
            return flat(value)
        inner, outer = f"\n{' ' * (depth + 1)}", f"\n{' ' * depth}"
        if _is_flat(value):
            found = flat(value)
            return f"{found[0]}{inner}{found[1:-1].replace(_BETWEEN, f',{inner}')}{outer}{found[-1]}"
        if isinstance(value, dict):
            lines = [f"{encode(key)}: {text(item, depth + 1)}" for key, item in value.items()]
            return f"{{{inner}{f',{inner}'.join(lines)}{outer}}}"
        if (
            all(map(_is_flat, value))
            and len(kinds := {dict if isinstance(item, dict) else list for item in value}) == 1
        ):
            found, deep = flat(value), f"{inner} "
            start, end = "{}" if kinds == {dict} else "[]"
            between = f"{inner}{end},{inner}{start}{deep}"
            body = found[2:-2].replace(f"{end}{_BETWEEN}{start}", between).replace(_BETWEEN, f",{deep}")
            return f"[{inner}{start}{deep}{body}{inner}{end}{outer}]"
        return f"[{inner}{f',{inner}'.join([text(item, depth + 1) for item in value])}{outer}]"

    return text(document, 0)


#: in JSON it is always written as an escape
_BETWEEN: Final = "\0"
_SINGLE: Final = frozenset((str, int, float, bool, type(None)))


def _is_flat(value: Any) -> bool:
    """Whether it is a list or mapping that is not empty, of nothing but single values."""
    if not isinstance(value, dict | list | tuple) or not value:
        return False
    types = set(map(type, value.values() if isinstance(value, dict) else value))
    return types <= _SINGLE or not any(issubclass(each, dict | list | tuple) for each in types)


def finite(value: Any) -> Any:
    """A document in which numbers that JSON does not know are null."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def print_problem(text: str) -> None:
    """A message on stderr."""
    print_line(f"designer: {shortened(text)}", "  ", sys.stderr)


def print_written(output: str, notes: Sequence[str] = (), quiet: bool = False) -> None:
    """Say that a file was written, and what one should know of it; nothing goes into the output itself."""
    for note in notes:
        print_problem(f"note: {note}")
    if not quiet:
        print(f"wrote {output}", file=sys.stderr if _is_stdout(output) else sys.stdout)


def _is_stdout(output: str) -> bool:
    try:
        return os.path.samestat(os.stat(output), os.fstat(1)) and not sys.stdout.isatty()
    except (OSError, ValueError):
        return False


#: longer cells go on below themselves
_CELL_WIDTH: Final = 72
_LINE_WIDTH: Final = 116
#: in a narrow terminal columns of prose shrink to this first; then the widest of all do, and long words are broken
_PROSE_WIDTH: Final = 24
_LEAST_WIDTH: Final = 8
#: of what COLUMNS asks for less is no width of a page
_LEAST_PAGE: Final = 20


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Sequence[int] = (),
    margin: str = "",
    room: int | None = None,
) -> str:
    """Columns that line up, each line after a `margin`; `right` names columns aligned to the right.

    In a terminal (or COLUMNS) too narrow for them cells go on below themselves; columns that still do not fit follow
    in a table of their own, after the columns once more that distinguish the rows.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    room = room or page_width()
    kept = None if room is None else room - len(margin)
    fit = len(headings) if kept is None else _columns_that_fit(headings, cells, kept)
    if fit < len(headings):
        blocks: list[str] = []
        # what has no heading marks rows, and names none; as many columns as distinguish the rows, if another has room
        least = 1 if headings[0] else 2
        known = (k for k in range(least, fit) if len({tuple(row[:k]) for row in cells}) == len(cells))
        named = range(next(known, least))
        for chosen in (range(fit), (*named, *range(fit, len(headings)))):
            block = [[row[i] for i in chosen] for row in cells]
            aligned = [k for k, i in enumerate(chosen) if i in right]
            blocks.append(table([headings[i] for i in chosen], block, aligned, margin, room))
        return "\n\n".join(blocks)
    widths = _widths(headings, cells, kept)
    lines = [*_wrap_row(headings, widths), ["─" * width for width in widths]]
    lines += [line for row in cells for line in _wrap_row(row, widths)]
    text: list[str] = []
    for line in lines:
        padded = [c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True))]
        whole = "  ".join(padded).rstrip()
        text.append(margin + (whole if kept is None or len(whole) <= kept else whole[: kept - 1] + "…"))
    return "\n".join(text)


def _room(stream: Any) -> int | None:
    """Columns of the terminal a stream writes to, None where it is none: a file is not broken to a width."""
    return shutil.get_terminal_size((160, 40)).columns if stream.isatty() else None


def page_width() -> int | None:
    """Columns of tables and prose: of the terminal, or what COLUMNS asks for where the output is piped."""
    asked = os.environ.get("COLUMNS", "")
    wanted = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 5 else 0
    return _room(sys.stdout) or (wanted if wanted >= _LEAST_PAGE else None)


def _widths(headings: Sequence[str], rows: Sequence[Sequence[str]], room: int | None) -> list[int]:
    """Width of each column: of its longest line, less where there is no room for all."""
    columns = [[heading, *(row[i] for row in rows)] for i, heading in enumerate(headings)]
    widths = [max(len(line) for cell in column for line in _lines(cell, _CELL_WIDTH)) for column in columns]
    if room is None:
        return widths
    words = [max((len(word) for cell in column for word in cell.split()), default=0) for column in columns]
    prose, broken = [max(_PROSE_WIDTH, word) for word in words], [_LEAST_WIDTH] * len(words)
    for least in (prose, broken):
        floors = [max([floor, *map(len, heading.split())]) for heading, floor in zip(headings, least, strict=True)]
        while sum(widths) + 2 * (len(widths) - 1) > room:
            widest = max(range(len(widths)), key=lambda i: (widths[i] > floors[i], widths[i]))
            if widths[widest] <= floors[widest]:
                break
            widths[widest] -= 1
    return widths


def _columns_that_fit(headings: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> int:
    """How many columns from the left have room with cells of readable width; all where hardly any two would."""
    for count in range(len(headings), 1 if headings and headings[0] else 2, -1):
        widths = _widths(headings[:count], [row[:count] for row in rows], room)
        if sum(widths) + 2 * (count - 1) <= room:
            return count
    return len(headings)


def _lines(cell: str, width: int, *, broken: bool = False) -> list[str]:
    if len(cell) <= width and cell.isprintable():
        return [cell]
    return textwrap.wrap(cell, width, break_long_words=broken, break_on_hyphens=False) or [""]


def _wrap_row(row: Sequence[str], widths: Sequence[int]) -> list[list[str]]:
    """The row as lines: a cell too long for its column goes on below."""
    parts = [_lines(cell, width, broken=True) for cell, width in zip(row, widths, strict=True)]
    return [[part[k] if k < len(part) else "" for part in parts] for k in range(max(map(len, parts), default=1))]


def paragraph(opening: str, text: str, below: str | None = None) -> str:
    """Prose on lines of a readable width; `below` begins all but the first, or blanks as wide as the opening."""
    below = " " * len(opening) if below is None else below
    width = min(_LINE_WIDTH, page_width() or _LINE_WIDTH)
    return textwrap.fill(
        text,
        width,
        initial_indent=opening,
        subsequent_indent=below,
        break_on_hyphens=False,
        break_long_words=False,
    )


def finding_dict(finding: Finding) -> dict[str, Any]:
    """A finding as JSON."""
    return {
        "code": finding.code,
        "severity": str(finding.severity),
        "text": finding.text,
        "where": list(finding.where),
        "remedy": finding.remedy,
    }


def print_findings(findings: Sequence[Finding], stream: Any = None, named: Callable[[str], str] | None = None) -> None:
    """Findings for people, worst first; on stderr unless stated otherwise.

    Parameters
    ----------
    named
        Puts names in the place of paths in what is said; the places stay paths, for other commands.
    """
    out = stream or sys.stderr
    order = list(Severity)
    for finding in sorted(findings, key=lambda f: order.index(f.severity)):
        where = ""
        if finding.where:
            shown = ", ".join(shortened(place, 200) for place in finding.where[:4])
            where = f" [{shown}{f' and {len(finding.where) - 4} more' if len(finding.where) > 4 else ''}]"
        remedy = f" — {finding.remedy}" if finding.remedy else ""
        text = named(finding.text) if named is not None else finding.text
        print_line(f"{finding.severity}: {finding.code}: {shortened(text)}{where}{shortened(remedy)}", "  ", out)


def print_line(text: str, below: str = "", stream: Any = None) -> None:
    """A line of prose: in a terminal it goes on below after `below`, elsewhere it is one line, for other programs."""
    out = stream or sys.stdout
    clear_bar()
    if (room := page_width() if stream is None else _room(out)) and len(text) > room:
        text = textwrap.fill(text, room, subsequent_indent=below, break_on_hyphens=False, break_long_words=False)
    print(text, file=out)


#: a bar is shown for work that takes longer [s], and the time left from this share on [1]
_BAR_DELAY: Final = 0.7
_LEFT_FROM: Final = 0.05
#: length of the progress bar that is on the last line of a terminal
_bar_length = 0


def clear_bar() -> None:
    """Remove the progress bar if one is shown."""
    global _bar_length
    if _bar_length:
        sys.stderr.write("\r" + " " * _bar_length + "\r")
        sys.stderr.flush()
        _bar_length = 0


def progress_bar() -> Callable[[float, str], None]:
    """A progress bar on stderr where that is a terminal, nothing elsewhere; whatever is printed next takes its line."""
    if not sys.stderr.isatty():
        return lambda share, text: None
    begin = time.monotonic()

    def show(share: float, text: str) -> None:
        global _bar_length
        clear_bar()
        spent = time.monotonic() - begin
        # work of less than a second needs no bar
        if share >= 1 or spent < _BAR_DELAY:
            return
        left = f", about {round(spent * (1 - share) / share)} s left" if share > _LEFT_FROM else ""
        width = 30
        filled = round(share * width)
        bar = f"[{'█' * filled}{'·' * (width - filled)}] {share:4.0%} {text[:40]}{left}"
        bar = bar[: (_room(sys.stderr) or len(bar) + 1) - 1]
        sys.stderr.write(bar)
        sys.stderr.flush()
        _bar_length = len(bar)

    return show


def shown_file(name: str) -> str | None:
    """The file of a design as results name it; None for a template."""
    return name if Path(name).exists() else None

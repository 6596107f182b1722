"""Pages in a terminal: the answer first, at most thirty lines, then everything where it is asked for.

Into a pipe, which has no width, goes everything and no page, so that what reads it stays as it is; with ``COLUMNS`` set
a pipe gets what a terminal of that width would.
"""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from designer.cli.output import clear_bar, page_width, table
from designer.cli.plain import write_coloured
from designer.present.numbers import percent

if TYPE_CHECKING:
    import argparse

    from designer.present.blocks import Change, Figure, Limit, Page, Stack

#: lines of a page, and its width where nothing says one
_LINES: Final = 30
_WIDTH: Final = 100
_LEAST_WIDTH: Final = 40
#: from this width figures have a strip with band and target
_STRIPS: Final = 108
_STRIP: Final = 24
_BAR: Final = 26
_SHARES: Final = 5
_CODES: Final = {
    "good": "32",
    "warning": "33",
    "bad": "31",
    "bound": "31",
    "quiet": "2",
    "head": "1",
    "command": "34",
    "bar": "34",
    "": "",
}
#: states that the headline does not say
_CHIPPED: Final = ("MET", "MISSED")
#: a line: stretches of text with the names of their colours
Line = tuple[tuple[str, str], ...]


def add_page_options(parser: argparse.ArgumentParser) -> None:
    """``--all`` and ``--sources`` of commands that answer with a page."""
    parser.add_argument("--all", action="store_true", dest="everything", help="every figure, table and link")
    parser.add_argument("--sources", action="store_true", help="the sources the figures rest on")


def wants_all(options: argparse.Namespace) -> bool:
    """Whether everything is printed: as asked, and into pipes, which have no width."""
    return bool(options.everything) or page_width() is None


def print_page(page: Callable[[], Page], options: argparse.Namespace, rest: Callable[[], None]) -> None:
    """Print a page; behind it `rest`, which prints everything else, where that is wanted.

    Parameters
    ----------
    page
        Makes the page; not called where none is printed.
    options
        Arguments of the command, with those of :func:`add_page_options`.
    """
    everything = wants_all(options)
    if page_width() is not None or options.everything or options.sources:
        made = with_overrides(page(), options)
        _write(page_lines(made, everything=everything))
        if options.sources:
            _write(_sources(made))
        if everything:
            print()
    if everything:
        rest()


def with_overrides(page: Page, options: argparse.Namespace) -> Page:
    """The page with ``--set`` and ``--workload-file`` of its command repeated in the commands it proposes.

    Without them these would answer for the design as it is in its file. Values that a command sets or varies itself
    are left to it.
    """
    files = [word for file in getattr(options, "workload_files", ()) for word in ("--workload-file", file)]
    overrides = tuple(getattr(options, "overrides", ()))
    design = getattr(options, "design", None)
    if design is None or not (overrides or files):
        return page

    def repeated(command: tuple[str, ...]) -> tuple[str, ...]:
        if command[1:2] != (design,):
            return command
        own = {word.partition("=")[0] for word in command[2:]}
        kept = [word for text in overrides if text.partition("=")[0] not in own for word in ("--set", text)]
        return (*command[:2], *kept, *files, *command[2:])

    return replace(page, changes=tuple(replace(one, command=repeated(one.command)) for one in page.changes))


def page_lines(page: Page, width: int = 0, *, everything: bool = False) -> list[Line]:
    """The lines of a page: no more than thirty, unless that would cut off a figure."""
    room = max(_LEAST_WIDTH, width or page_width() or _WIDTH)
    lines = _lines(page, room, _Cut(rows=20), everything)
    for smaller in (
        _Cut(rows=16),
        _Cut(),
        _Cut(shares=3, rows=10),
        _Cut(shares=3, remarks=1, rows=8),
        _Cut(shares=3, remarks=1, limits=3, rows=6),
        _Cut(shares=2, remarks=1, limits=3, changes=3, rows=5),
        _Cut(shares=2, remarks=1, limits=2, changes=2, rows=4),
        _Cut(shares=2, remarks=1, limits=2, changes=1, rows=3),
        _Cut(shares=2, remarks=0, limits=2, changes=2, rows=3),
        _Cut(shares=2, remarks=0, limits=2, changes=1, rows=2),
        _Cut(shares=2, remarks=0, limits=1, changes=1, rows=1),
    ):
        if len(lines) <= _LINES:
            break
        lines = _lines(page, room, smaller, everything)
    return lines


def text_of(lines: Sequence[Line]) -> str:
    """Lines without colours."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


@dataclass(frozen=True)
class _Cut:
    """How much of each section is shown."""

    shares: int = _SHARES
    limits: int = 4
    changes: int = 4
    remarks: int = 3
    rows: int = 12


def _lines(page: Page, room: int, cut: _Cut, everything: bool) -> list[Line]:
    lines: list[Line] = [((line, "quiet"),) for line in textwrap.wrap(page.subject, room, break_on_hyphens=False)]
    head = "head" if page.valid else "bad"
    lines += [(), *(((f"  {line}", head),) for line in textwrap.wrap(page.headline, room - 2))]
    if page.state.name in _CHIPPED:
        lines.append(((f"  {page.chip_text}", str(page.state.tone)),))
    changes = _changes(page, room, cut)
    sections = [
        _rows(page, room, cut),
        _time_stacks(page, room, cut),
        _limits(page.limits[: cut.limits], room),
        changes,
    ]
    if not page.valid:
        # without a valid answer what to change comes before everything else
        sections = [changes, _time_stacks(page, room, cut)]
    rest = [line for section in sections if section for line in ((), *section)]
    foot: list[Line] = []
    for remark in page.remarks[: cut.remarks]:
        foot += [((line, "quiet"),) for line in textwrap.wrap(remark, room)]
    if page.more and not everything:
        foot.append(((f"{page.more}: add --all", "quiet"),))
    if foot:
        rest += [(), *foot]
    if page.summary:
        first = _summary(page, room, _LINES - len(lines) - len(rest) - 1)
    else:
        first = _figures(page.figures, room)
    return [*lines, *([(), *first] if first else []), *rest]


def _summary(page: Page, room: int, most: int) -> list[Line]:
    """Each thing with its sentence, on no more than `most` lines; how many are left out."""
    entries: list[list[Line]] = []
    for title, stated in page.summary:
        mine: list[Line] = [((line, "head"),) for line in textwrap.wrap(title, room - 2, initial_indent="  ")]
        mine += [((line, ""),) for line in textwrap.wrap(stated, room, initial_indent="    ", subsequent_indent="    ")]
        entries.append(mine)
    if sum(map(len, entries)) <= most:
        return [line for mine in entries for line in mine]
    lines: list[Line] = []
    for k, mine in enumerate(entries):
        if k and len(lines) + len(mine) >= most:
            return [*lines, ((f"  and {len(entries) - k} more", "quiet"),)]
        lines += mine
    return lines


def _rows(page: Page, room: int, cut: _Cut) -> list[Line]:
    """The first rows of the table that is the answer, and how many there are more."""
    if page.table is None or not page.table.rows:
        return []
    shown = page.table.rows[: cut.rows]
    right = [i for i, column in enumerate(page.table.columns) if column.number]
    text = table([c.title for c in page.table.columns], shown, right, margin="  ", room=room)
    lines: list[Line] = [((page.table.title, "head"),)] if page.table.title else []
    lines += [((line, ""),) for line in text.splitlines()]
    if len(page.table.rows) > len(shown):
        lines.append(((f"  and {len(page.table.rows) - len(shown):,} more", "quiet"),))
    return lines


def _figures(figures: Sequence[Figure], room: int) -> list[Line]:
    if not figures:
        return []
    widths = [max(len(part(f)) for f in figures) for part in (_title, _value, _unit, _band)]
    strips = room >= _STRIPS and any(f.low < f.high for f in figures)
    lines: list[Line] = []
    for f in figures:
        value = f"{f.value:>{widths[1]}} {f.unit:<{widths[2]}}" if widths[2] else f"{f.value:>{widths[1]}}"
        line: list[tuple[str, str]] = [(f"  {f.title:<{widths[0]}}  ", ""), (f"{value}  ", "")]
        line.append((f"{f.band:>{widths[3]}}  ", "quiet"))
        if strips:
            line.append((f"{_strip(f)}  ", "bar"))
        left = room - sum(len(text) for text, _ in line)
        note = f.target or f.note
        verdict = f"{': ' if note and not f.target else '  ' if note else ''}{f.verdict}" if f.verdict else ""
        if len(note) + len(verdict) <= left:
            line += [(note, ""), (verdict, str(f.tone))]
        elif verdict:
            line.append((f.verdict, str(f.tone)))
        lines.append(tuple(line))
    if any(f.band for f in figures):
        before = 2 + widths[0] + 2 + widths[1] + (1 + widths[2] if widths[2] else 0) + 2
        lines.append(((f"{' ' * before}{'80% band':>{max(widths[3], 8)}}", "quiet"),))
    return lines


def _title(figure: Figure) -> str:
    return figure.title


def _value(figure: Figure) -> str:
    return figure.value


def _unit(figure: Figure) -> str:
    return figure.unit


def _band(figure: Figure) -> str:
    return figure.band


def _strip(figure: Figure) -> str:
    """Band, value and target on a line: ``|  ==|===   ·  |``."""
    ends = [figure.low, figure.high, *([figure.bound] if figure.bound is not None else [])]
    low, high = min(ends), max(ends)
    if not low < high:
        return " " * (_STRIP + 2)
    # a band alone takes half of the line, so that it reads as a band
    margin = (0.08 if figure.bound is not None else 0.5) * (high - low)
    low, high = low - margin, high + margin

    def at(value: float) -> int:
        return min(_STRIP - 1, max(0, int((value - low) / (high - low) * _STRIP)))

    cells = [" "] * _STRIP
    for k in range(at(figure.low), at(figure.high) + 1):
        cells[k] = "="
    if figure.bound is not None:
        cells[at(figure.bound)] = "·"
    cells[at(figure.at)] = "|"
    return f"|{''.join(cells)}|"


def _time_stacks(page: Page, room: int, cut: _Cut) -> list[Line]:
    if not page.where:
        return []
    lines: list[Line] = [((page.where_title, "head"),)]
    if len(page.where) == 1:
        return lines + _bars(page.where[0], room, cut)
    titles, totals = max(len(s.title) for s in page.where), max(len(s.total) for s in page.where)
    for stack in page.where:
        shares = ", ".join(f"{s.title} {_percent(s.share)}" for s in stack.shares[: cut.shares])
        head = f"  {stack.title:<{titles}}  {stack.total:>{totals}}  "
        lines += [
            ((line, ""),)
            for line in textwrap.wrap(shares, room, initial_indent=head, subsequent_indent=" " * len(head))
        ]
    return lines


def _bars(stack: Stack, room: int, cut: _Cut) -> list[Line]:
    largest = sorted(stack.shares, key=lambda s: -s.share)[: cut.shares]
    shares = [s for s in stack.shares if s in largest]
    widths = [max(len(part) for part in parts) for parts in ([s.title for s in shares], [s.text for s in shares])]
    lines: list[Line] = []
    for s in shares:
        text = f"  {s.title:<{widths[0]}}  {s.text:>{widths[1]}} {_percent(s.share):>4}  "
        bar = "#" * round(min(1.0, s.share) * min(_BAR, max(0, room - len(text))))
        lines.append(((text, ""), (bar, "bound" if s.limits else "bar")))
    return lines


def _percent(share: float) -> str:
    return percent(share) if share >= 0.005 else "0%"


def _limits(limits: Sequence[Limit], room: int) -> list[Line]:
    if not limits:
        return []
    names = [f"{one.title}, {one.detail}" if one.detail else one.title for one in limits]
    first = max(len(one.when) for one in limits)
    gain = "twice as fast: " if any(one.gain for one in limits) else ""
    right = max((len(one.gain) for one in limits), default=0) + len(gain)
    most = room - 2 - first - 2 - 2 - right
    second = min(max(map(len, names)), max(20, most))
    lines: list[Line] = [(("What limits it", "head"),)]
    for one, name in zip(limits, names, strict=True):
        stated = f"{gain}{one.gain:>{right - len(gain)}}" if one.gain else ""
        parts = textwrap.wrap(name, second) or [""]
        colour = "bound" if one.now else ""
        lines.append(((f"  {one.when:<{first}}  {parts[0]:<{second}}  ", colour), (stated, "")))
        lines += [((f"  {' ' * first}    {part}", colour),) for part in parts[1:]]
    return lines


def _changes(page: Page, room: int, cut: _Cut) -> list[Line]:
    if not page.changes:
        return []
    lines: list[Line] = [((page.changes_title, "head"),)]
    for change in page.changes[: cut.changes]:
        lines += _change(change, room)
    return lines


def _change(change: Change, room: int) -> list[Line]:
    outcome = ", ".join(text for text in (change.detail, change.gain, change.price) if text)
    stated = f"{change.title}: {outcome}" if outcome else change.title
    if not change.command:
        return [((line, ""),) for line in textwrap.wrap(stated, room, initial_indent="  ", subsequent_indent="    ")]
    command = command_text(change.command)
    head = f"  {stated}:  "
    if len(head) + len(command) <= room:
        return [((head, ""), (command, "command"))]
    lines: list[Line] = [
        ((line, ""),) for line in textwrap.wrap(f"{stated}:", room, initial_indent="  ", subsequent_indent="    ")
    ]
    return [*lines, *(((line, "command"),) for line in wrapped_command(change.command, room, "    "))]


def command_text(arguments: Sequence[str]) -> str:
    """A command as it is typed."""
    return " ".join(["designer", *map(_quote, arguments)])


def _quote(word: str) -> str:
    # shlex takes single quotes; the documents of the program use double ones
    if shlex.quote(word) == word:
        return word
    return f'"{word}"' if not any(c in word for c in '"$`\\!') else shlex.quote(word)


def wrapped_command(arguments: Sequence[str], room: int, margin: str) -> list[str]:
    """A command on lines that a shell joins again; an option stays with its value."""
    words: list[str] = []
    for word in map(_quote, arguments):
        if words and words[-1].startswith("-") and " " not in words[-1]:
            words[-1] = f"{words[-1]} {word}"
        else:
            words.append(word)
    lines, line = list[str](), f"{margin}designer"
    for word in words:
        if len(line) + 1 + len(word) > room - 2 and line.strip():
            lines.append(f"{line} \\")
            line = f"{margin}  {word}"
        else:
            line = f"{line} {word}"
    return [*lines, line]


def _sources(page: Page) -> list[Line]:
    if not page.sources:
        return []
    room = page_width() or _WIDTH
    lines: list[Line] = [(), (("Sources", "head"),)]
    for one in page.sources:
        head = f"  {one.number:>2}  "
        lines += [
            ((line, ""),)
            for line in textwrap.wrap(
                one.text, max(_LEAST_WIDTH, room), initial_indent=head, subsequent_indent="      "
            )
        ]
    return lines


def _write(lines: Sequence[Line]) -> None:
    clear_bar()
    coloured = has_colour(sys.stdout)
    for line in lines:
        filled = [k for k, (text, _) in enumerate(line) if text.strip()]
        for k, (text, colour) in enumerate(line[: filled[-1] + 1] if filled else ()):
            text = text if k < filled[-1] else text.rstrip()
            write_coloured(sys.stdout, text, _CODES[colour] if coloured and text.strip() else "")
        print()


def has_colour(stream: Any) -> bool:
    """Whether colours are written: to a terminal, unless ``NO_COLOR`` is set or it is a dumb one."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    try:
        return os.isatty(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return False

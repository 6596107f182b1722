"""The page of a comparison of two designs, and of revisions of a design in git."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

from designer import atomic
from designer.decisions.comparing import Comparison, Moved, compare
from designer.design.document import Design, WorkloadSpec
from designer.design.naming import in_names
from designer.engine.account.worth import WORTH
from designer.errors import DesignerError, FormatError
from designer.interchange.templates import open_any
from designer.plain_text import counted, in_one_line
from designer.present import numbers
from designer.present.answer import figure_text
from designer.present.blocks import Change, Column, Page, State, Table, Tone
from designer.present.markdown import to_markdown
from designer.present.words import counted_by, metric_title, plain
from designer.workload.metrics import is_same, times_better

#: gains below this are none [1]
_SAME = 1.005


def page_of_comparison(found: Comparison, a: Design, b: Design, files: tuple[str, str] = ("A", "B")) -> Page:
    """The page of what differs from design `a` to design `b`."""
    names = (a.title or a.name, b.title or b.name)
    main = _main_figure(found)
    titles = {w: (a.workloads[w].title if w in a.workloads else "") or w for w in main}
    gains = {
        w: times_better(m.name, m.before, m.after, a.workloads[w].kind if w in a.workloads else "")
        for w, m in main.items()
    }
    up = sorted((w for w in gains if gains[w] > _SAME), key=lambda w: -gains[w])
    down = sorted((w for w in gains if gains[w] < 1 / _SAME), key=lambda w: gains[w])
    same = len(gains) - len(up) - len(down)
    pieces = [f"{titles[w]} gains {numbers.gain(gains[w]).removeprefix('+')}" for w in up[:1]]
    pieces += [f"{titles[w]} loses {numbers.percent(1 - gains[w])}" for w in down[:1]]
    if pieces:
        head = f"With the second, {' and '.join(pieces)}."
        rest = len(up[1:]) + len(down[1:])
        if rest:
            head += f" {numbers.counted(rest, 'more workload changes', 'more workloads change')}."
        if same:
            head += f" {numbers.counted(same, 'stays', 'stay')} the same."
    elif gains:
        head = f"Both do the same: {numbers.counted(len(gains), 'workload')} with equal figures."
    else:
        head = "The designs have no workload in common."
    moved = [m for m in found.metrics if not is_same(m.before, m.after)]
    ranked = [*up, *down]
    first = sorted(
        (m for m in moved if main.get(m.workload) is m and m.workload in ranked), key=lambda m: ranked.index(m.workload)
    )
    rows = tuple(
        _row(m, titles.get(m.workload, m.workload), a.workloads.get(m.workload))
        for m in (*first, *(m for m in moved if m not in first))
    )
    heads = (
        Column("Workload"),
        Column("Figure"),
        Column("First", True),
        Column("Second", True),
        Column("Change", True),
    )
    why = tuple(f"{titles.get(m.workload, m.workload)}: {plain(_in_names(m.why, a, b))}." for m in first if m.why)[:1]
    counted = [
        f"{kind} {x:,} → {y:,}" for counts in (found.parts, found.links) for kind, (x, y) in counts.items() if x != y
    ]
    parts = (f"Numbers of parts and links: {', '.join(counted[:4])}.",) if counted else ()
    new = sum(1 for _ in found.new)
    findings = (f"{numbers.counted(new, 'finding is', 'findings are')} new in the second.",) if new else ()
    return Page(
        f"{names[0]}, and {names[1]}" if names[0] != names[1] else f"{names[0]}, as it is and changed",
        State.ANSWERED,
        head,
        table=Table("", heads, rows) if rows else None,
        changes=tuple(
            Change(f"What limits the {word}", command=("analyze", file), tone=Tone.PLAIN)
            for word, file in zip(("first", "second"), files, strict=True)
            if file not in ("A", "B")
        ),
        remarks=(*why, *parts, *findings),
        more=f"All {numbers.counted(len(found.metrics), 'figure')}, reasons and changes",
    )


def _in_names(why: str, a: Design, b: Design) -> str:
    """A reason with what held each design back as that design names it."""
    before, to, after = why.partition(" to ")
    return f"{in_names(a, before)}{to}{in_names(b, after)}"


def _main_figure(found: Comparison) -> dict[str, Moved]:
    """The figure by which each workload is compared."""
    order = {name: at for at, name in enumerate(WORTH)}
    best: dict[str, Moved] = {}
    for m in found.metrics:
        if m.name in order and (m.workload not in best or order[m.name] < order[best[m.workload].name]):
            best[m.workload] = m
    return best


def _row(m: Moved, title: str, spec: WorkloadSpec | None) -> tuple[str, ...]:
    what = counted_by(m.name, spec)
    change = m.change
    text = "" if change is None else f"{'+' if change > 0 else '−'}{numbers.percent(abs(change))}"
    if change is not None and change > 1:
        text = numbers.gain(1 + change)
    return (
        title,
        metric_title(m.name),
        figure_text(m.name, m.before, m.unit, what),
        figure_text(m.name, m.after, m.unit, what),
        text,
    )


#: how git marks a file that is not there
NOTHING: Final = "/dev/null"
_PATTERN: Final = "*.design.json"
_ATTRIBUTES: Final = f"{_PATTERN} diff=designer"
_COMMAND: Final = "designer git-diff"
_PATIENCE: Final = 60.0


def difference(name: str, old: str, new: str) -> str:
    """What a change of a design does, as Markdown; files that are ``/dev/null`` do not exist.

    A design that cannot be read is said to be so, since a difference must be shown whatever its files hold.
    """
    title = f"### {in_one_line(name, 200)}\n\n"
    try:
        before, after = (None if path == NOTHING else open_any(path).design for path in (old, new))
        if before is None and after is None:
            return title + "The design exists in neither revision.\n"
        if before is None or after is None:
            return title + _single_revision(before or after, "new" if before is None else "removed")
        page = page_of_comparison(compare(before, after), before, after, (name, name))
        return title + to_markdown(page, details=True).replace("\n# ", "\n#### ").replace("# ", "#### ", 1)
    except DesignerError as error:
        return f"{title}It cannot be compared: {in_one_line(str(error))}\n"


def _single_revision(design: Design | None, what: str) -> str:
    assert design is not None
    parts = sum(len(block.parts) for block in (design, *(group.content for group in design.groups.values())))
    workloads = counted(len(design.workloads), "workload")
    return f"The design is {what}: {counted(parts, 'part')} drawn, {workloads}.\n"


def changed_since(revision: str, folder: Path) -> str:
    """What has happened to all designs of a repository since a revision, as Markdown.

    Raises
    ------
    FormatError
        If the folder is in no repository, or there is no such revision.
    """
    if revision.startswith("-"):
        raise FormatError(f"{revision!r} is no revision", place="--since", remedy="name a branch, a tag or a commit")
    top = Path(_git(folder, "rev-parse", "--show-toplevel").strip())
    listed = _git(top, "diff", "--name-only", "--no-renames", "-z", revision, "--", _PATTERN)
    names = [name for name in listed.split("\0") if name]
    found: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, name in enumerate(names):
            old, new = Path(scratch) / f"{number}.design.json", top / name
            there = _exists(top, revision, name)
            if there:
                atomic.write(old, _git(top, "show", f"{revision}:{name}").encode())
            found.append(difference(name, str(old) if there else NOTHING, str(new) if new.is_file() else NOTHING))
    return "\n".join(found) if found else "No design has changed.\n"


def install(folder: Path) -> tuple[Path, str]:
    """Let ``git diff`` show designs of a repository in this way: the attributes file, and the command in its settings.

    Raises
    ------
    FormatError
        If the folder is in no repository.
    """
    top = Path(_git(folder, "rev-parse", "--show-toplevel").strip())
    attributes = top / ".gitattributes"
    text = attributes.read_text("utf-8") if attributes.exists() else ""
    if _ATTRIBUTES not in text.splitlines():
        ended = text + ("" if not text or text.endswith("\n") else "\n")
        atomic.write(attributes, f"{ended}{_ATTRIBUTES}\n".encode())
    _git(top, "config", "diff.designer.command", _COMMAND)
    return attributes, _COMMAND


def _exists(top: Path, revision: str, name: str) -> bool:
    try:
        _git(top, "cat-file", "-e", f"{revision}:{name}")
    except FormatError:
        return False
    return True


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FormatError(f"git cannot be run: {error}", remedy="install git") from error
    if done.returncode:
        said = in_one_line(done.stderr) or f"git {arguments[0]} ended with {done.returncode}"
        raise FormatError(said, place=str(folder), remedy="run it in a git repository, with a revision it has")
    return done.stdout

"""Designs between revisions of a git repository: what each change does to its answers, as Markdown."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

from designer import atomic
from designer.decisions.comparing import compare
from designer.design.document import Design
from designer.errors import DesignerError, FormatError
from designer.interchange.templates import open_any
from designer.plain_text import counted, in_one_line
from designer.present.markdown import to_markdown
from designer.testing.page import page_of_comparison

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

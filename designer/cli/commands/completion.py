"""``designer completion``: a script with which a shell completes commands, options, templates and workloads."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from designer.cli.command import Command
from designer.cli.main import commands, parser_of
from designer.errors import DesignerError
from designer.interchange.templates import open_design, template_ids
from designer.workload.kind import workload_kinds

# What the last word of a command line may become: commands, options and their values, templates, workloads.


def candidates(words: Sequence[str]) -> list[str]:
    """What the last word may become, sorted; nothing where only a file name can follow.

    Parameters
    ----------
    words
        The words after ``designer``; the last one, perhaps empty, is completed.
    """
    *before, begun = words or [""]
    if not before:
        found = _that_begin([*commands(), "gui"], begun)
        return found if found else _that_begin(_templates(), begun)
    if before[0] not in commands():
        return []
    actions = _actions(parser_of(before[0]))
    if begun.startswith("-"):
        return _that_begin((name for action in actions for name in action.option_strings), begun)
    last = next((a for a in actions if before[-1] in a.option_strings and a.nargs != 0), None)
    if last is not None:
        return _that_begin(_values(last, before, actions), begun)
    given = _positionals(before[1:], actions)
    taking = [a for a in actions if not a.option_strings]
    if not taking:
        return []
    return _that_begin(_values(taking[min(len(given), len(taking) - 1)], before, actions), begun)


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return list(parser._actions)  # pyright: ignore[reportPrivateUsage]  # argparse lists them nowhere else


def _that_begin(names: Iterable[str], begun: str) -> list[str]:
    return sorted({name for name in names if name.casefold().startswith(begun.casefold())})


def _positionals(words: Sequence[str], actions: Sequence[argparse.Action]) -> list[str]:
    """The words that are neither options nor their values."""
    valued = {name for a in actions if a.nargs != 0 for name in a.option_strings}
    found: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in valued
        else:
            found.append(word)
    return found


def _values(action: argparse.Action, before: Sequence[str], actions: Sequence[argparse.Action]) -> list[str]:
    """What an argument may be."""
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    if action.dest == "workload":
        return _workloads(_positionals(before[1:], actions))
    if action.metavar == "DESIGN" or action.dest in ("template", "template_id"):
        return _templates()
    if action.metavar == "KIND":
        return list(workload_kinds())
    if action.metavar == "COMMAND":
        return list(commands())
    return []


def _templates() -> list[str]:
    return template_ids()


def _workloads(given: Sequence[str]) -> list[str]:
    """Ids of the workloads of the design among the words; nothing where it cannot be read."""

    for name in given:
        try:
            return list(open_design(Path(name) if Path(name).exists() else name).workloads)
        except (DesignerError, OSError, ValueError):
            continue
    return []


#: asks the program itself, as kubectl and gh do: a new command or template is completed without a new script
_BASH: Final = """\
_designer_complete() {
    local IFS=$'\\n'
    COMPREPLY=($(designer completion candidates -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _designer_complete designer
"""
_ZSH: Final = """\
#compdef designer
_designer_complete() {
    local -a found
    found=("${(@f)$(designer completion candidates -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    found=(${found:#})
    if (( ${#found} )); then compadd -- $found; else _files; fi
}
compdef _designer_complete designer
"""
_FISH: Final = """\
function __designer_complete
    set -l words (commandline -opc) (commandline -ct)
    designer completion candidates -- $words[2..-1] 2>/dev/null
end
complete -c designer -a '(__designer_complete)'
"""
SCRIPTS: Final = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
_CANDIDATES: Final = "candidates"

_MORE = (
    "bash: add to ~/.bashrc     source <(designer completion bash)\n"
    "zsh:  add to ~/.zshrc      source <(designer completion zsh)     (after compinit)\n"
    "fish: run once             designer completion fish > ~/.config/fish/completions/designer.fish\n"
    "The scripts call `designer completion candidates -- WORDS…` for what may follow.\n\n"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("shell", metavar="SHELL", choices=(*SCRIPTS, _CANDIDATES), help="bash, zsh or fish")
    parser.add_argument("words", nargs="*", metavar="WORD", help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    """Print a script, or what the last of some words may become."""
    if options.shell != _CANDIDATES:
        print(SCRIPTS[options.shell], end="")
        return 0

    for text in candidates(options.words):
        print(text)
    return 0


COMMAND = Command(
    "completion",
    "A script with which bash, zsh or fish completes commands, options, templates and workloads.",
    "designer completion bash",
    add_arguments,
    run,
    _MORE,
)

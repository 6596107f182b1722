"""``designer completion``: a script with which a shell completes commands, options, templates and workloads."""

from __future__ import annotations

import argparse
from typing import Final

from designer.cli.command import Command

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
    from designer.cli.completing import candidates

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

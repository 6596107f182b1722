"""The tools for designs over MCP on stdio, with the official Python package.

Standard input for a server that reads lines of JSON: read by a thread of our own and handed on through a pipe.

Libraries read standard input in a thread that nothing can interrupt, and drop lines with half a character (a lone
surrogate, ``"\\ud800"``) without an answer. Here such characters become U+FFFD, and Ctrl-C ends the input.
"""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts import Prompt
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import ValidationError

from designer.cli.confined import Folder
from designer.cli.decision_tools import DecisionTools
from designer.cli.design_tools import DesignTools
from designer.cli.output import finite
from designer.errors import DesignerError
from designer.interchange.native.envelope import written_by
from designer.memo import forget
from designer.plain_text import shortened
from designer.spelling import did_you_mean

#: so many objects stay known to each function: the catalog, and what designs read later share with this one
_KEPT: Final = 1
_INSTRUCTIONS = (
    "Designs of machines that train and serve AI models. Begin with list_designs and open_design, or import_machine "
    "for a pasted dump; analyze says what limits, explain why, suggest what to change, edit tries a change. Values "
    "are in SI units. Numbers have a band, low to high: compare bands, not values. Nothing is written unless dry_run "
    "is false."
)

#: the main questions: name, title, and what an assistant is asked
_QUESTIONS: Final = (
    (
        "bottleneck",
        "What limits a design",
        "Analyze the default workload of {design} with analyze and explain. State the answer with its band, what binds "
        "now and what next, and what a doubled part would gain.",
    ),
    (
        "improve",
        "What to change first",
        "Call suggest for {design}. State the three best changes with their gains, and try the first with edit.",
    ),
    (
        "failures",
        "What a failure costs",
        "Call survive for {design}. State which single failures stop or slow its workload most, and what would help.",
    ),
    (
        "acceptance",
        "Is the built machine as designed",
        "Call accept for {design}. List the tests with commands and limits; then ask for the outputs and judge them.",
    ),
    (
        "hand-over",
        "Order and report",
        "Call cabling and report for {design}. State what is ordered, what it draws, and what limits it.",
    ),
)


class _Server(MCPServer[Any]):
    """A server that refuses wrong arguments with one sentence: which one, what is wrong, what the tool takes."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises
        ------
        ToolError
            If it refuses, or there is no such tool or argument.
        """
        tools = {tool.name: list(tool.input_schema.get("properties", {})) for tool in await self.list_tools()}
        if name not in tools:
            raise ToolError(f"there is no tool {name[:60]!r} — {did_you_mean(name[:60], tools, _tool_list(tools))}")
        takes = tools[name]
        for given in arguments:
            if given not in takes:
                remedy = did_you_mean(given[:60], takes, f"it takes {', '.join(takes) or 'none'}")
                raise ToolError(f"{name} has no argument {given[:60]!r} — {remedy}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            first = error.__cause__.errors()[0]
            place = ".".join(str(step) for step in first["loc"])
            if first["type"] == "missing":
                raise ToolError(f"{name} needs {place!r} — it takes {', '.join(takes)}") from None
            raise ToolError(f"{name}: {place}: {first['msg'].lower()}, not {str(first['input'])[:60]!r}") from None


def _tool_list(tools: Iterable[str]) -> str:
    return f"the tools are {', '.join(tools)}"


def serve(folder: Folder, writes: bool) -> None:
    """Serve on stdin and stdout until the other end closes; from here on the process is confined to the folder.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C ended it.
    """
    server = _Server("designer", instructions=_INSTRUCTIONS, version=written_by().split()[-1], log_level="WARNING")
    designs = DesignTools(folder, writes)
    decisions = DecisionTools(designs)
    writing = designs.writing | decisions.writing
    for tool in (*designs.tools, *decisions.tools):
        reads = tool.__name__ not in writing
        hints = ToolAnnotations(read_only_hint=reads, destructive_hint=False, open_world_hint=False)
        server.add_tool(_with_short_errors(tool, folder), annotations=hints)
    _add_resources(server, designs, folder)
    for question in _QUESTIONS:
        _add_question(server, *question)
    os.chdir(folder.root)
    with piped_input():
        folder.guard()
        server.run("stdio")


def _add_resources(server: MCPServer[Any], designs: DesignTools, folder: Folder) -> None:
    """Designs and parts of the catalog as documents by address."""

    @server.resource("designer://designs", mime_type="application/json")
    def listed() -> str:
        """The designs and test files in the folder, and the templates."""
        return json.dumps(finite(_with_short_errors(designs.list_designs, folder)()))

    @server.resource("designer://design/{name}", mime_type="application/json")
    def design(name: str) -> str:
        """What is in a design: parts, links, workloads, findings."""
        return json.dumps(finite(_with_short_errors(designs.open_design, folder)(name)))

    @server.resource("designer://part/{kind}/{vendor}/{name}", mime_type="application/json")
    def part(kind: str, vendor: str, name: str) -> str:
        """A part type with every value, band and source."""
        return json.dumps(finite(_with_short_errors(designs.find_parts, folder)(f"{kind}/{vendor}/{name}")))

    # named by the decorators
    del listed, design, part


def _add_question(server: MCPServer[Any], name: str, title: str, text: str) -> None:
    """A prompt that asks one question about a design."""

    def ask(design: str) -> str:
        return text.replace("{design}", design)

    ask.__doc__ = title
    server.add_prompt(Prompt.from_function(ask, name=name, title=title, description=title))


def _with_short_errors(tool: Callable[..., dict[str, Any]], folder: Folder) -> Callable[..., dict[str, Any]]:
    """A tool whose refusals reach the caller as one sentence, and never the way to the folder."""

    @functools.wraps(tool)
    def call(*arguments: Any, **named: Any) -> dict[str, Any]:
        try:
            return finite(tool(*arguments, **named))
        except DesignerError as error:
            raise ToolError(shortened(_local(str(error), folder))) from None
        except OSError as error:
            raise ToolError(
                shortened(_local(f"{error.filename or 'a file'}: {error.strerror or error}", folder))
            ) from None
        except (MemoryError, RecursionError):
            raise ToolError("the input is too large or too deep for this machine — use a smaller one") from None
        except Exception as error:
            print(f"designer: a mistake in the program: {error!r}", file=sys.stderr)
            raise
        finally:
            # each call reads its design from the file: what is known about the one it read is of no more use
            forget(_KEPT)

    return call


def _local(text: str, folder: Folder) -> str:
    return text.replace(f"{folder.root}{os.sep}", "").replace(str(folder.root), ".")


#: an escape that may be half a character
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_STDIN: Final = 0
#: exit code of a command that cannot go on
_STOPPED: Final = 2


@contextmanager
def piped_input() -> Generator[None]:
    """Let file descriptor 0 be the pipe while a server runs.

    Raises
    ------
    KeyboardInterrupt
        At the end, if Ctrl-C ended the input. A second Ctrl-C ends the process at once.
    """
    source = os.dup(_STDIN)
    out, into = os.pipe()
    os.dup2(out, _STDIN)
    os.close(out)
    interrupted = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        if interrupted.is_set():
            os._exit(_STOPPED)
        interrupted.set()
        _end(into)

    before = signal.signal(signal.SIGINT, stop)
    # a daemon: it waits for lines as long as the process lives
    threading.Thread(target=_hand_on, args=(source, into), name="designer-input", daemon=True).start()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted.is_set():
        raise KeyboardInterrupt


def _end(into: int) -> None:
    """End the pipe without freeing its number, which the thread may be about to use."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, into, inheritable=False)
    os.close(nowhere)


def _hand_on(source: int, into: int) -> None:
    with suppress(OSError), os.fdopen(source, "rb") as lines:
        for line in lines:
            data = memoryview(whole(line))
            while data:
                data = data[os.write(into, data) :]
    with suppress(OSError):
        _end(into)


def whole(line: bytes) -> bytes:
    """A line of JSON without half characters: each becomes U+FFFD; what is no JSON stays as it is.

    >>> whole(b'{"a": "\\\\ud800"}\\n').decode()
    '{"a": "\\ufffd"}\\n'
    >>> whole(b'{"a": "\\\\ud83d\\\\ude00"}')
    b'{"a": "\\\\ud83d\\\\ude00"}'
    """
    if _SURROGATE.search(line) is None:
        return line
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode() + b"\n"
    return line

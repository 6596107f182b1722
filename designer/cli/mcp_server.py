"""The tools for designs over MCP on stdio, with the official Python package."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from designer.cli.confined import Folder
from designer.cli.design_tools import DesignTools
from designer.cli.output import finite
from designer.cli.piped_input import piped_input
from designer.errors import DesignerError
from designer.interchange.native.envelope import written_by
from designer.memo import forget
from designer.plain_text import shortened

#: so many objects stay known to each function: the catalog, and what designs read later share with this one
_KEPT: Final = 1
_INSTRUCTIONS = (
    "Designs of machines that train and serve AI models. Begin with list_designs and open_design; analyze tells what "
    "binds, explain why, edit tries a change and tells what it does. Values are in SI units. Numbers have a band, low "
    "to high: compare bands, not values. Nothing is written unless dry_run is false."
)


def serve(folder: Folder, writes: bool) -> None:
    """Serve on stdin and stdout until the other end closes; from here on the process is confined to the folder.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C ended it.
    """
    server: MCPServer[Any] = MCPServer(
        "designer", instructions=_INSTRUCTIONS, version=written_by().split()[-1], log_level="WARNING"
    )
    for tool in DesignTools(folder, writes).tools:
        server.add_tool(_answering(tool, folder))
    os.chdir(folder.root)
    with piped_input():
        folder.guard()
        server.run("stdio")


def _answering(tool: Callable[..., dict[str, Any]], folder: Folder) -> Callable[..., dict[str, Any]]:
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

"""YAML for files from anywhere: plain text in lists and mappings, nothing else.

Scalars stay as written (``on``, ``2026-01-01`` and ``1e3`` are text), tags are not followed, aliases are refused, and
depth and size are bounded, so no document can build objects or grow beyond its own length.
"""

from __future__ import annotations

from typing import Any, Final

from designer.errors import ExchangeError

MAX_DEPTH: Final = 100
MAX_NODES: Final = 1_000_000
Node = str | list[Any] | dict[str, Any]


class _Tree:
    """The nodes of a document as its events arrive; `top` is the first of them."""

    def __init__(self) -> None:
        self.top: Node | None = None
        self.depth = 0
        self._open: list[tuple[Any, list[str]]] = []

    def put(self, node: Node) -> None:
        """Add a node to the list or mapping that is open; in a mapping a key comes before its value."""
        if not self._open:
            self.top = node if self.top is None else self.top
            return
        holder, key = self._open[-1]
        if isinstance(holder, list):
            holder.append(node)
        elif key:
            holder[key.pop()] = node
        else:
            key.append(node if isinstance(node, str) else "")

    def begin(self, node: list[Any] | dict[str, Any]) -> None:
        """Add a list or mapping; what follows is put into it."""
        self.put(node)
        self._open.append((node, []))
        self.depth += 1

    def end(self) -> None:
        """Close the innermost list or mapping."""
        self._open.pop()
        self.depth -= 1


def parse_yaml(text: str, file: str) -> Node:
    """The first document of `text`; a key given twice keeps its last value, as YAML readers do.

    Raises
    ------
    ExchangeError
        If it is no YAML, uses aliases, or is deeper or larger than any file of these formats.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    tree = _Tree()
    try:
        for count, event in enumerate(yaml.parse(text, Loader=loader), 1):
            line = event.start_mark.line + 1
            if count > MAX_NODES:
                raise _syntax_error(f"it has more than {MAX_NODES:,} nodes", file, line)
            if isinstance(event, yaml.AliasEvent):
                raise _syntax_error("it uses an alias", file, line, "write the content out where it is used")
            if isinstance(event, yaml.ScalarEvent):
                tree.put("" if event.style is None and event.value in ("~", "null", "Null", "NULL") else event.value)
            elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
                if tree.depth >= MAX_DEPTH:
                    raise _syntax_error(f"it is nested deeper than {MAX_DEPTH}", file, line)
                tree.begin([] if isinstance(event, yaml.SequenceStartEvent) else {})
            elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
                tree.end()
            elif isinstance(event, yaml.DocumentEndEvent):
                break
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "damaged"
        raise _syntax_error(f"it is no YAML: {what}", file, mark.line + 1 if mark else 1) from None
    if tree.top is None:
        raise _syntax_error("it holds no document", file, 1)
    return tree.top


def _syntax_error(text: str, file: str, line: int, remedy: str = "choose the file the tool wrote") -> ExchangeError:
    return ExchangeError(text, file=file, place=f"line {line}", remedy=remedy)


def mapping(node: object) -> dict[str, Any]:
    """`node` if it is a mapping, else an empty one."""
    return node if isinstance(node, dict) else {}


def items(node: object) -> list[Any]:
    """`node` if it is a list, else an empty one."""
    return node if isinstance(node, list) else []


def text_of(node: object) -> str:
    """`node` if it is text, else nothing."""
    return node.strip() if isinstance(node, str) else ""

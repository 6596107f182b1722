"""The part of Graphviz's language that lists of cables are written in: nodes and edges with ports and attributes.

Subgraphs are looked through, defaults for nodes and edges are left out, HTML labels are kept as text. Graphviz takes a
``#`` for a comment in the first column only; cable plans indent such lines, so that any ``#`` between words begins one.
Sources: Graphviz documentation, the DOT language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from designer.errors import ExchangeError

_TOKEN: Final = re.compile(
    r'\s+|//[^\n]*|/\*.*?\*/|#[^\n]*|(?P<quoted>"(?:\\.|[^"\\])*")|(?P<edge>--|->)|(?P<mark>[{}\[\];,=:+])|'
    r"(?P<word>-?\.?[0-9]+(?:\.[0-9]*)?(?![A-Za-z_0-9])|[A-Za-z_0-9\x80-\U0010ffff.@/-]+?(?=--|->|[^A-Za-z_0-9\x80-\U0010ffff.@/-]|\Z))",
    re.DOTALL | re.MULTILINE,
)
_MOST: Final = 2_000_000


@dataclass(slots=True)
class Graph:
    """Nodes with attributes, and edges with both ends (node, port) and attributes, in order."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    edges: list[tuple[tuple[str, str], tuple[str, str], dict[str, str]]] = field(
        default_factory=list[tuple[tuple[str, str], tuple[str, str], dict[str, str]]]
    )


def parse_dot(text: str, file: str) -> Graph:
    """The graph in `text`.

    Raises
    ------
    ExchangeError
        If it is no graph, with the line.
    """
    return _Parser(text, file).run()


class _Parser:
    """Reads tokens one after the other; chains of edges and attribute lists are flat, so nothing recurses."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.tokens = self._split(text)
        self.at = 0

    def _split(self, text: str) -> list[tuple[str, str, int]]:
        tokens: list[tuple[str, str, int]] = []
        at, line = 0, 1
        while at < len(text):
            if text[at] == "<":
                end = _closing(text, at)
                tokens.append(("word", text[at + 1 : end - 1], line))
                line += text.count("\n", at, end)
                at = end
                continue
            found = _TOKEN.match(text, at)
            if found is None or found.end() == at:
                raise ExchangeError(
                    f"{text[at]!r} does not belong here",
                    file=self.file,
                    place=f"line {line}",
                    remedy="check the file with dot -Tcanon",
                )
            kind = found.lastgroup
            if kind == "quoted":
                inside = found[0][1:-1]
                unescaped = re.sub(r"\\\r?\n", "", inside).replace('\\"', '"').replace("\\\\", "\\")
                tokens.append(("word", unescaped, line))
            elif kind is not None:
                tokens.append((kind, found[0], line))
            if len(tokens) > _MOST:
                raise ExchangeError(f"it has more than {_MOST:,} words", file=self.file, remedy="split it")
            line += text.count("\n", at, found.end())
            at = found.end()
        return tokens

    def run(self) -> Graph:
        """All statements."""
        while self.at < len(self.tokens) and self._peek() != ("mark", "{"):
            self.at += 1
        if self.at >= len(self.tokens):
            raise ExchangeError("there is no graph in it", file=self.file, remedy="a graph begins: graph name {")
        self.at += 1
        graph = Graph()
        depth = 1
        while depth and self.at < len(self.tokens):
            kind, text = self._peek()
            if (kind, text) == ("mark", "{"):
                depth += 1
                self.at += 1
            elif (kind, text) == ("mark", "}"):
                depth -= 1
                self.at += 1
            elif kind == "mark" and text in ";,":
                self.at += 1
            elif kind == "word":
                self._statement(graph)
            else:
                raise self._odd(text)
        if depth:
            raise ExchangeError("it ends inside a graph", file=self.file, remedy="give the whole file")
        return graph

    def _peek(self) -> tuple[str, str]:
        return self.tokens[self.at][:2] if self.at < len(self.tokens) else ("end", "")

    def _odd(self, text: str) -> ExchangeError:
        line = self.tokens[min(self.at, len(self.tokens) - 1)][2]
        return ExchangeError(
            f"{text[:40]!r} does not belong here",
            file=self.file,
            place=f"line {line}",
            remedy="check the file with dot -Tcanon",
        )

    def _statement(self, graph: Graph) -> None:
        first = self._end()
        chain = [first]
        if self._peek() == ("mark", "="):
            self.at += 2
            return
        while self._peek()[0] == "edge":
            self.at += 1
            if self._peek()[0] != "word":
                raise self._odd(self._peek()[1])
            chain.append(self._end())
        told = self._attributes()
        if len(chain) == 1:
            if first[0].lower() == "subgraph" or first[0].lower() in ("graph", "node", "edge"):
                return
            if self._peek() != ("mark", "{"):
                graph.nodes.setdefault(first[0], {}).update(told)
            return
        for a, b in pairwise(chain):
            graph.nodes.setdefault(a[0], {})
            graph.nodes.setdefault(b[0], {})
            graph.edges.append((a, b, told))

    def _end(self) -> tuple[str, str]:
        node = self._peek()[1]
        self.at += 1
        port = ""
        while self._peek() == ("mark", ":"):
            self.at += 1
            port = port or self._peek()[1]
            self.at += 1
        if node.lower() == "subgraph" and self._peek()[0] == "word":
            self.at += 1
        return node, port

    def _attributes(self) -> dict[str, str]:
        told: dict[str, str] = {}
        while self._peek() == ("mark", "["):
            self.at += 1
            while self._peek() != ("mark", "]"):
                kind, name = self._peek()
                if kind == "end":
                    raise ExchangeError("it ends inside attributes", file=self.file, remedy="give the whole file")
                self.at += 1
                if kind == "word" and self._peek() == ("mark", "="):
                    self.at += 1
                    told[name] = self._peek()[1]
                    self.at += 1
            self.at += 1
        return told


def _closing(text: str, at: int) -> int:
    """One past the bracket that closes the one at `at`; the end of the text where none does."""
    depth = 0
    for found in re.finditer(r"[<>]", text[at:]):
        depth += 1 if found[0] == "<" else -1
        if depth == 0:
            return at + found.end()
    return len(text)

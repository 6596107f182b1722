"""Cable plans as Graphviz graphs, such as ``topology.dot`` of Cumulus PTM and NVIDIA Air.

The same cable may be written from both ends; it is drawn once. Rates are not in such files.
Sources: Cumulus Linux documentation, Prescriptive Topology Manager; NVIDIA Air, custom topologies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from designer.errors import ExchangeError
from designer.interchange.foreign.fabric import FabricDrawing
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.rates import is_server, rate
from designer.plain_text import counted

_TOKEN: Final = re.compile(
    r'\s+|//[^\n]*|/\*.*?\*/|#[^\n]*|(?P<quoted>"(?:\\.|[^"\\])*")|(?P<edge>--|->)|(?P<mark>[{}\[\];,=:+])|'
    r"(?P<word>-?\.?[0-9]+(?:\.[0-9]*)?(?![A-Za-z_0-9])|[A-Za-z_0-9\x80-\U0010ffff.@/-]+?(?=--|->|[^A-Za-z_0-9\x80-\U0010ffff.@/-]|\Z))",
    re.DOTALL | re.MULTILINE,
)
_MOST_NODES: Final = 2_000_000


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
                end = _end_of_bracket(text, at)
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
            if len(tokens) > _MOST_NODES:
                raise ExchangeError(f"it has more than {_MOST_NODES:,} words", file=self.file, remedy="split it")
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
                raise self._syntax_error(text)
        if depth:
            raise ExchangeError("it ends inside a graph", file=self.file, remedy="give the whole file")
        return graph

    def _peek(self) -> tuple[str, str]:
        return self.tokens[self.at][:2] if self.at < len(self.tokens) else ("end", "")

    def _syntax_error(self, text: str) -> ExchangeError:
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
                raise self._syntax_error(self._peek()[1])
            chain.append(self._end())
        stated = self._attributes()
        if len(chain) == 1:
            if first[0].lower() == "subgraph" or first[0].lower() in ("graph", "node", "edge"):
                return
            if self._peek() != ("mark", "{"):
                graph.nodes.setdefault(first[0], {}).update(stated)
            return
        for a, b in pairwise(chain):
            graph.nodes.setdefault(a[0], {})
            graph.nodes.setdefault(b[0], {})
            graph.edges.append((a, b, stated))

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
        stated: dict[str, str] = {}
        while self._peek() == ("mark", "["):
            self.at += 1
            while self._peek() != ("mark", "]"):
                kind, name = self._peek()
                if kind == "end":
                    raise ExchangeError("it ends inside attributes", file=self.file, remedy="give the whole file")
                self.at += 1
                if kind == "word" and self._peek() == ("mark", "="):
                    self.at += 1
                    stated[name] = self._peek()[1]
                    self.at += 1
            self.at += 1
        return stated


def _end_of_bracket(text: str, at: int) -> int:
    """One past the bracket that closes the one at `at`; the end of the text where none does."""
    depth = 0
    for found in re.finditer(r"[<>]", text[at:]):
        depth += 1 if found[0] == "<" else -1
        if depth == 0:
            return at + found.end()
    return len(text)


_MOST: Final = 100_000


def _sniff(head: str) -> float:
    if not re.search(r"^[ \t]*(?:strict[ \t]+)?(?:di)?graph\b[^{\n]{0,300}\{", head, re.MULTILINE | re.IGNORECASE):
        return 0.0
    return 0.9 if re.search(r":[ \t]{0,4}\"?[\w./-]{1,100}\"?[ \t]{0,8}(?:--|->)", head) else 0.6


def _read(text: str, file: str) -> Imported:
    graph = parse_dot(text, file)
    if not graph.edges:
        raise ExchangeError("the graph has no edges", file=file, remedy="a cable is written: leaf:swp1 -- spine:swp1")
    if len(graph.edges) > _MOST:
        raise ExchangeError(f"it has more than {_MOST:,} edges", file=file, remedy="split it")
    fabric = FabricDrawing(file, "a cable plan", "lldp", "ethernet")
    for node, stated in graph.nodes.items():
        if _is_storage(stated):
            fabric.switch(node, _name(node, stated), stated, kind="storage")
        elif not _is_server(node, stated):
            fabric.switch(node, _name(node, stated), stated)
    seen: set[frozenset[tuple[str, str]]] = set()
    again = loops = 0
    for a, b, stated in graph.edges:
        key = frozenset((a, b))
        if a[1] and b[1] and key in seen:
            again += 1
            continue
        seen.add(key)
        loops += a[0] == b[0]
        _cable(fabric, graph, a, b, stated)
    if again:
        text = f"{counted(again, 'cable is', 'cables are')} written from both ends: each was drawn once"
        fabric.note("IMP-BOTH-ENDS", text)
    if loops:
        text = counted(
            loops,
            "cable from a device to itself (loopback cable) was left out",
            "cables from a device to itself (loopback cables) were left out",
        )
        fabric.note("IMP-LOOPS", text)
    return fabric.finish()


def _is_storage(stated: dict[str, str]) -> bool:
    return stated.get("function", "").lower() == "storage"


def _is_server(node: str, stated: dict[str, str]) -> bool:
    function = stated.get("function", stated.get("kind", ""))
    return is_server(function or node)


def _name(node: str, stated: dict[str, str]) -> str:
    """What a node is called: a title, else a label that is no drawing of ports, else its id."""
    label = stated.get("label", "")
    return stated.get("title") or (label if label and "|" not in label else node)


def _cable(fabric: FabricDrawing, graph: Graph, a: tuple[str, str], b: tuple[str, str], stated: dict[str, str]) -> None:
    if a[0] == b[0]:
        return
    ends: list[str] = []
    for node, port in (a, b):
        about = graph.nodes.get(node, {})
        name = _name(node, about)
        if "title" in about:
            # the label is a drawing of its ports
            about = {k: v for k, v in about.items() if k not in ("title", "label", "shape")}
        if _is_storage(about):
            ends.append(fabric.switch(node, name, about, kind="storage"))
        elif _is_server(node, about):
            server = fabric.host(node, name, about)
            ends.append(fabric.nic(f"{node} {port}", server, port))
        else:
            ends.append(fabric.switch(node, name, about))
    known = rate(stated.get("speed", stated.get("bandwidth", "")))
    kind = stated.get("kind", "") if stated.get("kind") in ("ethernet", "infiniband", "fabric") else ""
    fabric.join(ends[0], ends[1], known, ports=(a[1], b[1]), attributes=stated, kind=kind)


IMPORTER = Importer("cable-plan", "cable plan as a Graphviz graph (PTM, NVIDIA Air)", (".dot", ".gv"), _sniff, _read)

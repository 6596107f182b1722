"""XML for files from anywhere: bounded time and memory, no entities, no DTD, no network, every refusal with a place.

expat does the parsing. A DOCTYPE is let through because hwloc writes one, but nothing it names is fetched and a file
that declares an entity is refused. Text is kept only where short; attributes stay as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NoReturn
from xml.parsers import expat

from designer.errors import ExchangeError

MAX_DEPTH: Final = 200
MAX_ELEMENTS: Final = 200_000
MAX_ATTRIBUTES: Final = 256
MAX_VALUE: Final = 64 * 1024
#: the longest stretch without an opening bracket: one tag with its attributes, or one text
MAX_STRETCH: Final = 1024 * 1024
_MAX_TEXT: Final = 256 * 1024
_START = re.compile(r"<(?:\?xml\b|!--|!DOCTYPE\b|[A-Za-z_])")
_ROOT = re.compile(r"<\s*([A-Za-z_][\w.:-]{0,60})")


@dataclass(slots=True, eq=False)
class Element:
    """One element: its tag, attributes, children, text directly inside it, and where it begins."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list["Element"])
    text: str = ""

    def get(self, name: str, default: str = "") -> str:
        """The attribute called `name`, blanks at the ends removed."""
        return self.attributes.get(name, default).strip()

    def all(self, *tags: str) -> list[Element]:
        """The children with one of these tags."""
        return [child for child in self.children if child.tag in tags]

    def walk(self) -> Iterator[Element]:
        """This element and everything below it, in document order."""
        waiting: list[Element] = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))


@dataclass(frozen=True, slots=True)
class Parsed:
    """An XML document, and how much text around it was skipped."""

    root: Element
    #: texts in places where the format has none, such as numerals pasted between tags
    stray: int
    #: characters before and after the document, blanks not counted
    before: int
    after: int


def parse_xml(text: str, file: str, roots: tuple[str, ...] = ()) -> Parsed:
    """The element tree of `text`; what is before a root called one of `roots` is skipped.

    Raises
    ------
    ExchangeError
        If it is no well-formed XML, declares entities, or is larger or deeper than any dump of a machine.
    """
    start = _begin_of_document(text, roots)
    if start is None:
        raise ExchangeError("there is no XML in it", file=file, remedy="choose the XML file the tool wrote")
    _refuse_monsters(text, start, file)
    return _Reader(text, start, file).run()


def _begin_of_document(text: str, roots: tuple[str, ...]) -> int | None:
    """Where the document begins: its declaration, DOCTYPE, first comment or root, whichever comes first."""
    root = re.compile(rf"<(?:{'|'.join(roots)})[\s/>]").search(text) if roots else None
    if root is not None:
        heads = [text.find(head, 0, root.start()) for head in ("<?xml", "<!--", "<!DOCTYPE")]
        return min([root.start(), *(at for at in heads if at >= 0)])
    first = _START.search(text)
    return None if first is None else first.start()


def _refuse_monsters(text: str, start: int, file: str) -> None:
    """Refuse by counting, before the parser spends time on it."""
    if text.count("<", start) > 2 * MAX_ELEMENTS + 10_000:
        raise ExchangeError(
            f"it has more than {MAX_ELEMENTS:,} elements", file=file, remedy="no dump of one machine is so large"
        )
    at = start
    while at + MAX_STRETCH < len(text):
        last = text.rfind("<", at + 1, at + MAX_STRETCH)
        if last < 0:
            line = text.count("\n", 0, at) + 1
            raise ExchangeError(
                f"one tag or text is longer than {MAX_STRETCH:,} characters",
                file=file,
                place=f"line {line}",
                remedy="the file is damaged or not a dump of a machine",
            )
        at = last


class _Stop(Exception):
    """Ends the parser from inside one of its callbacks."""


class _Reader:
    """Builds the tree from expat's events."""

    def __init__(self, text: str, start: int, file: str) -> None:
        self.file = file
        self.text = text
        self.start = start
        self.skipped_lines = text.count("\n", 0, start)
        self.data = text[start:].encode("utf-8", "replace")
        self.root: Element | None = None
        self.open: list[Element] = []
        self.elements = 0
        self.stray = 0
        self.error: ExchangeError | None = None
        self.end = 0
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._finish
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity
        parser.UnparsedEntityDeclHandler = self._entity
        self.parser = parser

    def run(self) -> Parsed:
        try:
            self.parser.Parse(self.data, True)
        except _Stop:
            assert self.error is not None
            raise self.error from None
        except expat.ExpatError as error:
            return self._after_error(error)
        assert self.root is not None
        return Parsed(self.root, self.stray, self._length_before(), 0)

    def _length_before(self) -> int:
        return len(self.text[: self.start].strip())

    def _place(self) -> str:
        column = self.parser.CurrentColumnNumber + 1
        return f"line {self.parser.CurrentLineNumber + self.skipped_lines}, column {column}"

    def _refuse(self, text: str, remedy: str) -> NoReturn:
        self.error = ExchangeError(text, file=self.file, place=self._place(), remedy=remedy)
        raise _Stop

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        if len(self.open) >= MAX_DEPTH:
            self._refuse(f"elements are nested more than {MAX_DEPTH} deep", "no dump of a machine is so deep")
        if self.elements > MAX_ELEMENTS:
            self._refuse(f"it has more than {MAX_ELEMENTS:,} elements", "no dump of one machine is so large")
        if len(attributes) > MAX_ATTRIBUTES:
            self._refuse(f"<{tag[:60]}> has {len(attributes):,} attributes", "no dump of a machine has so many")
        for name, value in attributes.items():
            if len(value) > MAX_VALUE or len(name) > MAX_VALUE:
                self._refuse(
                    f"the attribute {name[:60]!r} has {len(value):,} characters", "no dump of a machine has such values"
                )
        element = Element(tag, attributes, self.parser.CurrentLineNumber + self.skipped_lines)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def _finish(self, _tag: str) -> None:
        self.open.pop()
        if not self.open:
            self.end = self.parser.CurrentByteIndex

    def _characters(self, data: str) -> None:
        if not self.open or data.isspace():
            return
        element = self.open[-1]
        if not element.text:
            self.stray += 1
        if len(element.text) < _MAX_TEXT:
            element.text += data

    def _entity(self, name: str, *_rest: object) -> None:
        self._refuse(
            f"it declares the entity {name[:60]!r}", "machine dumps declare none; remove the DOCTYPE with its entities"
        )

    def _after_error(self, error: expat.ExpatError) -> Parsed:
        place = f"line {error.lineno + self.skipped_lines}, column {error.offset + 1}"
        junk = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
        if self.root is not None and not self.open:
            # The end event points to the closing tag, for an empty element to what follows it.
            at = self.data.find(b">", self.end) + 1 if self.data.startswith(b"</", self.end) else self.end
            rest = self.data[at:].decode("utf-8", "replace")
            again = next((m for m in _ROOT.finditer(rest) if m[1] == self.root.tag), None)
            if again is not None:
                raise ExchangeError(
                    f"a second <{self.root.tag}> begins after the first one ended",
                    file=self.file,
                    place=place,
                    remedy="save each document to its own file",
                ) from None
            return Parsed(self.root, self.stray, self._length_before(), len(rest.strip()))
        if error.code == junk and self.root is None:
            raise ExchangeError("there is no XML element in it", file=self.file, place=place) from None
        reason = expat.ErrorString(error.code)
        if self.open:
            inside = self.open[-1]
            if error.code == expat.errors.codes[expat.errors.XML_ERROR_TAG_MISMATCH]:
                reason = f"<{inside.tag}> of line {inside.line} is closed by another tag"
            elif error.lineno >= self.data.count(b"\n") and not self.data[-200:].strip().endswith(
                f"</{self.open[0].tag}>".encode()
            ):
                reason = f"it ends inside <{inside.tag}> of line {inside.line} ({reason})"
                raise ExchangeError(
                    reason,
                    file=self.file,
                    place=place,
                    remedy="the file is cut off; make the dump again or copy it whole",
                ) from None
        raise ExchangeError(
            f"it is no well-formed XML: {reason}",
            file=self.file,
            place=place,
            remedy="mend that place, or make the dump again",
        ) from None

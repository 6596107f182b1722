"""The grammar of design tests: text → tree, by hand, with the place of every mistake.

::

    promise    = either
    either     = both { "or" both }
    both       = denied { "and" denied }
    denied     = "not" denied | comparison
    comparison = sum [ ("<=" | ">=" | "<" | ">" | "==" | "!=") sum [ "each" ] [ "at" quantity ] ]
    sum        = product { ("+" | "-") product }
    product    = signed { ("*" | "/") signed }
    signed     = "-" signed | named
    named      = value { "." word }
    value      = quantity | ratio | text | word [ "(" [ argument { "," argument } ] ")" ] | "(" either ")"
    argument   = "any" (word | text) | either
    quantity   = number [ unit ]          such as 3.18 GB/s, 10 s, 20/s, 15 %
    ratio      = number ":" number        such as 1:1

Nothing loops, nothing is defined, nothing outside the design can be named: every text ends in a tree or in one error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from designer.errors import DesignerError, UnitError
from designer.spelling import did_you_mean
from designer.units import DIMENSIONS, parse

#: longer promises, and such with more brackets within each other, are refused
LONGEST: Final = 2000
DEEPEST: Final = 40
#: and such with more operators and points together
MOST_JOINED: Final = 100
COMPARISONS: Final = ("<=", ">=", "==", "!=", "<", ">")
KEYWORDS: Final = frozenset({"and", "or", "not", "each", "at", "any"})

_JOINING = frozenset({"and", "or", "+", "-", "*", "/", "."})

_BLANK = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"\d+(?:_\d+)*(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_UNIT = re.compile(r"[ \t]*(1?/s(?![A-Za-z])|%|[A-Za-zµμ]+(?:/(?:s|sec)(?![A-Za-z]))?)", re.ASCII)
_MICRO = re.compile(r"[ \t]*[µμ]s(?![A-Za-z])")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class CheckError(DesignerError):
    """A promise cannot be read or worked out.

    Parameters
    ----------
    at
        Place in the promise, counted from 0.
    """

    def __init__(self, text: str, at: int, remedy: str = "") -> None:
        super().__init__(text, place=f"column {at + 1}", remedy=remedy or None)
        self.position = at


@dataclass(frozen=True, slots=True)
class Amount:
    """A quantity: SI value, the dimensions its spelling may have, and how it was spelled."""

    at: int
    value: float
    dimension: str
    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """Text in quotes."""

    at: int
    text: str


@dataclass(frozen=True, slots=True)
class AnyOf:
    """``any leaf``: each of some parts in turn."""

    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """A word alone."""

    at: int
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its arguments."""

    at: int
    name: str
    arguments: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """Something of something: ``findings.error``."""

    at: int
    of: Tree
    name: str


@dataclass(frozen=True, slots=True)
class Sign:
    """A number with its sign turned, or a promise denied."""

    at: int
    operator: str
    of: Tree


@dataclass(frozen=True, slots=True)
class Pair:
    """Two things joined by an operator."""

    at: int
    operator: str
    left: Tree
    right: Tree


@dataclass(frozen=True, slots=True)
class Comparison:
    """A promise: left against right; `each` for every member of a list, `load` for ``at 20/s``."""

    at: int
    operator: str
    left: Tree
    right: Tree
    each: bool = False
    load: Amount | None = None


Tree = Amount | Text | AnyOf | Name | Call | Member | Sign | Pair | Comparison


def read(text: str) -> Tree:
    """The tree of a promise.

    Raises
    ------
    CheckError
        If it is none; with the place of the mistake.
    """
    if len(text) > LONGEST:
        raise CheckError(f"longer than {LONGEST} characters", LONGEST, "make several tests of it")
    reader = _Scanner(text)
    tree = reader.either()
    reader.blank()
    if reader.at < len(text):
        raise reader.unexpected("the end, or and, or")
    return tree


#: operators as they are often written, and what is meant
_MEANT: Final = {"=>": ">=", "=<": "<=", "=": "==", "≥": ">=", "≤": "<=", "&&": "and", "||": "or"}
#: units as they are offered where one is not known
_UNITS: Final = (
    *("GB/s", "Gb/s", "GiB/s", "MB/s", "Mb/s", "TB/s", "GB", "GiB", "MB", "MiB", "TB", "KiB", "s", "ms", "us", "min"),
    *("h", "days", "%", "/s", "W", "kW", "TFLOP/s", "kg"),
)
#: units written as words
_SPELLED: Final = {"sec": "s", "seconds": "s", "minutes": "min", "hours": "h"}


class _Scanner:
    """Reads from left to right; `at` is the next character."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth, self.joined = text, 0, 0, 0

    def blank(self) -> None:
        """Step over blanks."""
        found = _BLANK.match(self.text, self.at)
        assert found is not None
        self.at = found.end()

    def unexpected(self, wanted: str) -> CheckError:
        """The error for what is here."""
        rest = self.text[self.at : self.at + 12]
        found = f"{rest!r}" if rest else "the end"
        meant = next((right for wrong, right in _MEANT.items() if rest.startswith(wrong)), "")
        mend = f"write {meant}" if meant else "see docs/design-tests.md for the grammar"
        return CheckError(f"expected {wanted}, found {found}", self.at, mend)

    def closed(self, opened: int, wanted: str) -> None:
        """Step over a closing bracket."""
        if self.take(")"):
            return
        error = self.unexpected(wanted)
        if self.at >= len(self.text):
            error = CheckError(error.text, self.at, f"close the bracket opened at column {opened + 1}")
        raise error

    def word(self) -> str:
        """The word that is here, without stepping over it; empty for none."""
        self.blank()
        found = _WORD.match(self.text, self.at)
        return found[0] if found is not None else ""

    def take(self, *tokens: str) -> str:
        """Step over the first of some signs or words that is here."""
        self.blank()
        word = self.word()
        for token in tokens:
            if token == word if token[0].isalpha() else self.text.startswith(token, self.at):
                self.at += len(token)
                if token in _JOINING:
                    self.join()
                return token
        return ""

    def join(self) -> None:
        """Count operators: a long chain of them is as deep a tree as brackets make."""
        self.joined += 1
        if self.joined > MOST_JOINED:
            raise CheckError(f"more than {MOST_JOINED} operators", self.at, "make several tests of it")

    def deeper(self) -> None:
        """Count brackets within each other."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise CheckError(f"more than {DEEPEST} levels within each other", self.at, "make several tests of it")

    def either(self) -> Tree:
        """Terms joined by ``or``."""
        self.deeper()
        tree = self.both()
        while self.take("or"):
            tree = Pair(self.at, "or", tree, self.both())
        self.depth -= 1
        return tree

    def both(self) -> Tree:
        """Terms joined by ``and``."""
        tree = self.denied()
        while self.take("and"):
            tree = Pair(self.at, "and", tree, self.denied())
        return tree

    def denied(self) -> Tree:
        """A comparison, perhaps with ``not`` before it."""
        at = self.at
        if self.take("not"):
            self.deeper()
            tree = Sign(at, "not", self.denied())
            self.depth -= 1
            return tree
        return self.comparison()

    def comparison(self) -> Tree:
        """A sum, or two sums compared, perhaps with ``each`` and ``at``."""
        left = self.sum()
        self.blank()
        at = self.at
        operator = self.take(*COMPARISONS)
        if not operator:
            return left
        right = self.sum()
        each = bool(self.take("each"))
        load: Amount | None = None
        if self.take("at"):
            self.blank()
            load = self.amount()
        return Comparison(at, operator, left, right, each, load)

    def sum(self) -> Tree:
        """Products with ``+`` and ``-`` between them."""
        return self._join_operands(self.product, "+", "-")

    def product(self) -> Tree:
        """Signed values with ``*`` and ``/`` between them."""
        return self._join_operands(self.signed, "*", "/")

    def _join_operands(self, operand: Callable[[], Tree], *operators: str) -> Tree:
        """Operands joined by operators of one rank, from the left."""
        tree = operand()
        while True:
            self.blank()
            at = self.at
            operator = self.take(*operators)
            if not operator:
                return tree
            tree = Pair(at, operator, tree, operand())

    def signed(self) -> Tree:
        """A named value, perhaps with ``-`` before it."""
        self.blank()
        at = self.at
        if self.take("-"):
            self.deeper()
            tree = Sign(at, "-", self.signed())
            self.depth -= 1
            return tree
        return self.named()

    def named(self) -> Tree:
        """A value and the names after it: ``value.name.name``."""
        tree = self.value()
        while self.take("."):
            word = self.word()
            if not word:
                raise self.unexpected("a name after the point")
            self.at += len(word)
            tree = Member(self.at - len(word), tree, word)
        return tree

    def value(self) -> Tree:
        """A text, an amount, a name, a call, or an expression in brackets."""
        self.blank()
        at = self.at
        if at >= len(self.text):
            raise self.unexpected("a value")
        sign = self.text[at]
        if sign in "\"'":
            return self.quoted()
        if "0" <= sign <= "9":
            return self.amount()
        if self.take("("):
            tree = self.either()
            self.closed(at, "a closing bracket")
            return tree
        word = self.word()
        if not word or word in KEYWORDS:
            raise self.unexpected("a value, a name or a bracket")
        self.at += len(word)
        if not self.take("("):
            return Name(at, word)
        arguments: list[Tree] = []
        opened = self.at - 1
        if not self.take(")"):
            arguments.append(self.argument())
            while self.take(","):
                arguments.append(self.argument())
            self.closed(opened, "a comma or a closing bracket")
        return Call(at, word, tuple(arguments))

    def argument(self) -> Tree:
        """An expression, or ``any`` and the parts it may be about."""
        at = self.at
        if not self.take("any"):
            return self.either()
        self.blank()
        if self.text[self.at : self.at + 1] in ('"', "'"):
            return AnyOf(at, self.quoted().text)
        word = self.word()
        if not word:
            raise self.unexpected("the name or path of parts after any")
        self.at += len(word)
        return AnyOf(at, word)

    def quoted(self) -> Text:
        """Text up to the same quote."""
        at = self.at
        end = self.text.find(self.text[at], at + 1)
        if end < 0:
            raise CheckError("the quote is never closed", at, f"close it with {self.text[at]}")
        self.at = end + 1
        return Text(at, self.text[at + 1 : end])

    def amount(self) -> Amount:
        """A number with its unit, or a ratio."""
        at = self.at
        number = _NUMBER.match(self.text, at)
        if number is None:
            raise self.unexpected("a number")
        self.at = number.end()
        if self.text.startswith(":", self.at):
            other = _NUMBER.match(self.text, self.at + 1)
            if other is None:
                raise CheckError("a ratio needs a second number", self.at, "write 1:1")
            if float(other[0].replace("_", "")) == 0:
                raise CheckError("a ratio to zero", self.at + 1, "write 1:1")
            self.at = other.end()
            value = float(number[0].replace("_", "")) / float(other[0].replace("_", ""))
            return Amount(at, value, "ratio", self.text[at : self.at])
        found = _MICRO.match(self.text, self.at) or _UNIT.match(self.text, self.at)
        if found is None or found[0].strip() in KEYWORDS:
            return self._plain_number(at, number[0])
        unit = found[0].strip()
        spelled = f"{number[0].replace('_', '')} {unit}"
        self.at = found.end()
        reason: UnitError | None = None
        known = False
        for dimension in DIMENSIONS:
            try:
                return Amount(at, parse(spelled, dimension), dimension, self.text[at : self.at])
            except UnitError as error:
                known = known or "is not a unit of" not in error.text or "case matters" in error.text
                # what the parser says of rates and amounts states most
                if reason is None or (dimension == "rate" and "/" in unit):
                    reason = error
        assert reason is not None
        if not known:
            known_units = f"units are {', '.join(_UNITS)}"
            spelled_out = _SPELLED.get(unit)
            remedy = f"did you mean {spelled_out}?" if spelled_out else did_you_mean(unit, _UNITS, known_units)
            raise CheckError(f"{spelled!r}: there is no unit {unit!r}", at, remedy)
        raise CheckError(reason.text, at, reason.remedy or "")

    def _plain_number(self, at: int, number: str) -> Amount:
        value = float(number.replace("_", ""))
        if value == float("inf"):
            raise CheckError(f"{number} is not a finite number", at, "give a number that can be measured")
        return Amount(at, value, "ratio", number)

"""What can go wrong, as a tree. Every error names the file, the place in it and the remedy.

    DesignerError
    ├── UnitError        a quantity cannot be read ("400", "400G")
    ├── CatalogError     a part file or constant is wrong
    ├── DocumentError    an edit or a document breaks the rules of a design
    ├── FormatError      a design file cannot be read (version, syntax, size)
    ├── ExchangeError    a foreign file cannot be read or written
    ├── WriteError       a file cannot be written, whatever its format
    ├── AnalysisError    a study cannot be run on this design
    │   └── NothingNamed a selector of a workload names no part of it
    ├── ReportError      a report cannot be made of what was given
    └── Cancelled        the user stopped a long run

Things a person should mend in a *design* are findings (``designer.findings``), never exceptions.
Mistakes in our own code stay ``AssertionError``.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


class DesignerError(Exception):
    """Base of every error a user can cause.

    Parameters
    ----------
    text
        What is wrong, one sentence.
    file
        The file it is in, if any.
    place
        Where in it: a line, a path such as ``parts.gpu0.values``, a cell.
    remedy
        What the user can do.
    """

    def __init__(
        self, text: str, *, file: str | None = None, place: str | None = None, remedy: str | None = None
    ) -> None:
        super().__init__(text)
        self.text = text
        self.file = file
        self.place = place
        self.remedy = remedy

    def __str__(self) -> str:
        where = ": ".join(part for part in (self.file, self.place) if part)
        message = f"{where}: {self.text}" if where else self.text
        return f"{message} — {self.remedy}" if self.remedy else message

    def at(self, *, file: str | None = None, place: str | None = None) -> DesignerError:
        """The same error with a file or place filled in where it was missing."""
        self.file = self.file or file
        self.place = self.place or place
        return self


class UnitError(DesignerError, ValueError):
    """A quantity cannot be read. Also a ``ValueError``, so that pydantic reports it at its field."""


class CatalogError(DesignerError):
    """A part type, kind or constant is wrong or unknown."""


class DocumentError(DesignerError, ValueError):
    """An edit or document breaks the rules of a design."""


class FormatError(DesignerError):
    """A design file cannot be read."""


class ExchangeError(DesignerError):
    """A foreign file cannot be imported, or a design cannot be exported to a format."""


class WriteError(FormatError, ExchangeError):
    """A file cannot be written. Both of the above: who writes designs or pictures expects the one or the other."""


class AnalysisError(DesignerError):
    """A study cannot be run on this design."""


class NothingNamed(AnalysisError):
    """A selector of a workload names no part of this design: what it named may have failed."""

    selector: str = ""


class ReportError(DesignerError):
    """A report cannot be made: no design, unknown chapters."""


class Cancelled(DesignerError):
    """The user stopped a long run."""


@contextmanager
def raised_in(*, file: str | None = None, place: str | None = None) -> Generator[None, None, None]:
    """Errors of what is done here name the file or place where they do not yet."""
    try:
        yield
    except DesignerError as error:
        raise error.at(file=file, place=place) from None


@contextmanager
def raised_as(
    kind: type[DesignerError], place: str, *, of: type[DesignerError] = DesignerError
) -> Generator[None, None, None]:
    """Errors of what is done here are errors of another kind, at a place; those that are not `of` a class stay.

    One that already is of a narrower class of that kind stays what it is, at the place.
    """
    try:
        yield
    except of as error:
        if isinstance(error, kind) and type(error) is not kind:
            error.place = place
            raise
        raise kind(error.text, place=place, remedy=error.remedy) from None

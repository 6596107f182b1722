"""How to read verdicts and grades, for the page of contents."""

from __future__ import annotations

from typing import Final

from designer.report.chapter import sure, text
from designer.report.document import Head, Row, SideBySide, Table, rich
from designer.report.verdicts import Verdict, written
from designer.sources import Status

_VERDICTS: Final = {
    Verdict.MET: "the whole band is on the good side",
    Verdict.LIKELY: "the estimate is, the band crosses the target",
    Verdict.UNLIKELY: "the estimate is not, the band crosses",
    Verdict.NOT_MET: "the whole band is on the wrong side",
}
_GRADES: Final = {
    Status.PRIMARY: "a vendor document, its source code, or a dump of a machine",
    Status.SECONDARY: "somebody else reports it",
    Status.DERIVED: "computed from values that have a source",
    Status.UNVERIFIED: "generally known, no source found",
    Status.ASSUMED: "chosen so that something can be computed",
}
_HEADS: Final = (Head(""), Head(""))

LEGEND: Final = SideBySide(
    (Table("Is a target met?", _HEADS, tuple(Row((rich(written(v)), text(t))) for v, t in _VERDICTS.items())),),
    (Table("How sure is a value?", _HEADS, tuple(Row((sure(g), text(t))) for g, t in _GRADES.items())),),
)

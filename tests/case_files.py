"""Files of measurements for tests that expect all their cases to be right."""

from __future__ import annotations

from pathlib import Path

from designer.decisions.validation import Measured
from designer.design.document import Design
from designer.interchange.cases import look_into


def read_cases(path: Path) -> list[tuple[Design, Measured]]:
    """Designs and measurements of a case file all of whose cases are right.

    Raises
    ------
    FormatError
        Naming the file, the case and what is wrong with the first that is.
    """
    found = look_into(path)
    for problem in found.problems:
        raise problem
    return list(found.cases)

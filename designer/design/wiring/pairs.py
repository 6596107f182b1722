"""One to one, in order."""

from designer.design.pattern import Indices, Pattern, Selection
from designer.errors import DocumentError


def join(a: Selection, b: Selection) -> tuple[Indices, Indices]:
    """The n-th of one side with the n-th of the other."""
    if len(a.flat) != len(b.flat):
        raise DocumentError(
            f"pairs need as many parts on both sides, here {len(a.flat)} and {len(b.flat)}",
            remedy="change the selection or use the pattern spread",
        )
    return a.flat, b.flat


PATTERN = Pattern("pairs", "One to one", join, "first with first, second with second")

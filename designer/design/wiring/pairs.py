"""One to one, in order."""

from designer.design.joining import Indices, Pattern, Selection, present
from designer.errors import DocumentError


def join(a: Selection, b: Selection) -> tuple[Indices, Indices]:
    """The n-th of one side with the n-th of the other."""
    if a.index.size != b.index.size:
        raise DocumentError(
            f"pairs need as many parts on both sides, here {a.index.size} and {b.index.size}",
            remedy="change the selection or use the pattern spread",
        )
    return present(a.places, b.places)


PATTERN = Pattern("pairs", "One to one", join, "first with first, second with second")

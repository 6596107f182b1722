"""What ``designer.check`` answers."""

from __future__ import annotations

from designer.design.document import Design
from designer.findings import Finding
from designer.rules import runner


def check(design: Design, profile: str | None = None) -> list[Finding]:
    """What the design rules say about a design, and what is wrong with the document, worst first.

    Waived findings are left out. ``designer check`` prints the same findings.

    Parameters
    ----------
    profile
        ``vsphere``, ``superpod`` or ``lab``; by default what the design looks meant for.

    Raises
    ------
    DesignerError
        If the design cannot be elaborated.
    """
    return [*runner.check(design, profile).findings]

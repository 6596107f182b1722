"""vSphere releases in order, for formulas whose behaviour changed with a release."""

from __future__ import annotations

from enum import StrEnum

from designer.errors import AnalysisError


class Release(StrEnum):
    """A vSphere release, oldest first."""

    V6_0 = "6.0"
    V6_5 = "6.5"
    V6_7_U1 = "6.7 U1"
    V6_7_U3 = "6.7 U3"
    V7_0 = "7.0"
    V7_0_U1 = "7.0 U1"
    V7_0_U2 = "7.0 U2"
    V7_0_U3 = "7.0 U3"
    V8_0 = "8.0"
    V8_0_U1 = "8.0 U1"
    V8_0_U2 = "8.0 U2"
    V8_0_U3 = "8.0 U3"
    V9_0 = "9.0"

    def since(self, first: Release) -> bool:
        """True if this release is `first` or newer."""
        return _ORDER[self] >= _ORDER[first]


_ORDER = {release: k for k, release in enumerate(Release)}


def read_release(text: str) -> Release:
    """The release written as ``"8.0 U3"``.

    Raises
    ------
    AnalysisError
        If there is no such release.
    """
    wanted = " ".join(text.upper().replace("U", " U").split())
    for release in Release:
        if release.value == wanted:
            return release
    known = ", ".join(release.value for release in Release)
    raise AnalysisError(f"there is no vSphere release {text!r}", remedy=f"choose one of {known}")

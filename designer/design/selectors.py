"""Paths to parts through groups: ``pods[0]/servers[3]/gpu0``, and with wild cards ``servers[*]/nic*``.

A path is segments joined by ``/``. Every segment but the last names a group and its members: ``[3]`` one, ``[0-7]``
a range, ``[*]`` or nothing all. The last names a part, or with ``*`` and ``?`` all parts that match, or
``nic{0-7}`` the parts nic0 to nic7 in that order.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from dataclasses import dataclass

from designer.errors import DocumentError

_GROUP = re.compile(r"(?P<id>[^\[\]]+?)(?:\[(?P<members>\*|\d{1,9}(?:-\d{1,9})?)\])?\Z")
_RANGE = re.compile(r"(?P<head>[^{}]*)\{(?P<low>\d{1,6})-(?P<high>\d{1,6})\}(?P<tail>[^{}]*)\Z")


@dataclass(frozen=True, slots=True)
class GroupStep:
    """One group segment: ``low`` to ``high`` inclusive, or all members when ``high`` is None."""

    group: str
    low: int = 0
    high: int | None = None

    def members(self, replicas: int) -> range:
        """Indices of the chosen members of a group of `replicas`."""
        high = replicas - 1 if self.high is None else self.high
        if self.low > high or high >= replicas:
            raise DocumentError(
                f"{self.group}[{self.low}-{high}] is outside the group of {replicas}",
                remedy=f"choose members 0 to {replicas - 1}",
            )
        return range(self.low, high + 1)


@dataclass(frozen=True, slots=True)
class Selector:
    """A parsed path: group steps, then a part pattern."""

    steps: tuple[GroupStep, ...]
    part: str

    @property
    def is_single(self) -> bool:
        """True if it names exactly one part."""
        return all(s.low == s.high for s in self.steps) and not set(self.part) & set("*?{")

    def matches(self, ids: Iterable[str]) -> list[str]:
        """The part ids the last segment chooses, natural order (nic2 before nic10)."""
        ids = list(ids)
        found = _RANGE.match(self.part)
        if found is not None:
            low, high = int(found["low"]), int(found["high"])
            wanted = [f"{found['head']}{n}{found['tail']}" for n in range(low, high + 1)]
            known = set(ids)
            return [w for w in wanted if w in known]
        if set(self.part) & set("*?"):
            return sorted(fnmatch.filter(ids, self.part), key=natural_key)
        return [self.part] if self.part in set(ids) else []


def natural_key(text: str) -> tuple[tuple[int, str], ...]:
    """Sort key that counts digits as numbers: nic2 before nic10."""
    return tuple(
        (int(piece), "") if piece.isdigit() else (-1, piece) for piece in re.split(r"(\d+)", text, flags=re.ASCII)
    )


def parse_selector(text: str) -> Selector:
    """The parts of a path.

    Raises
    ------
    DocumentError
        If a segment cannot be read.
    """
    *groups, part = text.split("/")
    steps: list[GroupStep] = []
    for segment in groups:
        match = _GROUP.match(segment)
        if match is None:
            raise DocumentError(
                f"{segment!r} in {text!r} does not name a group", remedy="write group[3]/part or group[*]/part"
            )
        members = match["members"]
        if members is None or members == "*":
            steps.append(GroupStep(match["id"]))
        else:
            low, _, high = members.partition("-")
            steps.append(GroupStep(match["id"], int(low), int(high or low)))
    if not part:
        raise DocumentError(f"{text!r} does not end in a part", remedy="write group[3]/part")
    return Selector(tuple(steps), part)

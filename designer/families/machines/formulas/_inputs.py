"""Checks on what a person typed, with the same words everywhere."""

from __future__ import annotations

import math

from designer.errors import AnalysisError


def positive(value: float, what: str) -> float:
    """`value` if it is a finite number above zero.

    Raises
    ------
    AnalysisError
        If it is zero, negative or no number.
    """
    if not (math.isfinite(value) and value > 0):
        raise AnalysisError(f"{what} is {value:g}", place=what, remedy="give a number above zero")
    return value


def not_negative(value: float, what: str) -> float:
    """`value` if it is a finite number of zero or more.

    Raises
    ------
    AnalysisError
        If it is negative or no number.
    """
    if not (math.isfinite(value) and value >= 0):
        raise AnalysisError(f"{what} is {value:g}", place=what, remedy="give zero or a positive number")
    return value


def at_least_one(value: int, what: str) -> int:
    """`value` if it is 1 or more.

    Raises
    ------
    AnalysisError
        If it is smaller.
    """
    if value < 1:
        raise AnalysisError(f"{what} is {value}", place=what, remedy="give at least 1")
    return value


def share(value: float, what: str) -> float:
    """`value` if it lies in 0–1.

    Raises
    ------
    AnalysisError
        If it lies outside.
    """
    if not 0 <= value <= 1:
        raise AnalysisError(f"{what} is {value:g}", place=what, remedy="give a share between 0 and 1")
    return value

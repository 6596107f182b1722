"""Rates of InfiniBand links: lanes × signalling rate × line code.

Sources: InfiniBand Trade Association, roadmap of lane rates; 8b/10b up to QDR, 64b/66b from FDR10 on. HDR and later
print the payload of four lanes as 200, 400 and 800 Gb/s (their forward error correction is outside the code).
"""

from __future__ import annotations

from typing import Final

#: payload of one lane [bit/s] by what tools call the generation
LANE_RATES: Final = {
    "SDR": 2e9,
    "DDR": 4e9,
    "QDR": 8e9,
    "FDR10": 10e9,
    "FDR": 14.0625e9 * 64 / 66,
    "EDR": 25e9,
    "HDR": 50e9,
    "NDR": 100e9,
    "XDR": 200e9,
}
#: the same by the signalling rate of a lane [Gb/s] that iblinkinfo prints
_SIGNALLING: Final = {
    "2.5": "SDR",
    "5.0": "DDR",
    "5": "DDR",
    "10.0": "QDR",
    "10": "QDR",
    "10.3125": "FDR10",
    "14.0625": "FDR",
    "25.78125": "EDR",
    "53.125": "HDR",
    "106.25": "NDR",
    "212.5": "XDR",
}


def rate_of(width: str, generation: str) -> float | None:
    """Rate per direction [B/s] of ``4x``, ``NDR`` or its signalling rate; None where either is not known."""
    lanes = width.lower().removesuffix("x")
    lane = LANE_RATES.get(_SIGNALLING.get(generation, generation.upper()))
    return int(lanes) * lane / 8 if lane and lanes in ("1", "2", "4", "8", "12") else None

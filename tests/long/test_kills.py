"""Windows killed at random moments: nothing accepted is lost, everything is offered again, no file is unreadable."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

pytest.importorskip("PySide6", reason="the window belongs to the gui extra")

from tests.long.kills import Score, kill_one, screen, windows

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills a process the hard way")


def verdict(score: Score) -> None:
    logging.getLogger(__name__).info(
        "%d kills, %d edits accepted, %d designs offered again", score.kills, score.accepted, score.offered
    )
    assert not score.lost
    assert not score.unasked
    assert not score.unreadable


def test_a_few_kills(checkout: Path, tmp_path: Path) -> None:
    score = Score()
    with windows(checkout) as server:
        for seed in range(2):
            kill_one(server, tmp_path, seed, {"QT_QPA_PLATFORM": "offscreen"}, score)
    assert score.accepted
    verdict(score)


@pytest.mark.long
def test_two_hundred_kills_of_a_real_window(checkout: Path, tmp_path: Path) -> None:
    score = Score()
    with screen() as environment, windows(checkout) as server:
        for seed in range(200):
            # every ten kills another home: what was brought back piles up
            kill_one(server, tmp_path / str(seed // 10), seed, environment, score)
    assert score.kills == 200
    verdict(score)

"""A command that is stopped ends at once, however much it has worked out."""

from __future__ import annotations

import gc
from collections.abc import Sequence

import pytest

from designer.cli import main


def test_nothing_is_searched_for_garbage_when_a_command_is_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(_arguments: Sequence[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "_run", stopped)
    gc.unfreeze()
    try:
        assert main.run(["propose"]) == 2
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
    assert "stopped" in capsys.readouterr().err

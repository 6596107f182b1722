"""The page of an instant of a run: what limits, what waits since when, and what workloads lose to each other."""

from __future__ import annotations

from functools import cache

from designer.analysis.simulation import Simulation, simulate
from designer.analysis.simulation.rerouting import Failure
from designer.design.document import Design
from designer.engine.clock.frames import Frames
from designer.interchange.templates import open_design
from designer.pages.instant import page_of_instant
from designer.pages.simulate import losses
from designer.present.blocks import State


@cache
def _design() -> Design:
    return open_design("hgx-h100-8")


@cache
def _found(fails: bool) -> Simulation:
    failures = [Failure("psw0--nvme0", 1.0)] if fails else []
    return simulate(_design(), ["storage-to-gpus", "h2d"], until=2.0, failures=failures)


def test_the_headline_names_what_limits_at_the_instant() -> None:
    found = _found(False)
    page = page_of_instant(found, Frames(found.run), _design(), 0.5)
    assert page.state is State.ANSWERED
    assert " limit" in page.headline
    assert page.limits
    assert "--" not in page.headline
    assert page.remarks == tuple(losses(found))


def test_the_headline_names_who_waits_for_what_since_when() -> None:
    """The link of drive 0 fails at 1 s: before it nothing is stopped, after it the reader is, by 1 s."""
    found = _found(True)
    frames = Frames(found.run)
    assert page_of_instant(found, frames, _design(), 0.5).state is State.ANSWERED
    page = page_of_instant(found, frames, _design(), 1.5)
    assert page.state is State.MISSED
    assert page.chip == "Stopped since 1.00 s"
    assert page.headline == (
        "Local drives to all GPUs at once stopped at 1.00 s, because the link PCIe switch 0 – Drive 0 failed."
    )
    assert page.table is not None
    assert page.table.rows[0] == ("1.00 s", "The link PCIe switch 0 – Drive 0 fails")
    assert page.table.rows[-1] == ("2.00 s", "End")

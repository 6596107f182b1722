"""Parts that a workload names are not equivalent to those it leaves alone, though no link tells them apart."""

from __future__ import annotations

from designer.decisions.failures_survey import survive
from designer.interchange.templates import open_design


def test_the_gpu_of_a_control_loop_stops_it_and_the_other_does_not() -> None:
    """Both L4 hang at one processor and neither receives frames over its link: by hand 1 of 2 stops the loop."""
    losses = [loss for loss in survive(open_design("edge-robot-cell"), "arm").losses if loss.kind == "gpu"]
    assert sorted(loss.share for loss in losses) == [0.0, 1.0]
    assert all(len(loss.members) == 1 for loss in losses)

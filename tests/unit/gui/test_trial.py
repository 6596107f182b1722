"""A what-if next to the design: the numbers one asks for first, also where the trial cannot state one."""

from __future__ import annotations

import designer
from designer.engine.results import WorkloadResult
from designer.gui.viewmodels import trial
from designer.interchange.overrides import overridden
from designer.present.words import metric_title


def served(*sets: str) -> WorkloadResult:
    design = overridden(designer.open_design("serving-l40s-4"), ["workloads.chat-8b.count=200", *sets])
    return designer.analyze(design, ["chat-8b"]).workloads[0]


def test_a_trial_of_serving_tells_waits_before_counts() -> None:
    now, then = served(), served("gpu*.memory_bandwidth=1.7 TB/s")
    rows = trial.rows(now, then)
    titles = [metric_title(name, "inference") for name in ("ttft", "tpot", "tokens_per_second")]
    assert [row.title for row in rows] == [*titles, "Limited by"]
    assert rows[1].tone == "good"


def test_a_trial_that_cannot_keep_up_tells_no_wait() -> None:
    rows = trial.rows(served(), served("workloads.chat-8b.rate=500 1/s"))
    assert [(row.trial, row.change, row.tone) for row in rows[:2]] == [("–", "no longer shown", "bad")] * 2
    back = trial.rows(served("workloads.chat-8b.rate=500 1/s"), served())
    assert [(row.now, row.tone) for row in back[:2]] == [("–", "good")] * 2
    assert trial.verdict(rows).endswith("(no longer shown).")

"""Collectives and whatever else has no chapter of its own: figures with bands and curves."""

from __future__ import annotations

from designer.report.chapter import ChapterKind
from designer.report.document import Chapter
from designer.report.pages import answer_chapter
from designer.report.subject import Context, Subject, is_served

#: kinds with chapters of their own
_ELSEWHERE = ("training", "migration", "transfer")


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where every workload has another."""
    others = [w for w in subject.results if w.kind not in _ELSEWHERE and not is_served(w)]
    topic = "Collectives" if all(w.kind == "collective" for w in others) else "Further results"
    question = "What do the other workloads reach?"
    return answer_chapter(
        context, subject, "results", topic, question, others, figures=("size-sweep", "time-over-size")
    )


CHAPTER = ChapterKind("results", "Further results", 60, of_design=build)

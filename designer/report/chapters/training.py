"""Training: where a step goes, how far it scales, memory, and what limits each model."""

from __future__ import annotations

from designer.report.chapter import ChapterKind
from designer.report.document import Chapter
from designer.report.pages import answer_chapter
from designer.report.subject import Context, Subject

_QUESTION = "Where does a step go, and how far does it scale?"


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where nothing is trained."""
    figures = ("throughput", "scaling", "scaling-losses")
    return answer_chapter(
        context, subject, "training", "Training", _QUESTION, subject.of_kind("training"), figures=figures
    )


CHAPTER = ChapterKind("training", "Training", 40, of_design=build)

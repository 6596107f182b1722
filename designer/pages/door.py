"""The public door to pages: the answer of a workload as a page, for scripts and notebooks."""

from __future__ import annotations

from dataclasses import fields

from designer.checks.analysing import analyze
from designer.decisions.fitting import fitting_settings
from designer.design.document import Design
from designer.pages.workload import overview, page_of
from designer.present.blocks import Page
from designer.present.markdown import to_markdown


class NotebookPage(Page):
    """A page that a notebook shows as Markdown."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return to_markdown(self)


def page(design: Design, workload: str = "", file: str = "DESIGN") -> NotebookPage:
    """The page of a workload: a sentence that answers, key figures, what limits, what to change.

    A notebook shows it as it is; ``designer.present.markdown.to_markdown`` writes it.

    Parameters
    ----------
    workload
        Id of the workload; of a design with several, an overview where none is given.
    file
        How commands on the page name the design.

    Raises
    ------
    AnalysisError
        If there is no such workload, or it cannot run.
    """
    found = analyze(design, [workload] if workload else None)
    pages = [
        page_of(w, design, file, fitting=fitting_settings(design, w.id) if w.unfit is not None else ())
        for w in found.workloads
    ]
    made = pages[0] if len(pages) == 1 else overview(pages, design, file)
    return NotebookPage(**{field.name: getattr(made, field.name) for field in fields(made)})

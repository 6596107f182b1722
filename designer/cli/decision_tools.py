"""Decisions as tools for assistants: import, suggest, survive, simulate, compare, accept, size, propose, cabling.

Each answers with a page in Markdown of at most 2 kB. ``full`` adds the whole document, as the command has it with
``--json``; ``written`` names the file where a call wrote one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from designer.analysis.simulation import simulate
from designer.cli.decision_documents import (
    proposals_document,
    requests_per_second,
    simulation_document,
    size_document,
    suggestions_document,
    survey_document,
)
from designer.cli.design_tools import DesignTools, answer_of, reply_of
from designer.contrib.proposals.page import page_of_proposals
from designer.contrib.proposals.reading import read_wanted
from designer.contrib.proposals.search import propose
from designer.decisions.acceptance import Judged, Machine, Promises, expected
from designer.decisions.acceptance_causes import explain
from designer.decisions.acceptance_results import read
from designer.decisions.comparing import compare, explained
from designer.decisions.failures_survey import survive
from designer.decisions.serving_size import size_serving
from designer.decisions.suggest import STEPS_LIMIT, suggest
from designer.design.query import summarize
from designer.engine.network import build_network
from designer.errors import FormatError
from designer.families.serving.tasks import Serve
from designer.interchange.importing import read_bytes
from designer.pages.accept import page_of_results, page_of_tests
from designer.pages.imported import page_of_import
from designer.pages.simulate import page_of_simulation
from designer.pages.size import page_of_size
from designer.pages.suggest import page_of_suggestions
from designer.pages.survive import page_of_failures
from designer.report.tables.order import order
from designer.testing.page import page_of_comparison
from designer.workload.kind import task_of

if TYPE_CHECKING:
    from designer.design.document import Design

#: pasted texts are at most so long
_PASTED_LIMIT: Final = 4_000_000


class DecisionTools:
    """The tools.

    Parameters
    ----------
    designs
        The tools for designs, which open and save files of the folder.
    """

    def __init__(self, designs: DesignTools) -> None:
        self.designs = designs

    @property
    def tools(self) -> Sequence[Any]:
        """The methods that are tools."""
        return (
            self.import_machine,
            self.suggest,
            self.survive,
            self.simulate,
            self.compare,
            self.accept,
            self.size,
            self.propose,
            self.cabling,
        )

    @property
    def writing(self) -> frozenset[str]:
        """Names of those that may write a file."""
        return frozenset({"import_machine", "suggest"})

    def import_machine(
        self, text: str, format: str = "", save_as: str = "", dry_run: bool = True, full: bool = False
    ) -> dict[str, Any]:
        """Read a pasted dump of a machine or fabric: nvidia-smi topo -m, hwloc, lspci, ibnetdiscover and others.

        save_as names the design file to write, with dry_run false.
        """

        if len(text) > _PASTED_LIMIT:
            raise FormatError("the pasted text is too long", place="text", remedy="paste the dump of one machine")
        imported = read_bytes(text.encode("utf-8", "replace"), format or None, "pasted text")
        design = imported.design
        stated = summarize(design, save_as or design.name)
        page = page_of_import(design, stated["parts"], imported.findings, "pasted text", save_as)
        answer = answer_of(page, full, lambda: {**stated, "findings": [str(f.text) for f in imported.findings]})
        return {**answer, "written": self._save(design, save_as, dry_run)}

    def suggest(
        self,
        design: str,
        workload: str = "",
        steps: int = 3,
        save_as: str = "",
        dry_run: bool = True,
        full: bool = False,
    ) -> dict[str, Any]:
        """Which changes make a workload faster, the best first; save_as writes the design with all of them applied."""

        if not 1 <= steps <= STEPS_LIMIT:
            raise FormatError(f"{steps} steps", place="steps", remedy=f"give 1 to {STEPS_LIMIT}")
        drawn = self._open(design)
        found = suggest(drawn, workload or None, steps=steps)
        answer = answer_of(page_of_suggestions(found, drawn, design), full, lambda: suggestions_document(found))
        for step in found.steps:
            drawn = step.edit.apply(drawn)
        return {**answer, "written": self._save(drawn, save_as, dry_run)}

    def survive(self, design: str, workload: str = "", full: bool = False) -> dict[str, Any]:
        """What is left of a workload after each single failure, the worst first."""

        drawn = self._open(design)
        found = survive(drawn, workload or None)
        return answer_of(page_of_failures(found, drawn, design), full, lambda: survey_document(found))

    def simulate(self, design: str, workloads: list[str] | None = None, full: bool = False) -> dict[str, Any]:
        """Workloads together over time: how long each takes, and what slows it down."""

        drawn = self._open(design)
        found = simulate(drawn, workloads or None, file=design)
        page = page_of_simulation(found, drawn, design, tuple(found.findings))
        return answer_of(page, full, lambda: simulation_document(found, list(found.findings)))

    def compare(self, a: str, b: str, full: bool = False) -> dict[str, Any]:
        """What differs between two designs, and why their metrics do."""

        first, second = self._open(a), self._open(b)
        found = compare(first, second)

        def document() -> dict[str, Any]:
            metrics = [(m, {"workload": m.workload, "name": m.name, "unit": m.unit}) for m in found.metrics]
            stated = [{**head, "a": m.before, "b": m.after, "why": explained(m)} for m, head in metrics]
            return {"changes": list(found.changes), "metrics": stated}

        return answer_of(page_of_comparison(found, first, second, (a, b)), full, document)

    def accept(self, design: str, results: str = "", full: bool = False) -> dict[str, Any]:
        """Which tests accept the built machine, with limits; what pasted results mean, and the likely cause."""

        drawn = self._open(design)
        if not results:
            rows = expected(drawn)
            tests = [
                {"test": e.trial.id, "command": e.trial.command, "limit": e.limit, "unit": e.estimate.unit}
                for e in rows
            ]
            return answer_of(page_of_tests(rows, drawn, design), full, lambda: {"tests": tests})
        machine = Machine(drawn)
        promises = Promises(machine)
        found = ((promises.of(r.trial), r.value) for r in read(results, machine, "results"))
        judged = [Judged(promise, value) for promise, value in found if promise is not None]
        if not judged:
            raise FormatError("none of these results can be judged", place="results", remedy="ask for the tests first")
        causes = explain(machine, judged)
        rows_ = [{"test": j.expected.trial.id, "measured": j.measured, "passed": j.passed} for j in judged]
        return answer_of(page_of_results(judged, causes, drawn, design), full, lambda: {"results": rows_})

    def size(self, design: str, workload: str, full: bool = False) -> dict[str, Any]:
        """How many accelerators a serving workload of a design needs for its load and limits."""

        drawn = self._open(design)
        spec = drawn.workloads.get(workload)
        if spec is None or spec.kind != "serving":
            served = ", ".join(w.id for w in drawn.workloads.values() if w.kind == "serving")
            raise FormatError(
                f"{workload!r} serves nothing", place="workload", remedy=f"use {served or 'another design'}"
            )
        place = f"workloads.{workload}"
        task = task_of("serving", spec.settings, place, Serve)
        assert task is not None
        operation = task.operation
        found = size_serving(build_network(drawn), operation, place)
        rate = requests_per_second(spec.settings)
        page = page_of_size(found, drawn, spec.title, rate, operation.limits, design, workload)
        return answer_of(page, full, lambda: size_document(found))

    def propose(
        self, goal: str, settings: list[str], within: str = "", limits: list[str] | None = None, full: bool = False
    ) -> dict[str, Any]:
        """Designs for a goal within limits, the best first: goal is a kind of workload, settings are NAME=VALUE."""

        self.designs.demand_inside([*settings, *(limits or ())])
        wanted = read_wanted(goal, settings, within=within or None, limits=limits or ())
        found = propose(wanted)
        return answer_of(page_of_proposals(found), full, lambda: proposals_document(found))

    def cabling(self, design: str, media: str = "any", full: bool = False) -> dict[str, Any]:
        """Cables and transceivers to order, with part numbers; media any, or optical without copper."""

        if media not in ("any", "optical"):
            raise FormatError(f"{media[:40]!r} is no choice", place="media", remedy="use any or optical")
        lines = order(self._open(design), "optical" if media == "optical" else "any")
        rows = [
            {
                "product": line.title,
                "part": line.part,
                "number": line.number,
                "length": line.length,
                "count": line.count,
                "spares": line.spares,
            }
            for line in lines
        ]
        text = "\n".join(f"- {line.count:,} × {line.title}{_metres(line.length)}" for line in lines)
        return reply_of(text or "No network cables are drawn.", full, lambda: {"lines": rows})

    def _open(self, name: str) -> Design:
        return self.designs.opened(name)

    def _save(self, design: Design, save_as: str, dry_run: bool) -> str | None:
        if dry_run:
            return None
        if not save_as:
            raise FormatError("a file to write is needed", place="save_as", remedy="name it, as mine.design.json")
        return self.designs.saved(design, save_as)


def _metres(length: float) -> str:
    return "" if math.isnan(length) else f", {length:g} m"

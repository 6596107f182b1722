"""Doors that fail loudly: what is added as one file is found, whole, and listed once."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from designer.catalog.parttype import part_kinds
from designer.contrib import ENTRY_POINTS
from designer.engine.costs.pricing import CostKind
from designer.interchange.exporting import exporters
from designer.interchange.importing import importers
from designer.report.figure_kinds import OF_CURVES, figure_kinds
from designer.resources import assets
from designer.rules.rule import rules
from designer.workload.kind import workload_kinds
from designer.workload.program import Program
from designer.workload.program.tasks import Task
from tests.source_trees import tree_of, trees

pytestmark = pytest.mark.xdist_group("sources")

ROOT = Path(__file__).resolve().parents[2] / "designer"


def files(folder: str) -> set[str]:
    """Names of the files of a folder that represent one thing each."""
    return {path.stem for path in (ROOT / folder).glob("[!_]*.py")}


def modules_of(*packages: str) -> list[Any]:
    """Modules below some packages."""
    return [
        importlib.import_module(info.name)
        for package in packages
        for info in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
    ]


COSTS = {
    (module.__name__, cost.task): cost
    # the phases of a timetable are answers of workloads, so a decision prices them
    for module in modules_of("designer.engine", "designer.families", "designer.decisions")
    for cost in (getattr(module, "COST", None), *getattr(module, "COSTS", ()))
    if isinstance(cost, CostKind)
}
TASKS = {
    thing
    for module in modules_of("designer.workload.program", "designer.families")
    for thing in vars(module).values()
    if isinstance(thing, type) and issubclass(thing, Task) and thing is not Task and thing.priced_by
}


@pytest.mark.parametrize("kind", workload_kinds())
def test_every_workload_kind_is_answered(kind: str) -> None:
    found = workload_kinds()[kind]
    if found.search:
        module = importlib.import_module(found.search)
        assert get_type_hints(module.answer).keys() >= {"network", "settings", "question"}
        return
    assert found.program is not None, "give it a program or a search"
    assert get_type_hints(found.program)["return"] is Program
    module = importlib.import_module(found.answer)
    assert get_type_hints(module.answer).keys() == {"network", "program", "question", "return"}


@pytest.mark.parametrize("task", sorted(TASKS, key=lambda c: c.__name__), ids=lambda c: c.__name__)
def test_every_task_has_a_price(task: Any) -> None:
    assert (task.priced_by, task) in COSTS, f"no module {task.priced_by} with a COST of it"


def test_every_price_is_that_of_a_task() -> None:
    assert {cost.task for cost in COSTS.values()} == TASKS


@pytest.mark.parametrize("kind", part_kinds())
def test_every_part_kind_has_an_icon(kind: str) -> None:
    assert (assets() / "icons" / f"{kind}.toml").is_file(), f"draw assets/icons/{kind}.toml"


def test_every_icon_of_a_kind_is_of_a_part_kind() -> None:
    """Next to them: a group, what is not known, and the icons of the window in one file."""
    icons = {path.stem for path in (assets() / "icons").glob("*.toml")}
    assert icons - set(part_kinds()) == {"group", "unknown", "window"}


def test_every_importer_exporter_and_figure_is_found() -> None:
    assert len(importers()) == len(files("interchange/importers")) + len(ENTRY_POINTS["designer.importers"])
    # the native format is among those one can write
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "interchange" / "exporters").glob("[!_]*.py")]
    written = sum(len(re.findall(r"\bExporter\(", text)) for text in texts) + len(ENTRY_POINTS["designer.exporters"])
    assert len(exporters()) - 1 == written
    assert len(figure_kinds()) == len(files("report/figures")) + len(OF_CURVES)


def test_every_rule_is_in_a_folder_that_is_searched() -> None:
    written = [path for path in ROOT.rglob("rules/**/[!_]*.py") if re.match(r"[a-z]+\d{3}_", path.name)]
    assert {path.parent.name for path in written if "families" not in path.parts} == {"general"}
    assert {path.parent.name for path in written if "families" in path.parts} == {"rules"}
    assert len([rule for rule in rules().values() if not rule.text]) == len(written)


def test_every_figure_is_shown_in_a_panel() -> None:
    """A figure names its dock; the panels name those they show."""
    said = {
        node.value
        for path in (*(ROOT / "gui" / "panels").glob("*.py"), ROOT / "gui" / "places.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert {kind.dock for kind in figure_kinds().values()} - said == set()


def test_nothing_is_found_by_the_text_of_a_name() -> None:
    """Names of classes are for people: what belongs together says so itself."""
    offenders = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func) in {"re.sub", "re.match", "re.search", "re.fullmatch", "re.findall"}
        and any(isinstance(n, ast.Attribute) and n.attr == "__name__" for a in node.args for n in ast.walk(a))
    ]
    assert offenders == []

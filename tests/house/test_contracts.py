"""The stairs are guarded: imports only go down, Qt stays in the window, neighbours do not meet."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("importlinter", reason="import-linter belongs to the dev extra")

#: a tree with every room the contracts name; packages are those that contain something
ROOMS = """
__main__ cli.main cli.commands.check
gui.app gui.main_window gui.actions.file gui.canvas.scene gui.dialogs.about gui.figures.plot gui.panels.parts
gui.itemmodels.table gui.session gui.workers gui.viewmodels.parts gui.theme
interchange.native.reader interchange.native.upgrades.v1_to_v2 interchange.importers.hwloc interchange.importers.nccl
interchange.exporters.graphml interchange.exporters.pictures
drawing.compose
interchange.generators.torus interchange.generators.dragonfly
contrib.proposals.families.hosts contrib.proposals.families.training_cluster contrib.ufm contrib.netq
pages.sweep present.blocks
report.figures.roofline report.figures.timeline report.chapters.cost report.chapters.power
decisions.sweep decisions.faults.hosts decisions.faults.gpus
rules.rule rules.general.lnk001 rules.general.lnk002 rules.general.pow001
analysis.study analysis.simulation
families.training.kinds.training families.training.kinds.elastic families.training.page families.training.rules.trn001
families.serving.page families.serving.metrics families.serving.formulas.kv families.machines.page
engine.clock engine.flows.maxmin engine.routes.routing.ecmp engine.routes.routing.shortest engine.network engine.results
design.document design.geometry design.edits.parts design.edits.links
catalog.parttype catalog.kinds.compute catalog.kinds.stores catalog.linkkinds.host catalog.linkkinds.network
workload.kind workload.jobs
formulas.formula formulas.collectives.ring formulas.memory.kv
fields findings registry resources sources units errors plain_text
"""

#: who imports what he must not; and the contract that refuses it
OFFENCES = [
    ("formulas.memory.kv", "designer.design.document", "Floors: imports only go down"),
    ("catalog.parttype", "designer.workload.jobs", "Floors: imports only go down"),
    ("cli.commands.check", "designer.gui.app", "Floors: imports only go down"),
    ("units", "designer.sources", "Floors: imports only go down"),
    ("utils", "designer.errors", "Floors: imports only go down"),
    ("engine.network", "designer.engine.clock", "Inside the engine"),
    ("engine.tools", "designer.errors", "Inside the engine"),
    ("engine.clock", "designer.families.serving.metrics", "The engine knows no family"),
    ("families.training.page", "designer.families.machines.page", "Families do not know each other"),
    ("families.training.page", "designer.report.figures.roofline", "A page knows no widget"),
    ("interchange.importers.nccl", "designer.interchange.native.reader", "Inside interchange"),
    ("gui.viewmodels.parts", "PySide6.QtCore", "Qt lives in gui only"),
    ("report.figures.roofline", "pyqtgraph", "Qt lives in gui only"),
    ("fields", "PySide6", "Qt lives in gui only"),
    ("drawing.compose", "PySide6.QtGui", "Qt lives in gui only"),
    ("families.machines.page", "designer.families.serving.page", "Pages of families do not know each other"),
    ("drawing.compose", "designer.report.figures.roofline", "Floors: imports only go down"),
    ("analysis.study", "designer.decisions.sweep", "Floors: imports only go down"),
    ("decisions.sweep", "designer.report.figures.roofline", "Floors: imports only go down"),
    ("decisions.sweep", "PySide6.QtCore", "Qt lives in gui only"),
    ("engine.network", "designer.design.geometry", "The engine numbers channels"),
    ("formulas.collectives.ring", "pydantic", "Formulas know numbers"),
    ("formulas.collectives.ring", "networkx", "Formulas know numbers"),
    ("families.serving.formulas.kv", "pydantic", "Formulas know numbers"),
    ("interchange.native.upgrades.v1_to_v2", "designer.design.document", "Upgrades read raw data"),
    ("catalog.kinds.compute", "designer.catalog.kinds.stores", "Part kinds"),
    ("catalog.linkkinds.network", "designer.catalog.linkkinds.host", "Link kinds"),
    ("families.training.kinds.training", "designer.families.training.kinds.elastic", "Workload kinds"),
    ("design.edits.links", "designer.design.edits.parts", "Edits"),
    ("engine.routes.routing.ecmp", "designer.engine.routes.routing.shortest", "Routing algorithms"),
    ("rules.general.pow001", "designer.rules.general.lnk001", "Rules"),
    ("interchange.importers.hwloc", "designer.interchange.importers.nccl", "Importers"),
    ("interchange.exporters.pictures", "designer.interchange.exporters.graphml", "Exporters"),
    ("report.figures.timeline", "designer.report.figures.roofline", "Figures"),
    ("interchange.generators.torus", "designer.interchange.generators.dragonfly", "Generators"),
    ("contrib.ufm", "designer.contrib.netq", "Packages of contrib do not know each other"),
    ("interchange.importers.hwloc", "designer.contrib.ufm", "Floors: imports only go down"),
    ("contrib.proposals.families.hosts", "designer.contrib.proposals.families.training_cluster", "Families of designs"),
    ("report.chapters.cost", "designer.report.chapters.power", "Chapters"),
    ("decisions.faults.hosts", "designer.decisions.faults.gpus", "Kinds of faults"),
    ("design.document", "designer.design.edits.parts", "No cycles"),
]
#: the second half of the cycle planted above is lawful by itself
LAWFUL = [
    ("design.edits.parts", "designer.design.document"),
    ("rules.general.lnk002", "designer.engine.routes.routing.ecmp"),
    ("gui.panels.parts", "PySide6.QtWidgets"),
    ("formulas.collectives.ring", "numpy"),
    ("interchange.importers.hwloc", "designer.design.edits.parts"),
    ("__main__", "designer.cli.main"),
    ("__main__", "designer.gui.app"),
    # The public door opens downwards and nobody below goes through it.
    ("__init__", "designer.analysis.study"),
    ("__init__", "designer.interchange.native.reader"),
]


def test_the_tree_keeps_its_contracts(checkout: Path, tmp_path: Path) -> None:
    code, said = _lint(checkout, checkout / "pyproject.toml", tmp_path)
    assert code == 0, said


def test_a_lawful_tree_is_accepted(checkout: Path, tmp_path: Path) -> None:
    _build(tmp_path, LAWFUL)
    code, said = _lint(tmp_path, checkout / "pyproject.toml", tmp_path)
    assert code == 0, said


def test_an_almost_empty_tree_is_accepted(checkout: Path, tmp_path: Path) -> None:
    """No contract forces a room to exist before its first real file does."""
    _build(tmp_path, [], rooms="fields findings registry resources sources units errors plain_text")
    code, said = _lint(tmp_path, checkout / "pyproject.toml", tmp_path)
    assert code == 0, said


@pytest.fixture(scope="module")
def refused(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said of each broken contract when all offences are planted at once."""
    folder = tmp_path_factory.mktemp("offences")
    _build(folder, LAWFUL + [(who, what) for who, what, _ in OFFENCES])
    code, said = _lint(folder, checkout / "pyproject.toml", folder)
    assert code == 1, said
    chapters: dict[str, str] = {}
    lines = said[said.index("Broken contracts") :].splitlines()
    title = ""
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line and below == "-" * len(line):
            title = line
        chapters[title] = chapters.get(title, "") + line + "\n"
    return chapters


@pytest.mark.parametrize(("who", "what", "contract"), OFFENCES)
def test_an_offence_is_refused_by_name(refused: dict[str, str], who: str, what: str, contract: str) -> None:
    chapter = next((text for title, text in refused.items() if title.startswith(contract)), None)
    assert chapter is not None, f"{contract!r} accepts designer.{who} -> {what}; it broke only {sorted(refused)}"
    culprit = f".{who.split('.')[-1 if '.' in who else 0]}"
    assert culprit in chapter


def test_every_contract_has_an_offence_that_breaks_it(checkout: Path) -> None:
    settings = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    broken_by = [contract for _, _, contract in OFFENCES]
    untested = [c["name"] for c in settings["contracts"] if not any(c["name"].startswith(b) for b in broken_by)]
    assert untested == []


def _build(folder: Path, imports: list[tuple[str, str]], rooms: str = ROOMS) -> None:
    modules = {*rooms.split(), *(who for who, _ in imports)}
    for module in sorted(modules):
        file = folder / "designer" / (module.replace(".", "/") + ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        for parent in file.relative_to(folder).parents[:-1]:
            (folder / parent / "__init__.py").touch()
    for who, what in imports:
        with (folder / "designer" / (who.replace(".", "/") + ".py")).open("a", encoding="utf-8") as file:
            file.write(f"import {what}\n")


def _lint(folder: Path, settings: Path, cache: Path) -> tuple[int, str]:
    # A process of its own: the linter finds the tree as the importable package `designer`.
    program = (
        "import sys; sys.path.insert(0, ''); from importlinter.cli import lint_imports; "
        f"sys.exit(lint_imports(config_filename={str(settings)!r}, cache_dir={str(cache / 'cache')!r}, no_logo=True))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={"PATH": "/usr/bin:/bin", "PYTHONUTF8": "1", "NO_COLOR": "1", "COLUMNS": "200"},
    )
    return done.returncode, done.stdout + done.stderr

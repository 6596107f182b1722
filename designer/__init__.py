"""designer: design the machines that train and serve AI models.

>>> import designer
>>> design = designer.open_design("a-template-id-or.design.json")  # doctest: +SKIP
>>> designer.summarize(design)["parts"]  # doctest: +SKIP

Names are opened when they are first used, so that importing one formula does not load the house.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from designer.analysis.simulation import simulate
    from designer.catalog.loader import load_catalog
    from designer.checks.analysing import analyze
    from designer.contrib.proposals.reading import read_wanted
    from designer.contrib.proposals.search import propose
    from designer.design.graph import to_networkx
    from designer.design.legality import can_connect
    from designer.design.query import summarize
    from designer.interchange.exporting import write_design as export_design
    from designer.interchange.importing import read_any as import_design
    from designer.interchange.native.writer import save as save_design
    from designer.interchange.scripting import edit, sweep, with_workload
    from designer.interchange.templates import open_design
    from designer.notebook.figures import figures, to_matplotlib, to_plotly
    from designer.notebook.frames import frames
    from designer.pages.door import page
    from designer.report.assembly import compose_report
    from designer.report.renderers.viewer import view
    from designer.report.run_power import run_power
    from designer.rules.door import check

#: public name → module and name in it
_DOORS = {
    "analyze": ("designer.checks.analysing", "analyze"),
    "can_connect": ("designer.design.legality", "can_connect"),
    "check": ("designer.rules.door", "check"),
    "edit": ("designer.interchange.scripting", "edit"),
    "export_design": ("designer.interchange.exporting", "write_design"),
    "figures": ("designer.notebook.figures", "figures"),
    "frames": ("designer.notebook.frames", "frames"),
    "import_design": ("designer.interchange.importing", "read_any"),
    "load_catalog": ("designer.catalog.loader", "load_catalog"),
    "open_design": ("designer.interchange.templates", "open_design"),
    "page": ("designer.pages.door", "page"),
    "propose": ("designer.contrib.proposals.search", "propose"),
    "read_wanted": ("designer.contrib.proposals.reading", "read_wanted"),
    "run_power": ("designer.report.run_power", "run_power"),
    "save_design": ("designer.interchange.native.writer", "save"),
    "simulate": ("designer.analysis.simulation", "simulate"),
    "summarize": ("designer.design.query", "summarize"),
    "sweep": ("designer.interchange.scripting", "sweep"),
    "compose_report": ("designer.report.assembly", "compose_report"),
    "to_matplotlib": ("designer.notebook.figures", "to_matplotlib"),
    "to_networkx": ("designer.design.graph", "to_networkx"),
    "to_plotly": ("designer.notebook.figures", "to_plotly"),
    "view": ("designer.report.renderers.viewer", "view"),
    "with_workload": ("designer.interchange.scripting", "with_workload"),
}


def __getattr__(name: str) -> Any:
    if name not in _DOORS:
        raise AttributeError(f"module 'designer' has no attribute {name!r}")
    module, attribute = _DOORS[name]
    thing = globals()[name] = getattr(importlib.import_module(module), attribute)
    return thing


def __dir__() -> list[str]:
    return sorted({*globals(), *_DOORS})


__all__ = [
    "analyze",
    "can_connect",
    "check",
    "compose_report",
    "edit",
    "export_design",
    "figures",
    "frames",
    "import_design",
    "load_catalog",
    "open_design",
    "page",
    "propose",
    "read_wanted",
    "run_power",
    "save_design",
    "simulate",
    "summarize",
    "sweep",
    "to_matplotlib",
    "to_networkx",
    "to_plotly",
    "view",
    "with_workload",
]

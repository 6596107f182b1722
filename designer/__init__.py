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
    from designer.design.graph import to_networkx
    from designer.design.query import summarize
    from designer.interchange.native.writer import save as save_design
    from designer.interchange.proposing import propose
    from designer.interchange.templates import open_design
    from designer.interchange.wanted import read_wanted
    from designer.report.assembly import compose_report
    from designer.report.renderers.viewer import view
    from designer.rules.door import check

#: public name → module and name in it
_DOORS = {
    "analyze": ("designer.checks.analysing", "analyze"),
    "check": ("designer.rules.door", "check"),
    "load_catalog": ("designer.catalog.loader", "load_catalog"),
    "open_design": ("designer.interchange.templates", "open_design"),
    "propose": ("designer.interchange.proposing", "propose"),
    "read_wanted": ("designer.interchange.wanted", "read_wanted"),
    "save_design": ("designer.interchange.native.writer", "save"),
    "simulate": ("designer.analysis.simulation", "simulate"),
    "summarize": ("designer.design.query", "summarize"),
    "compose_report": ("designer.report.assembly", "compose_report"),
    "to_networkx": ("designer.design.graph", "to_networkx"),
    "view": ("designer.report.renderers.viewer", "view"),
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
    "check",
    "compose_report",
    "load_catalog",
    "open_design",
    "propose",
    "read_wanted",
    "save_design",
    "simulate",
    "summarize",
    "to_networkx",
    "view",
]

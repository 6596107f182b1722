"""Rich display in notebooks, for documents and results that know nothing of HTML."""

from __future__ import annotations

import importlib


class Displayed:
    """Adds ``_repr_html_``, the method with which IPython and Jupyter display an object.

    The HTML is made by ``designer.notebook.html``, found by name when a notebook first asks for it.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        return importlib.import_module("designer.notebook.html").html_of(self)

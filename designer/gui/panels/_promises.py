"""What a figure must keep: its menu, the question for a value, and the step that writes it into the design."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QMenu, QWidget

from designer.errors import DesignerError
from designer.gui.session import Session
from designer.gui.viewmodels.promises import (
    SIGNS,
    Comparison,
    comparison_of,
    formula_of,
    promised,
    value_offered,
)
from designer.present.words import metric_title


def promise_menu(session: Session, metric: str, over: QWidget, formula: Callable[[str], object]) -> QMenu:
    """The menu of a figure of the shown answer; empty where neither more nor less of it is better.

    Parameters
    ----------
    formula
        Called with the promise as a formula, to be changed as one.
    """
    menu = QMenu(over)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    result = session.result
    estimate = result.metrics.get(metric) if result is not None else None
    usual = comparison_of(metric, result.kind) if result is not None else None
    if result is None or estimate is None:
        return menu
    order: tuple[Comparison, ...] = ("<=", ">=") if usual == "<=" else (">=", "<=")
    for comparison in order:
        text = value_offered(estimate, comparison)
        menu.addAction(
            f"Must stay {SIGNS[comparison]} {text}…", partial(ask_promise, session, metric, comparison, over)
        )
    menu.addSeparator()
    text = formula_of(result.id, metric, order[0], value_offered(estimate, order[0]))
    menu.addAction("As a formula…", partial(formula, text))
    return menu


def ask_promise(session: Session, metric: str, comparison: Comparison, over: QWidget) -> None:
    """Ask for the value that a figure must keep, and write the promise into the design as one step."""
    result = session.result
    estimate = result.metrics.get(metric) if result is not None else None
    if result is None or estimate is None:
        return
    question = f"{metric_title(metric, result.kind)} must stay {SIGNS[comparison]}"
    text, given = QInputDialog.getText(over, "Promise", question, text=value_offered(estimate, comparison))
    if not given or not text.strip():
        return
    try:
        edit = promised(session.design, result.id, metric, estimate.unit, comparison, text.strip())
    except DesignerError as error:
        session.warned.emit(f"{error.text}: {error.remedy}" if error.remedy else error.text)
        return
    session.seal()
    session.apply(edit)

"""The page of an answer to a question of the place Improve: headline, figures, cards, table and limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from designer.gui.controls import Button, Headline, Label
from designer.gui.layouts import FLUSH, in_column, in_row, scrolled
from designer.gui.panels._cards import Cards
from designer.gui.panels._page import Grid, LimitRow, Pool
from designer.gui.panels._panel import Panel
from designer.gui.panels._widgets import Table, dress, quiet
from designer.gui.search_job import SearchJob
from designer.gui.theme import Theme
from designer.gui.viewmodels.places import picked_of
from designer.gui.viewmodels.table import Cell, Column, Line
from designer.plain_text import in_one_line
from designer.present.blocks import Page, State
from designer.present.blocks import Table as Rows

if TYPE_CHECKING:
    from designer.gui.figures.view import FigureView
    from designer.report.figure import Figure

#: so many columns stay where there is little room
_FIRST: Final = 3
#: the most of the height a table takes, in rows; characters of a headline
_ROWS: Final = 12
_LONGEST: Final = 400
#: air in a cell, and the widest a column wants to be [px]
_AIR, _WIDEST = 18, 260
#: height of a chart [px]
_HIGH: Final = 260


class AskedPage(QWidget):
    """Shows a page.

    Signals
    -------
    chosen : ``Change``
        A card was pressed.
    wanted : ``tuple`` of ``str``
        What limits, or what a row is about, is to be shown on the canvas, by its ids.
    """

    chosen = Signal(object)
    wanted = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.page: Page | None = None
        self.chip = Label()
        self.chip.setObjectName("chip")
        self.headline = Headline(1.2, wrap=True)
        self.grid = Grid()
        self.limit_title, self.change_title = Label("What limits it", role="title"), Label(role="title")
        self.limits: Pool[LimitRow] = Pool(self._new_limit, 4)
        self.cards = Cards()
        self.cards.chosen.connect(self.chosen)
        self.table_title = Label(role="title")
        self.table = Table((), theme, "Rows of the answer", wrap=True, spare=True)
        self.table.selectionModel().selectionChanged.connect(self._chosen_row)
        self.remarks: Pool[Label] = Pool(lambda: quiet(""), 4)
        self.views: list[FigureView] = []
        self._figures = QVBoxLayout()
        page = QWidget()
        page.setObjectName("panel")
        in_column(
            in_row(self.chip, 1),
            self.headline,
            self.grid,
            self.change_title,
            self.cards,
            self.limit_title,
            self.limits,
            self.table_title,
            self.table,
            self.remarks,
            self._figures,
            1,
            on=page,
            margins=(14, 6, 12, 10),
            spacing=7,
        )
        in_column((scrolled(page), 1), on=self, margins=FLUSH)

    def _new_limit(self) -> LimitRow:
        row = LimitRow()
        row.wanted.connect(self.wanted)
        return row

    def show_page(self, page: Page, theme: Theme) -> None:
        """Show another page."""
        self.page, self.theme = page, theme
        self.chip.setText(page.chip_text)
        self.chip.setVisible(page.state not in (State.ANSWERED, State.NONE))
        dress(self.chip, "tone", str(page.state.tone) or "accent")
        self.headline.setText(in_one_line(page.headline, _LONGEST))
        for cell, figure in zip(self.grid.shown(len(page.figures)), page.figures, strict=True):
            cell.show_figure(figure, theme, False)
        self.grid.arrange()
        changes = [c for c in page.changes if c.edit is not None or c.place or c.detail or not c.command]
        self.change_title.setText(page.changes_title)
        self.change_title.setVisible(bool(changes))
        self.cards.show_changes(changes, theme)
        for row, limit in zip(self.limits.shown(len(page.limits)), page.limits, strict=True):
            row.show_limit(limit, theme)
        self.limit_title.setVisible(bool(page.limits))
        self._show_table(page.table, theme)
        for line, text in zip(self.remarks.shown(len(page.remarks)), page.remarks, strict=True):
            line.setText(text)

    def _show_table(self, rows: Rows | None, theme: Theme) -> None:
        shown = rows is not None and bool(rows.rows)
        self.table.setVisible(shown)
        self.table_title.setVisible(shown and bool(rows and rows.title))
        if rows is None or not shown:
            return
        self.table_title.setText(rows.title)
        self.table.set_theme(theme)
        # a number and its unit are one word
        texts = [
            [text.replace(" ", "\u00a0") if c.number else text for c, text in zip(rows.columns, row, strict=True)]
            for row in rows.rows
        ]
        metrics = self.table.fontMetrics()
        columns = [
            Column(
                c.title,
                number=c.number,
                width=min(max(metrics.horizontalAdvance(row[at]) for row in texts) + _AIR, _WIDEST),
                spare=at >= _FIRST,
            )
            for at, c in enumerate(rows.columns)
        ]
        self.table.lines.set_lines(
            [
                Line(tuple(Cell(text, tip=text, tone="bad" if n in rows.limits else "") for text in row), n)
                for n, row in enumerate(texts)
            ],
            columns,
        )
        line = metrics.height()
        self.table.setFixedHeight(round((min(len(rows.rows), _ROWS) * 2.6 + 3) * line))

    def _chosen_row(self, *_: object) -> None:
        ids = self.page.table.ids if self.page is not None and self.page.table is not None else ()
        numbers = [int(n) for n in self.table.keys() if isinstance(n, int)]  # noqa: SIM118
        found = tuple(i for n in numbers if n < len(ids) for i in ids[n])
        if found:
            self.wanted.emit(found)

    def show_figures(self, figures: Sequence[Figure]) -> None:
        """Show charts below the page; bars can be clicked, which asks for their thing on the canvas."""
        from designer.gui.figures.view import FigureView

        while len(self.views) < len(figures):
            view = FigureView(self.theme)
            view.picked.connect(self._picked)
            view.setFixedHeight(_HIGH)
            self.views.append(view)
            self._figures.addWidget(view)
        for number, view in enumerate(self.views):
            view.set_theme(self.theme)
            view.set_figure(figures[number] if number < len(figures) else None)
            view.setVisible(number < len(figures))

    def _picked(self, key: str) -> None:
        self.wanted.emit((key,))

    def entry(self) -> QWidget | None:
        """The first button of a card."""
        return next((card.button for card in self.cards.shown if card.button.isVisibleTo(card)), None)

    def setFocus(self, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        """The keys go to the first card."""
        first = self.entry()
        if first is not None:
            first.setFocus(reason)


class MeasuredPanel(Panel):
    """A panel that compares the design with a file or a server, shows the page of that, and colours the drawing by it.

    Parameters
    ----------
    go, run, take
        The button that asks, what it starts, and what shows the result, as in `SearchJob`.
    about
        What the drawing is coloured by.
    nothing
        What the page says before anything was asked.
    """

    def __init__(
        self,
        theme: Theme,
        parent: QWidget | None,
        go: str,
        run: Callable[[], object],
        take: Callable[[object], object],
        about: str,
        nothing: str,
    ) -> None:
        super().__init__(theme, parent)
        self.job = SearchJob(self, go, run, take)
        self.clear = Button("Show loads again", self._clear)
        self.view = AskedPage(theme)
        self.view.wanted.connect(self._reveal)
        self.page: Page | None = None
        self._about, self._nothing = about, Page("", State.NONE, nothing)

    def close_jobs(self) -> None:
        """Stop what runs."""
        self.job.close()

    def let_go(self) -> None:
        """Forget what was found."""
        self._forget()

    def refresh(self) -> None:
        """Show the page of what was found last."""
        session = self.session
        over = session.overlay if session is not None else None
        self.job.go.setEnabled(session is not None)
        self.clear.setVisible(over is not None and over.about == self._about)
        self.view.show_page(self.page or self._nothing, self.theme)

    def _reveal(self, ids: tuple[str, ...]) -> None:
        if self.session is not None:
            picked = [picked_of(self.session.design, i) for i in ids]
            self.session.reveal(p for p in picked if p is not None)

    def _clear(self, *_: object) -> None:
        if self.session is not None:
            self.session.clear_overlay(self._about)

    def _forget(self) -> None:
        self.job.cancel()
        self.job.problem.hide()
        self.page = None
        self._clear()
        self.outdate()

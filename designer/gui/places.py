"""The places of the window: which panels each holds, which of them is in front, and that all follow one session.

Five places share the side panel; the palette lies over the canvas, the pages of a run below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedWidget, QTabBar, QToolButton, QVBoxLayout, QWidget

from designer.gui.answer_head import AnswerHead
from designer.gui.controls import plain
from designer.gui.layouts import FLUSH, in_column, in_row
from designer.gui.panels._brief import Brief
from designer.gui.panels._panel import Panel, PanelKind, Place, Surroundings, panel_kinds
from designer.gui.panels.answer import AnswerPanel
from designer.gui.panels.built import BuiltPanel
from designer.gui.panels.checks import ChecksPanel
from designer.gui.panels.compare import ComparePanel
from designer.gui.panels.findings import FindingsPanel
from designer.gui.panels.improve import ImprovePanel
from designer.gui.panels.inspector import InspectorPanel
from designer.gui.panels.moment import MomentPanel
from designer.gui.panels.outline import OutlinePanel
from designer.gui.panels.parts import PartsPanel
from designer.gui.theme import Theme
from designer.gui.viewmodels.inspector import kind_of_selection
from designer.pages.simulate import losses
from designer.present.limits import limiting_links
from designer.present.numbers import counted

if TYPE_CHECKING:
    from designer.design.document import Design
    from designer.gui.documents import Document
    from designer.gui.session import Session

P = TypeVar("P", bound=Panel)
#: the places of the side panel, from left to right
SIDE: Final = (Place.ANSWER, Place.LINKS, Place.CHECKS, Place.IMPROVE, Place.TIME)

#: the order in which counts give way to names, and the margin at both ends of the names [px]
_LEAVES: Final = (Place.TIME, Place.LINKS, Place.IMPROVE, Place.CHECKS)
_MARGIN: Final = 6


def first_field(panel: QWidget) -> QWidget:
    """The first widget of a panel that takes keys, as one reads; the panel itself if none does.

    The chain of the focus is not followed: it leads through other panels, and Python would take what it finds there for
    children of this one, which end with it.
    """
    found: list[tuple[int, int, QWidget]] = []
    for child in panel.findChildren(QWidget):
        # an area that only scrolls has nothing to say to the keys
        takes = child.focusPolicy() & Qt.FocusPolicy.TabFocus and not isinstance(child, QScrollArea)
        if takes and child.isEnabled() and child.isVisibleTo(panel):
            at = child.mapTo(panel, QPoint(0, 0))
            found.append((at.y(), at.x(), child))
    return min(found, key=lambda each: each[:2])[2] if found else panel


class Book(QWidget):
    """Pages of one place, and a strip of their names where there are several.

    Signals
    -------
    turned : nothing
        Another page is in front.
    """

    turned = Signal()

    def __init__(self, kinds: list[PanelKind], below: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.names = [kind.name for kind in kinds]
        self.bar, self.stack = QTabBar(), QStackedWidget()
        self.bar.setObjectName("pages")
        self.bar.setDocumentMode(True)
        # hidden tabs count in the room Qt asks for, so buttons to scroll would come without need
        self.bar.setUsesScrollButtons(False)
        self.bar.setElideMode(Qt.TextElideMode.ElideNone)
        self.bar.setExpanding(False)
        self.bar.setDrawBase(False)
        self.frames: dict[str, QWidget] = {}
        for kind in kinds:
            frame = self.frames[kind.name] = QWidget()
            QVBoxLayout(frame).setContentsMargins(0, 0, 0, 0)
            self.stack.addWidget(frame)
            self.bar.addTab(kind.title)
        rows = [(self.stack, 1), self.bar] if below else [self.bar, (self.stack, 1)]
        in_column(*rows, on=self, margins=FLUSH, spacing=0)
        self.bar.currentChanged.connect(self._turn)
        self._fit()

    @property
    def current(self) -> str:
        """Name of the page in front."""
        return self.names[self.stack.currentIndex()]

    def _turn(self, at: int) -> None:
        self.stack.setCurrentIndex(max(at, 0))
        self._fit()
        self.turned.emit()

    def show_page(self, name: str) -> None:
        """Bring a page to the front."""
        at = self.names.index(name)
        self.bar.setTabVisible(at, True)
        self.bar.setCurrentIndex(at)
        self._fit()

    def offer(self, name: str, wanted: bool) -> None:
        """Name a page in the strip, or leave it out; the one in front stays."""
        at = self.names.index(name)
        self.bar.setTabVisible(at, wanted or at == self.stack.currentIndex())
        self._fit()

    def _fit(self) -> None:
        """A strip of one name says nothing."""
        self.bar.setVisible(sum(self.bar.isTabVisible(k) for k in range(self.bar.count())) > 1)

    def name_page(self, name: str, title: str) -> None:
        """Call a page otherwise."""
        at = self.names.index(name)
        if self.bar.tabText(at) != title:
            self.bar.setTabText(at, title)


class Palette(QFrame):
    """Parts, outline and history over the canvas; it comes and goes."""

    def __init__(self, book: Book, leave: Callable[[], object], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("floating")
        close = QToolButton()
        close.setText("✕")
        close.setAccessibleName("Close the palette")
        close.setToolTip(plain("Close the palette  (Esc)"))
        close.clicked.connect(leave)
        in_column(
            in_row(book.bar, 1, close, margins=(4, 2, 4, 0), spacing=0),
            (book, 1),
            on=self,
            margins=(1, 1, 1, 4),
            spacing=0,
        )


class _Panels(Mapping[str, Panel]):
    """Panels by name, each made when it is first asked for."""

    def __init__(self, kinds: Mapping[str, PanelKind], make: Callable[[str], Panel]) -> None:
        self._kinds, self._make = kinds, make

    def __getitem__(self, name: str) -> Panel:
        if name not in self._kinds:
            raise KeyError(name)
        return self._make(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


class Places(QFrame):
    """The side panel, and the books of the palette and of the run.

    Parameters
    ----------
    made
        Panels that are there already, by name.
    edit, run
        The action that edits the workload, and what does an action by its name.

    Signals
    -------
    wanted : ``Place``
        A place is to be seen: what it lies in has to be opened.
    widened : ``bool``
        Whether the side panel is to be wide.
    """

    wanted = Signal(object)
    widened = Signal(bool)

    def __init__(
        self, around: Surroundings, made: Mapping[str, Panel], edit: QAction, run: Callable[[str], object]
    ) -> None:
        super().__init__()
        self.setObjectName("side")
        self._around = around
        self._session: Session | None = None
        self._kinds = {kind.name: kind for kind in panel_kinds()}
        self._made: dict[str, Panel] = {}
        self._connections: list[tuple[Any, Callable[..., Any]]] = []
        #: all panels by name; asked for one that was never in front, it makes it
        self.panels: Mapping[str, Panel] = _Panels(self._kinds, self._panel)
        self._front: set[str] = set()
        self._counts: dict[Place, int] = {}
        self._make_soon = QTimer(self, singleShot=True, interval=0)
        self._make_soon.timeout.connect(self._make_seen)
        #: called when the keys go back to the canvas
        self.left: Callable[[], object] = lambda: None
        #: opens a proposed design
        self.opened: Callable[[Design], object] = lambda _design: None
        self.books = {
            place: Book([kind for kind in panel_kinds() if kind.place is place], below=place is Place.ANSWER)
            for place in Place
        }
        self.frames = {name: book.frames[name] for book in self.books.values() for name in book.names}
        self.tabs = QTabBar()
        self.tabs.setObjectName("places")
        self.tabs.setDocumentMode(True)
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)
        self.wide = QToolButton()
        self.wide.setObjectName("wide")
        self.wide.setText("⤢")
        self.wide.setCheckable(True)
        self.wide.setAccessibleName("Wide panel")
        self.wide.setToolTip(plain("Give the panel more room, or take it back  (Shift+F9)"))
        self.wide.toggled.connect(self.widened)
        self.head = AnswerHead(edit, run, around.theme)
        self.stack = QStackedWidget()
        for place in SIDE:
            self.tabs.addTab(place.value)
            self.stack.addWidget(self.books[place])
        in_column(
            in_row((self.tabs, 1), self.wide, margins=(_MARGIN, 2, _MARGIN, 0), spacing=0),
            self.head,
            (self.stack, 1),
            on=self,
            margins=(1, 0, 0, 0),
            spacing=0,
        )
        self.tabs.currentChanged.connect(self._turned)
        self.head.chosen.connect(lambda: self.books[Place.ANSWER].show_page("answer"))
        for book in self.books.values():
            book.turned.connect(self._look)
        for name, panel in made.items():
            self._take(name, panel)
        # those the window has to do with
        self.parts, self.outline = self._one("parts", PartsPanel), self._one("outline", OutlinePanel)
        self.inspector, self.findings = self._one("inspector", InspectorPanel), self._one("findings", FindingsPanel)
        self.answer, self.moment = self._one("answer", AnswerPanel), self._one("moment", MomentPanel)
        self.findings.counted.connect(self._count)
        #: the answer in short, for windows that have no room for the side panel
        self.brief = Brief(around.theme)
        self.brief.canvas_wanted.connect(lambda: self.left())

    @property
    def compare(self) -> ComparePanel:
        """The panel that compares two designs."""
        return self._one("compare", ComparePanel)

    @property
    def improve(self) -> ImprovePanel:
        """The panel of changes, sizes, sweeps and proposals."""
        return self._one("improve", ImprovePanel)

    @property
    def built(self) -> BuiltPanel:
        """The panel of a fabric as built."""
        return self._one("built", BuiltPanel)

    def _one(self, name: str, kind: type[P]) -> P:
        """A panel as what it is."""
        panel = self._panel(name)
        assert isinstance(panel, kind), name
        return panel

    def _panel(self, name: str) -> Panel:
        """A panel, made when it is first asked for."""
        if name not in self._made:
            self._take(name, self._kinds[name].build(self._around))
        return self._made[name]

    def _take(self, name: str, panel: Panel) -> None:
        self._made[name] = panel
        layout = self.frames[name].layout()
        assert layout is not None
        layout.addWidget(panel)
        # a layout shows it only when the event loop has been round, and what is not shown takes no keys
        panel.show()
        panel.canvas_wanted.connect(lambda: self.left())
        if isinstance(panel, ImprovePanel):
            panel.open_wanted.connect(self._open)
        panel.set_front(name in self._front)
        if self._session is not None:
            panel.set_session(self._session)

    def _open(self, design: Design) -> None:
        self.opened(design)

    # ---- which are seen

    @property
    def place(self) -> Place:
        """The place of the side panel that is in front."""
        return SIDE[self.stack.currentIndex()]

    def _turned(self, at: int) -> None:
        self.stack.setCurrentIndex(at)
        self._look()

    def look(self, *_: object) -> None:
        """Note which panels can be seen: the others are not redrawn, nor made before they are seen."""
        front = {book.current for place, book in self.books.items() if place not in SIDE or place is self.place}
        front = {name for name in front if self.frames[name].isVisible()}
        for name in front ^ self._front:
            if name in self._made:
                self._made[name].set_front(name in front)
        self._front = front
        if front - self._made.keys():
            # places come to the front for a moment while all is arranged
            self._make_soon.start()

    def _look(self) -> None:
        self._call()
        self.look()

    def _make_seen(self) -> None:
        for name in sorted(self._front - self._made.keys()):
            if self.frames[name].isVisible():
                self._panel(name)

    def bring(self, name: str, keys: bool = True) -> None:
        """Bring a panel to the front; with `keys` it takes them."""
        place = self._kinds[name].place
        self.books[place].show_page(name)
        if place in SIDE:
            self.tabs.setCurrentIndex(SIDE.index(place))
        self.wanted.emit(place)
        self.look()
        panel = self.panels[name]
        if keys:
            (panel.entry() or first_field(panel)).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def start_test(self, text: str) -> None:
        """Show the tests with a formula to change and add."""

        self.bring("checks")
        panel = self.panels["checks"]
        assert isinstance(panel, ChecksPanel)
        panel.start(text)

    def arrange(self) -> None:
        """The first page of each place, and the answer in front."""
        for book in self.books.values():
            book.bar.setCurrentIndex(0)
        self.tabs.setCurrentIndex(0)
        self.wide.setChecked(False)
        self.look()

    # ---- what is in them

    def _count(self, count: int, text: str, _errors: bool) -> None:
        """How many findings there are, behind the name of their place."""
        self._number(Place.CHECKS, count, f"Findings: {text}")

    def _number(self, place: Place, count: int, tip: str) -> None:
        """Write a count behind the name of a place, none for 0."""
        self.tabs.setTabToolTip(SIDE.index(place), plain(tip))
        if self._counts.get(place, 0) != count:
            self._counts[place] = count
            self._name_places()

    def _name_places(self) -> None:
        """Names of the places with the counts there is room for; those left out stay in the tips."""
        shown = {place: f"{place.value} {count:,}" for place, count in self._counts.items() if count}
        metrics = self.tabs.fontMetrics()
        names = [shown.get(place, self.tabs.tabText(0) if place is Place.ANSWER else place.value) for place in SIDE]
        written = sum(metrics.horizontalAdvance(self.tabs.tabText(at)) for at in range(len(SIDE)))
        around = self.tabs.sizeHint().width() - written
        room = self.width() - self.wide.sizeHint().width() - 2 * _MARGIN
        for place in _LEAVES:
            if around + sum(map(metrics.horizontalAdvance, names)) <= room:
                break
            names[SIDE.index(place)] = place.value
        for at, name in enumerate(names):
            if name != self.tabs.tabText(at):
                self.tabs.setTabText(at, name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._name_places()

    def _offer(self, *_: object) -> None:
        """Leave out the pages that the shown workload has nothing for."""
        session = self._session
        for name, kind in self._kinds.items():
            self.books[kind.place].offer(name, session is None or kind.wanted is None or kind.wanted(session))
        self._number_all()

    def _number_all(self, *_: object) -> None:
        """Count the links that limit, the changes that help, and what workloads lose to each other in the run."""

        session = self._session
        result = session.result if session is not None else None
        links = limiting_links(result, session.design) if session is not None and result is not None else 0
        changes = len(session.fitting or ()) if session is not None else 0
        found = session.simulation if session is not None else None
        lost = losses(found) if found is not None else []
        self._number(Place.LINKS, links, f"Limits: {counted(links, 'link')}" if links else "")
        self._number(Place.IMPROVE, changes, counted(changes, "change") if changes else "")
        self._number(Place.TIME, len(lost), "\n".join(lost))

    def _selected(self, *_: object) -> None:
        """What is selected takes the place of the answer; with nothing selected the answer is back."""
        book, session = self.books[Place.ANSWER], self._session
        some = session is not None and bool(session.selection)
        book.show_page("inspector" if some else "answer")
        self._call()

    def _call(self) -> None:
        """Name the form after what it shows: a part, a link, or the design."""

        session, book = self._session, self.books[Place.ANSWER]
        named = kind_of_selection(session.design, session.selection) if session is not None else ""
        book.name_page("inspector", named or "Design")
        shown = named if named and book.current == "inspector" else Place.ANSWER.value
        if self.tabs.tabText(0) != shown:
            self.tabs.setTabText(0, shown)
            self._name_places()

    def set_session(self, session: Session | None, document: Document | None = None) -> None:
        """Follow another document."""
        for signal, slot in self._connections:
            signal.disconnect(slot)
        self._connections.clear()
        self._session = session
        self.head.follow(document)
        if session is not None:
            for signal, slot in (
                (session.selection_changed, self._selected),
                (session.analysis_changed, self._offer),
                (session.workload_changed, self._offer),
                (session.fitting_changed, self._offer),
                (session.simulation_changed, self._number_all),
            ):
                signal.connect(slot)
                self._connections.append((signal, slot))
        for panel in (*self._made.values(), self.brief):
            panel.set_session(session)
        if session is not None:
            self._selected()
            self._offer()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._around = replace(self._around, theme=theme)
        self.head.set_theme(theme)
        for panel in (*self._made.values(), self.brief):
            panel.set_theme(theme)

    def close_jobs(self) -> None:
        """Stop what runs."""
        self._make_soon.stop()
        self.set_session(None)
        for panel in self._made.values():
            panel.close_jobs()

"""The start page: questions to begin with, recent files, templates with pictures; nothing slow before it is seen."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QPixmap,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from designer.errors import DesignerError
from designer.gui import icons
from designer.gui.controls import Headline, Label
from designer.gui.layouts import FLUSH, Wrap, in_column, in_row, scrolled
from designer.gui.start_cards import CARD, GAP, PICTURE, Card, CardGrid, Question, thumbnail
from designer.gui.theme import Theme
from designer.gui.viewmodels.ranking import ordered, template_words
from designer.interchange.templates import list_templates, open_any
from designer.plain_text import in_one_line

if TYPE_CHECKING:
    from designer.interchange.templates import Template

#: before each picture there is time for a click [ms]
_BETWEEN: Final = 15
#: what pictures, and opening a design, need next to Qt: loaded by a thread once the window can be used
_LATER: Final = (
    "designer.interchange.native.reader",
    "designer.design.geometry",
    "designer.drawing.theme",
    "designer.interchange.native.journal",
    "designer.interchange.native.writer",
    "designer.design.history",
    "designer.design.edits.clipboard",
    "designer.design.edits.structure",
)
#: the templates most people look for, shown first
_FIRST: Final = (
    "hgx-h100-8",
    "dgx-h100",
    "hgx-b200-8",
    "hgx-a100-8",
    "dgx-a100",
    "dgx-b200",
    "mi300x-platform",
    "gb200-tray",
    "hgx-a100-4",
    "dell-xe9680",
)


#: questions: title, what it answers, name of its example, template, workload, panel and icon; without a template a
#: machine is imported
_QUESTIONS: Final = (
    (
        "Find a bottleneck",
        "Which link or part limits a server, and what lifting it gains",
        "HGX H100 8-GPU",
        "hgx-h100-8",
        "h2d",
        "answer",
        "warning",
    ),
    (
        "Size a serving cluster",
        "How many GPUs answer your requests within your limits",
        "Llama 3 70B",
        "serving-h100-8",
        "chat-70b",
        "improve",
        "plus",
    ),
    (
        "Plan a training",
        "Days to train, memory per GPU, and what makes it faster",
        "Llama 2 7B, fully sharded",
        "hgx-h100-8",
        "llama-2-7b-fsdp",
        "answer",
        "clock",
    ),
    (
        "Empty a host",
        "Where its virtual machines go, how long it takes, how long they pause",
        "vSphere cluster, host 1",
        "vsphere-cluster-4",
        "evacuate",
        "answer",
        "compare",
    ),
    ("Import a machine", "Paste nvidia-smi topo -m, or drop a file from the machine", "", "", "", "", "import"),
)
#: filters of templates: what is in them
_FILTERS: Final[dict[str, Callable[[Template], bool]]] = {
    "All": lambda t: True,
    "Servers with 8 GPUs or more": lambda t: t.servers <= 1 and t.gpus >= 8,
    "Small servers": lambda t: t.servers <= 1 and 0 < t.gpus < 8 and not t.id.startswith("edge"),
    "Clusters and racks": lambda t: t.servers > 1,
    "Serving": lambda t: t.id.startswith("serving"),
    "Virtual machines": lambda t: t.id.startswith("vsphere"),
    "Edge": lambda t: t.id.startswith("edge"),
}


class StartPage(QWidget):
    """What one sees first.

    Signals
    -------
    template_chosen : ``str``
    question_chosen : ``str, str, str``
        Template, workload and panel that answer a question.
    file_chosen : ``Path``
    new_wanted, open_wanted, import_wanted, recovery_wanted
    pictures_painted
        All that can be seen have their picture; what was worked out for them is not needed again.
    """

    template_chosen = Signal(str)
    question_chosen = Signal(str, str, str)
    file_chosen = Signal(object)
    new_wanted = Signal()
    open_wanted = Signal()
    import_wanted = Signal()
    recovery_wanted = Signal()
    pictures_painted = Signal()

    def __init__(self, theme: Theme, recent: Callable[[], list[Path]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("start")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._recent = recent
        self._templates: list[Template] = []
        self._loaded = False
        #: True from the first picture on until all are painted
        self._painted = False
        #: whether the cards of templates have the colours of another theme
        self._other_colours = False
        self._make_search()
        self.templates, self.recent = CardGrid(), CardGrid()
        self._recent_head = Headline(1.2, "Recent")
        self._page = QWidget()
        self._page.setObjectName("start")
        self._page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        box = in_column(self._top(), margins=(44, 30, 44, 40), spacing=14)
        self._make_leftovers()
        box.addWidget(self.leftovers)
        box.addLayout(self._ask())
        box.addSpacing(6)
        box.addWidget(self._recent_head)
        box.addWidget(self.recent)
        self._make_filters()
        line = in_row(Headline(1.2, "Templates"), 1, self.search)
        box.addLayout(line)
        box.addWidget(Wrap(*self.filters.values()))
        self.nothing = Label(role="muted", wrap=True)
        self.nothing.hide()
        box.addWidget(self.nothing)
        box.addWidget(self.templates)
        box.addStretch(1)
        self._page.setLayout(box)
        self.area = scrolled(self._page)
        in_column(self.area, on=self, margins=FLUSH)
        self._painter = QTimer(self)
        # between two pictures, and before the first, there is time for a click
        self._painter.setInterval(_BETWEEN)
        self._painter.timeout.connect(self._paint_next)
        self._loader: threading.Thread | None = None
        self._pictures: dict[str, QPixmap] = {}
        self._unreadable: set[str] = set()
        self.area.verticalScrollBar().valueChanged.connect(lambda: self._painter.start())
        self._sources: dict[int, tuple[str, str]] = {}

    def _make_search(self) -> None:
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search templates")
        self.search.setClearButtonEnabled(True)
        self.search.setMaximumWidth(320)
        self.search.setAccessibleName("Search templates")
        self.search.textChanged.connect(self._show_templates)

    def _make_leftovers(self) -> None:
        """The button that offers what a killed program left behind."""
        self.leftovers = QPushButton()
        self.leftovers.setObjectName("leftovers")
        self.leftovers.setCursor(Qt.CursorShape.PointingHandCursor)
        self.leftovers.clicked.connect(self.recovery_wanted)
        self.leftovers.hide()

    def _make_filters(self) -> None:
        """One chip for each group of templates."""
        self._filter = "All"
        self.filters: dict[str, QPushButton] = {}
        for name in _FILTERS:
            chip = self.filters[name] = QPushButton(name)
            chip.setObjectName("filter")
            chip.setCheckable(True)
            chip.clicked.connect(partial(self._choose_filter, name))

    def _ask(self) -> QHBoxLayout:
        """The questions, side by side."""
        line = in_row(spacing=GAP)
        self.questions: list[Question] = []
        for title, answered, example, template, workload, panel, icon in _QUESTIONS:
            question = Question(title, answered, example, icon, self._theme)
            wanted = (
                partial(self.question_chosen.emit, template, workload, panel) if template else self.import_wanted.emit
            )
            question.clicked.connect(partial(_call, wanted))
            self.questions.append(question)
            line.addWidget(question, 1)
        return line

    def _choose_filter(self, name: str, *_: object) -> None:
        self._filter = name
        self._show_templates()

    def _top(self) -> QHBoxLayout:
        title = Headline(1.9, "What do you want to know?")
        claim = Label("Start from the question. Everything can be changed later.", role="muted")
        words = in_column(title, claim, spacing=2)
        line = in_row(words, 1, spacing=8)
        self.buttons: list[tuple[QPushButton, str]] = []
        for text, icon, signal, primary in (
            ("New drawing", "new", self.new_wanted, False),
            ("Open…", "open", self.open_wanted, False),
        ):
            button = QPushButton(text)
            button.setProperty("primary", primary)
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            button.clicked.connect(signal)
            button.setIcon(icons.icon(icon, self._theme.accent_text if primary else self._theme.text))
            self.buttons.append((button, icon))
            line.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        return line

    # ---- filling

    @property
    def filled(self) -> bool:
        """True once it has read what there is to show."""
        return self._loaded

    def fill(self) -> None:
        """Read what there is to show; called once the window is on the screen, and when it comes back."""

        order = {name: i for i, name in enumerate(_FIRST)}
        self._templates = sorted(list_templates(), key=lambda t: (order.get(t.id, 99), t.title))
        self._loaded = True
        self._show_recent()
        self._show_templates()

    def tell_leftovers(self, number: int) -> None:
        """Say how many designs can be brought back; it stays said until they are, or are deleted."""
        text = "1 design with unsaved work" if number == 1 else f"{number} designs with unsaved work"
        self.leftovers.setText(f"An earlier run ended with {text}. Look at what can be brought back…")
        self.leftovers.setVisible(number > 0)

    def set_theme(self, theme: Theme) -> None:
        """Other colours: the pictures are made again."""
        self._theme = theme
        self._pictures.clear()
        for question in self.questions:
            question.set_theme(theme)
        for button, icon in self.buttons:
            primary = bool(button.property("primary"))
            button.setIcon(icons.icon(icon, theme.accent_text if primary else theme.text))
        if self._loaded and self.isVisible():
            self._show_recent()
            self._show_templates()
        else:
            # cards of all templates take a while to make, and nobody sees them now
            self._other_colours = self._loaded

    def _show_templates(self) -> None:
        for name, chip in self.filters.items():
            count = sum(map(_FILTERS[name], self._templates))
            chip.setText(f"{name} {count}")
            chip.setChecked(name == self._filter)
            chip.setVisible(bool(count))
        among = [t for t in self._templates if _FILTERS[self._filter](t)]
        found = ordered(self.search.text(), among, template_words)
        cards: list[Card] = []
        for template in found:
            size = ", ".join(x for x in (_gpus(template), _servers(template)) if x)
            card = Card(template.title, size, template.intent, self._theme)
            card.opened.connect(partial(self.template_chosen.emit, template.id))
            self._adopt(card, "template", template.id)
            cards.append(card)
        self.templates.set_cards(cards)
        self.nothing.setText(f"No template matches “{in_one_line(self.search.text())}”.")
        self.nothing.setVisible(not cards)
        self._painter.start()

    def _show_recent(self) -> None:
        files = self._recent()[:6]
        cards: list[Card] = []
        for file in files:
            name = file.name.removesuffix(".design.json")
            card = Card(name, str(file.parent), str(file), self._theme)
            card.opened.connect(partial(self.file_chosen.emit, file))
            self._adopt(card, "file", str(file))
            cards.append(card)
        self.recent.set_cards(cards)
        self._recent_head.setVisible(bool(cards))
        self.recent.setVisible(bool(cards))

    def _adopt(self, card: Card, what: str, name: str) -> None:
        self._sources[id(card)] = (what, name)
        known = self._pictures.get(f"{what}:{name}")
        if known is not None:
            card.show_picture(known)

    # ---- pictures, one at a time while nothing else is to be done

    def _paint_next(self) -> None:
        if not self.isVisible():
            self._painter.stop()
            return
        if self._loader is None:
            self._loader = threading.Thread(target=_load, name="designer-load", daemon=True)
            self._loader.start()
        if self._loader.is_alive():
            return
        seen = self.area.viewport().rect()
        for card in (*self.recent.cards, *self.templates.cards):
            what, name = self._sources[id(card)]
            if card.has_picture or f"{what}:{name}" in self._unreadable:
                continue
            at = card.mapTo(self.area.viewport(), card.rect().topLeft())
            if -2 * card.height() < at.y() < seen.bottom() + card.height():
                self._paint(card, what, name)
                self._painted = True
                return
        self._painter.stop()
        if self._painted:
            self._painted = False
            self.pictures_painted.emit()

    def _paint(self, card: Card, what: str, name: str) -> None:
        from designer.interchange.native.reader import load

        try:
            design = (open_any(name) if what == "template" else load(name)).design
        except DesignerError:
            self._unreadable.add(f"{what}:{name}")
            return
        picture = thumbnail(design, self._theme, QSize(CARD.width() - 3, PICTURE), self.devicePixelRatioF())
        self._pictures[f"{what}:{name}"] = picture
        card.show_picture(picture)

    def resizeEvent(self, event: object) -> None:
        """Another number of columns."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        width = self.area.viewport().width() - 88
        self.templates.lay(width)
        self.recent.lay(width)
        self._painter.start()

    def showEvent(self, event: object) -> None:
        """Look at the recent files again."""
        super().showEvent(event)  # type: ignore[arg-type]
        if self._loaded:
            self._show_recent()
        if self._other_colours:
            self._other_colours = False
            self._show_templates()
        self._painter.start()


def _call(wanted: Callable[[], object], *_: object) -> None:
    wanted()


def _load() -> None:
    for name in _LATER:
        importlib.import_module(name)


def _gpus(template: Template) -> str:
    if not template.gpus:
        return ""
    return f"{template.gpus:,} GPUs" if template.gpus > 1 else "1 GPU"


def _servers(template: Template) -> str:
    return f"{template.servers} servers" if template.servers > 1 else ""

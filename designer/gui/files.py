"""Documents and files: open, save, import, paste, export, recover, and the questions that go with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from designer.gui.controls import plain
from designer.gui.dialogs.toast import Toasts
from designer.gui.settings import Settings

if TYPE_CHECKING:
    from designer.gui.canvas.canvas import Canvas
    from designer.gui.pictures import Pixels
    from designer.gui.workspace import Document, Workspace


class Host(Protocol):
    """What `Files` asks of the window."""

    workspace_: Workspace | None

    @property
    def workspace(self) -> Workspace:
        """The open documents; made when first asked for."""
        ...

    @property
    def document(self) -> Document | None:
        """The document shown."""
        ...

    @property
    def canvas(self) -> Canvas | None:
        """Its canvas."""
        ...

    def open_file(self, file: Path) -> None:
        """Open a file."""
        ...

    def show_document(self, document: Document) -> None:
        """Bring a document to the front."""
        ...

    def say(self, text: str) -> None:
        """Tell something that went well."""
        ...

    def warn(self, text: str) -> None:
        """Tell something that did not."""
        ...


class Files:
    """What one does with files in a window.

    Parameters
    ----------
    host, over
        The window as what it can do, and as what dialogs stand over.
    look
        Name of the theme, in which pictures are exported.
    """

    def __init__(self, host: Host, over: QWidget, settings: Settings, toasts: Toasts, look: Callable[[], str]) -> None:
        self._host, self._over = host, over
        self._settings, self._toasts, self._look = settings, toasts, look

    def ask_open(self) -> None:
        """Ask for files and open them."""
        names, _ = QFileDialog.getOpenFileNames(
            self._over, "Open", self.folder(), "Designs (*.design.json);;All files (*)"
        )
        for name in names:
            self._host.open_file(Path(name))

    def ask_import(self) -> None:
        """Ask for a dump of a machine and open it."""
        kinds = "Dumps (*.xml *.txt *.json *.log);;All files (*)"
        names, _ = QFileDialog.getOpenFileNames(self._over, "Import a machine", self.folder(), kinds)
        for name in names:
            self.import_file(Path(name))

    def import_file(self, file: Path) -> None:
        """Open what a foreign file describes."""
        try:
            data = file.read_bytes()
        except OSError as error:
            self._host.warn(f"{file.name} cannot be read: {error.strerror}")
            return
        self._host.workspace.import_bytes(data, file.name)

    def save(self) -> bool:
        """Save to the document's file; asks for one if there is none."""
        document = self._host.document
        if document is None:
            return False
        if document.session.file is None:
            return self.save_as()
        return self.save_to(document, document.session.file)

    def save_as(self) -> bool:
        """Ask for a file and save there."""
        from designer.gui.workspace import design_file_name

        document = self._host.document
        if document is None:
            return False
        wish = document.session.file or Path(self.folder()) / f"{document.session.design.name}.design.json"
        name, _ = QFileDialog.getSaveFileName(self._over, "Save as", str(wish), "Designs (*.design.json)")
        return bool(name) and self.save_to(document, design_file_name(name))

    def save_to(self, document: Document, file: Path) -> bool:
        """Save a document to a file; says whether that went well, and tells what did not."""
        from designer.errors import FormatError

        try:
            document.save(file)
        except FormatError as error:
            self._host.warn(str(error))
            return False
        self._settings.add_recent(file)
        self._host.say(f"Saved {file.name}")
        return True

    def paste(self) -> None:
        """Paste parts, or offer to import what the clipboard describes."""
        text = QGuiApplication.clipboard().text()
        canvas = self._host.canvas
        if canvas is not None and canvas.paste_here(text):
            return
        if text.strip():
            self.offer_import(text)

    def offer_import(self, text: str) -> None:
        """Import a pasted text if it describes a machine; else say what can be pasted."""
        from designer.errors import DesignerError
        from designer.interchange.importing import read_bytes

        data = text.encode()
        try:
            read_bytes(data, None, "clipboard")
        except DesignerError as error:
            self._host.warn(f"The clipboard holds nothing that can be pasted: {error.text}")
            return
        self._toasts.say(
            "The clipboard describes a machine.",
            False,
            "Import it",
            lambda: self._host.workspace.import_bytes(data, "clipboard"),
        )

    def export_picture(self, selected_only: bool = False) -> None:
        """Ask for a file and write the picture, or that of the selection, to it."""
        document, canvas = self._host.document, self._host.canvas
        if document is None or canvas is None:
            return
        wish = str(Path(self.folder()) / f"{document.session.design.name}.svg")
        title = "Export selection" if selected_only else "Export picture"
        name, _ = QFileDialog.getSaveFileName(self._over, title, wish, "SVG (*.svg);;PDF (*.pdf);;PNG (*.png)")
        if not name:
            return
        pixels = None
        if name.lower().endswith(".png"):
            from designer.gui.dialogs.pixels_dialog import ask_pixels
            from designer.gui.pictures import Pixels

            chosen = ask_pixels(self._over)
            if chosen is None:
                return
            pixels = Pixels(*chosen)
        self.write_picture(Path(name), selected_only, pixels)

    def write_picture(self, file: Path, selected_only: bool = False, pixels: Pixels | None = None) -> None:
        """Write the picture of the shown design, or of what is selected: SVG, PDF or PNG by the suffix."""
        from designer.errors import DesignerError
        from designer.gui.pictures import Pixels, write_picture

        canvas = self._host.canvas
        if canvas is None:
            return
        try:
            notes = write_picture(canvas, file, self._look(), selected_only, pixels or Pixels())
        except DesignerError as error:
            self._host.warn(str(error))
            return
        for note in notes:
            self._host.warn(note)
        self._host.say(f"Wrote {file.name}")

    def copy_picture(self) -> None:
        """Put the picture on the clipboard."""
        canvas = self._host.canvas
        if canvas is not None:
            QGuiApplication.clipboard().setImage(canvas.image(2.0))
            self._host.say("Picture copied")

    def may_close(self, document: Document) -> bool:
        """Whether a document can be closed: it is saved, or asked for and saved or given up."""
        if not document.session.modified:
            return True
        answer = self.ask_to_save(document.session.title)
        if answer == "cancel":
            return False
        if answer == "save":
            self._host.show_document(document)
            return self.save()
        return True

    def ask_to_save(self, title: str) -> str:
        """``save``, ``discard`` or ``cancel``."""
        buttons = QMessageBox.StandardButton
        answer = QMessageBox.question(
            self._over,
            "Not saved",
            plain(f"Save the changes of {title}?"),
            buttons.Save | buttons.Discard | buttons.Cancel,
            buttons.Save,
        )
        return {buttons.Save: "save", buttons.Discard: "discard"}.get(answer, "cancel")

    def offer_recovery(self) -> None:
        """Offer what a run that ended badly left behind; nothing is asked, nor loaded, where nothing is left."""
        from designer.gui.settings import journal_folder

        folder = journal_folder()
        if self._host.workspace_ is None and not (folder.is_dir() and any(folder.iterdir())):
            return
        for journal in self._host.workspace.leftovers()[:3]:
            run = partial(self._host.workspace.recover, journal)
            self._toasts.say("Unsaved work of an earlier run was found.", False, "Bring it back", run)

    def folder(self) -> str:
        """Where to look for files first: beside the document shown, else the one opened last."""
        document = self._host.document
        if document is not None and document.session.file is not None:
            return str(document.session.file.parent)
        recent = self._settings.recent
        return str(recent[0].parent) if recent else str(Path.home())

"""Documents and files: open, save, import, paste, export, recover, and the questions that go with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from designer.errors import DesignerError, FormatError
from designer.gui.dialogs.question import CANCEL, AnswerButton, QuestionDialog, QuestionRow, ask
from designer.gui.dialogs.toast import Toasts
from designer.gui.settings import Settings, journal_folder

if TYPE_CHECKING:
    from designer.gui.canvas.canvas import Canvas
    from designer.gui.documents import Document
    from designer.gui.pictures import Pixels
    from designer.gui.workspace import Workspace
    from designer.interchange.native.writer import Conflict


#: template, workload and panel that a pasted model is served with
_SERVED: Final = ("serving-h100-8", "chat-70b", "improve")


class FilesWindow(Protocol):
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

    def open_question(self, template_id: str, workload: str, panel: str) -> None:
        """Open a template with the workload and panel that answer a question."""
        ...

    def show_document(self, document: Document) -> None:
        """Bring a document to the front."""
        ...

    def show_recovery(self) -> None:
        """Show what runs that ended badly left behind."""
        ...

    def look_for_leftovers(self) -> None:
        """Look what runs that ended badly left behind, and state if that is something."""
        ...

    def compare_with_file(self, document: Document) -> None:
        """Show a document next to what its file holds now."""
        ...

    def say(self, text: str) -> None:
        """Show a message about something that went well."""
        ...

    def warn(self, text: str) -> None:
        """Show a message about something that did not."""
        ...


class Files:
    """What one does with files in a window.

    Parameters
    ----------
    host, over
        The window as what it can do, and as parent of dialogs.
    look
        Name of the theme, in which pictures are exported.
    """

    def __init__(
        self, host: FilesWindow, over: QWidget, settings: Settings, toasts: Toasts, look: Callable[[], str]
    ) -> None:
        self._host, self._over = host, over
        self._settings, self._toasts, self._look = settings, toasts, look

    def ask_open(self) -> None:
        """Ask for files and open them."""
        names, _ = QFileDialog.getOpenFileNames(
            self._over, "Open", self.folder(), "Designs (*.design.json);;All files (*)"
        )
        for name in names:
            self._host.open_file(Path(name))

    def save(self) -> bool:
        """Save to the document's file; asks for one if there is none."""
        document = self._host.document
        return document is not None and self.save_document(document)

    def save_as(self) -> bool:
        """Ask for a file and save there."""
        document = self._host.document
        return document is not None and self._save_as(document)

    def save_document(self, document: Document) -> bool:
        """Save one of the documents to its file; asks for one if there is none."""
        file = document.session.file
        return self._save_as(document) if file is None else self.save_to(document, file)

    def _save_as(self, document: Document) -> bool:
        from designer.gui.workspace import design_file_name

        # a question about a design is shown over that design
        self._host.show_document(document)
        wish = document.session.file or Path(self.folder()) / f"{document.session.design.name}.design.json"
        title = f"Save {self._host.workspace.names()[document]} as"
        name, _ = QFileDialog.getSaveFileName(self._over, title, str(wish), "Designs (*.design.json)")
        return bool(name) and self.save_to(document, design_file_name(name))

    def save_to(self, document: Document, file: Path) -> bool:
        """Save a document to a file; says whether that went well, and states what did not. What others did to the file
        is not written over unasked.
        """
        from designer.interchange.native.writer import Conflict

        asked: Conflict | None = None
        while True:
            try:
                notes = document.save(file, asked)
            except Conflict as conflict:
                self._host.show_document(document)
                choice = self.ask_about(document, file, conflict)
                if choice == "keep":
                    asked = conflict
                    continue
                self.settle(document, choice)
                return choice == "save_as" and not document.session.modified
            except FormatError as error:
                self._host.warn(str(error))
                return False
            break
        self._settings.add_recent(file)
        self._host.say(f"Saved {file.name}" + "".join(f"; {note}" for note in notes))
        return True

    def ask_about(self, document: Document, file: Path, conflict: Conflict) -> str:
        """``keep``, ``reload``, ``compare``, ``save_as`` or ``cancel``: what to do about a file that others changed or
        have open.
        """
        other = document.session.file is None or document.session.file != file
        keep = AnswerButton("keep", "&Keep mine", "Write yours over the file: what they did is gone")
        right = [CANCEL, AnswerButton("save_as", "Save &as…", "Keep both: yours under another name")]
        if conflict.found is not None and conflict.found != document.digest and not other:
            title, text = "File changed", f"{file.name} was changed by somebody else since you opened or saved it."
            row = QuestionRow("Keeping yours takes their changes away", str(file.parent))
            right = [
                AnswerButton("compare", "Com&pare", "Show both side by side; nothing is written"),
                AnswerButton("reload", "&Reload", "Take over what the file holds; undo brings yours back"),
                *right,
            ]
        else:
            title, text = "File in use", f"{file.name} is open elsewhere."
            row = QuestionRow(conflict.owner.text if conflict.owner is not None else "somebody else", str(file.parent))
        # Enter does the last: it takes nobody's work away
        return ask(QuestionDialog(title, text, [row], [keep], right, self._over))

    def settle(self, document: Document, choice: str) -> None:
        """Do what was chosen about a file others changed: ``keep``, ``reload``, ``compare``, ``save_as``, ``save``;
        anything else does nothing.
        """

        if choice == "reload":
            try:
                document.reload()
            except FormatError as error:
                self._host.warn(str(error))
            else:
                self._host.say("Reloaded; undo brings back what was here")
        elif choice == "keep":
            document.keep_mine()
        elif choice == "compare":
            self._host.compare_with_file(document)
        elif choice == "save_as":
            self._save_as(document)
        elif choice == "save":
            self.save_document(document)

    def paste(self) -> None:
        """Paste parts, or import the machine that the clipboard describes."""
        text = QGuiApplication.clipboard().text()
        canvas = self._host.canvas
        if canvas is not None and canvas.paste_here(text):
            return
        if text.strip():
            self.offer_import(text)

    def offer_import(self, text: str) -> None:
        """Import a pasted text if it describes a machine; else say what can be pasted."""

        if self._take_model(text):
            return
        try:
            self.take_machine(text.encode(), "clipboard")
        except DesignerError as error:
            self._host.warn(f"The clipboard holds nothing that can be pasted: {error.text}")

    def _take_model(self, text: str) -> bool:
        """Serve a model whose ``config.json`` was pasted: with the shown served workload, else with a template.

        A network of layers goes to the shown training.
        """
        from designer.design.edits.workloads import ChangeWorkload
        from designer.formulas.shapes import is_transformer
        from designer.workload.huggingface import parse_config

        if not text.lstrip().startswith("{"):
            return False
        try:
            found = parse_config(text)
        except DesignerError:
            return False
        document = self._host.document
        spec = document.session.design.workloads.get(document.session.workload) if document is not None else None
        if not is_transformer(found.shape):
            if spec is None or spec.kind != "training":
                return False
        elif spec is None or spec.kind != "serving":
            self._host.open_question(*_SERVED)
            document = self._host.document
        if document is not None:
            session = document.session
            spec = session.design.workloads[session.workload]
            settings = {**spec.settings, "model": text.strip()}
            session.apply(ChangeWorkload(spec.id, {"settings": settings, "title": found.shape.name}))
        return True

    def paste_machine(self) -> None:
        """Show the box to paste what a machine prints about itself."""
        from designer.gui.dialogs.paste_dialog import PasteDialog

        dialog = PasteDialog(self.take_machine, self.folder(), self._over)
        dialog.exec()
        dialog.deleteLater()

    def take_machine(self, data: bytes, name: str) -> None:
        """Put a machine into the empty design shown, else open it as one of its own.

        Raises
        ------
        DesignerError
            If nothing can read it.
        """
        from designer.design.edits.replace import Replace
        from designer.gui.workspace import with_workloads
        from designer.interchange.importing import read_bytes

        imported = read_bytes(data, None, name)
        document, canvas = self._host.document, self._host.canvas
        shown = document.session.design if document is not None else None
        if document is None or canvas is None or shown is None or shown.parts or shown.groups:
            self._host.workspace.import_bytes(data, name)
            return
        session = document.session
        session.findings = tuple(imported.findings)
        session.apply(Replace(with_workloads(imported.design)))
        canvas.zoom_to_fit()
        canvas.setFocus()
        n = len(imported.findings)
        self._host.say("Imported the machine" + (f" with {n} remarks, see Checks" if n else ""))

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
            from designer.gui.pictures import Pixels, ask_pixels

            chosen = ask_pixels(self._over)
            if chosen is None:
                return
            pixels = Pixels(*chosen)
        self.write_picture(Path(name), selected_only, pixels)

    def write_picture(self, file: Path, selected_only: bool = False, pixels: Pixels | None = None) -> None:
        """Write the picture of the shown design, or of what is selected: SVG, PDF or PNG by the suffix."""
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

    def may_close(self, documents: Sequence[Document]) -> bool:
        """True if documents can be closed: they are saved, or asked for together and saved or given up."""
        unsaved = [d for d in documents if d.session.modified]
        if not unsaved:
            return True
        answer = self.ask_to_save(unsaved)
        if answer == "save":
            # one that is not saved after all keeps everything open
            return all(self.save_document(d) for d in unsaved)
        return answer == "discard"

    def ask_to_save(self, unsaved: Sequence[Document]) -> str:
        """``save``, ``discard`` or ``cancel``: one answer for all."""
        return ask(self.unsaved_question(unsaved))

    def unsaved_question(self, unsaved: Sequence[Document]) -> QuestionDialog:
        """The question what is to become of documents that are not saved."""
        names = self._host.workspace.names()
        rows: list[QuestionRow] = []
        for document in unsaved:
            file = document.session.file
            edits = f"{document.edits} edit{'s' if document.edits != 1 else ''}, " if document.edits else ""
            place = f"in {file}" if file is not None else "never saved: you will be asked for a name"
            rows.append(QuestionRow(names[document], f"{edits}{place}"))
        many = len(unsaved) > 1
        text = f"Save the changes of these {len(unsaved)} designs?" if many else "Save the changes of this design?"
        discard = AnswerButton(
            "discard", "&Discard all" if many else "&Discard", "Close without saving; the changes are gone"
        )
        save = AnswerButton("save", "&Save all" if many else "&Save", "Save, then close")
        return QuestionDialog("Unsaved changes", text, rows, [discard], [CANCEL, save], self._over)

    def offer_recovery(self) -> None:
        """Offer what runs that ended badly left behind; nothing is loaded where nothing is left."""

        folder = journal_folder()
        if folder.is_dir() and any(p.suffix == ".journal" for p in folder.iterdir()):
            self._host.look_for_leftovers()

    def ask_to_delete(self, things: Sequence[tuple[str, str]]) -> bool:
        """True if journals are to be deleted for good."""
        rows = [QuestionRow(*thing) for thing in things]
        text = "Delete this for good?" if len(rows) == 1 else f"Delete these {len(rows)} for good?"
        delete = AnswerButton("delete", "&Delete", "The work in them is gone then")
        return ask(QuestionDialog("Delete", text, rows, [delete], [CANCEL], self._over)) == "delete"

    def folder(self) -> str:
        """Where to look for files first: next to the document shown, else the one opened last."""
        document = self._host.document
        if document is not None and document.session.file is not None:
            return str(document.session.file.parent)
        recent = self._settings.recent
        return str(recent[0].parent) if recent else str(Path.home())

"""File: open, save, import, export, close."""

from designer.gui.actions._action import Action, Menu, has_document, has_selection

ACTIONS = (
    Action("file.new", "New design", lambda w: w.new_document(), ("Ctrl+N",), icon="new"),
    Action("file.start", "Start page and templates", lambda w: w.show_start(), ("Ctrl+Shift+N",), icon="template"),
    Action(
        "file.propose",
        "Propose designs…",
        lambda w: w.propose_designs(),
        icon="template",
        tip="From a goal to drawn designs: a training in so many days, a load, a host emptied, within limits",
    ),
    Action("file.open", "Open…", lambda w: w.files.ask_open(), ("Ctrl+O",), icon="open"),
    Action("file.save", "Save", lambda w: w.files.save(), ("Ctrl+S",), has_document, "save", 1),
    Action("file.save_as", "Save as…", lambda w: w.files.save_as(), ("Ctrl+Shift+S",), has_document, section=1),
    Action(
        "file.import",
        "Import a machine…",
        lambda w: w.files.paste_machine(),
        ("Ctrl+I",),
        icon="import",
        section=2,
        tip="Paste or open what the machine prints: nvidia-smi topo -m, NCCL XML, lstopo XML and others",
    ),
    Action(
        "file.export_report",
        "Export report…",
        lambda w: w.export_report(),
        ("Ctrl+Shift+E",),
        has_document,
        section=2,
        tip="The design report as HTML, PDF or Markdown",
    ),
    Action(
        "file.export_picture",
        "Export picture…",
        lambda w: w.files.export_picture(),
        ("Ctrl+E",),
        has_document,
        section=2,
        tip="SVG, PDF or PNG",
    ),
    Action(
        "file.export_selection",
        "Export selection…",
        lambda w: w.files.export_picture(selected_only=True),
        (),
        has_selection,
        section=2,
        tip="SVG, PDF or PNG of what is selected",
    ),
    Action(
        "file.copy_picture",
        "Copy picture",
        lambda w: w.files.copy_picture(),
        ("Ctrl+Shift+C",),
        has_document,
        section=2,
    ),
    Action(
        "file.recover",
        "Recover unsaved work…",
        lambda w: w.show_recovery(),
        section=2,
        tip="What runs that ended badly left behind",
    ),
    Action("file.settings", "Settings…", lambda w: w.edit_settings(), ("Ctrl+,",), icon="settings", section=3),
    Action("file.close", "Close design", lambda w: w.close_document(), ("Ctrl+W",), has_document, section=4),
    Action("file.quit", "Quit", lambda w: w.quit(), ("Ctrl+Q",), section=4),
)
MENU = Menu("file", "File", 10, ACTIONS)

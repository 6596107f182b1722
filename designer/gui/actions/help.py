"""Help: shortcuts and about."""

from designer.gui.actions._action import Action, Menu

ACTIONS = (
    Action("help.shortcuts", "All commands and shortcuts", lambda w: w.command_palette(), ("F1",), icon="search"),
    Action("help.about", "About designer", lambda w: w.about(), icon="info"),
)
MENU = Menu("help", "Help", 60, ACTIONS)

"""The commands of the window, one file per menu; they feed menus, shortcuts, toolbar and command palette."""

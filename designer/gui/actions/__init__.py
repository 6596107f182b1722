"""Everything one can do, one file per menu; feeds menus, shortcuts, tool strip and command palette."""

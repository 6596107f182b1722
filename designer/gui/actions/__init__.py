"""Everything one can do, one file per menu; feeds menus, shortcuts, toolbar and command palette."""

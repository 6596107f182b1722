"""What the window is put together from: menus, tabs, recovery, word of what is saved, loads as colours."""

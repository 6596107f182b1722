"""Edits: frozen functions from design to design, one noun per file. They do not know each other."""

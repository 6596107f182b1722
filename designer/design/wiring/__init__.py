"""Wiring patterns, one per file: which member of one selection is joined to which of the other."""

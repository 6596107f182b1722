"""Dialogs, one per file."""

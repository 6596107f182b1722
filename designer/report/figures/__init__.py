"""Figures, one per file."""

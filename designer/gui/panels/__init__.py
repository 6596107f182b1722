"""Docks, one per file."""

"""Part kinds, one per file."""

"""Part kinds, by area."""

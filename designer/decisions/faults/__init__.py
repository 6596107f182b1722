"""Faults of built machines: one file, one kind, with what it does to the drawing or to which measurement."""

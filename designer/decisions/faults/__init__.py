"""Faults of built machines: by area, each with what it does to the drawing or to which measurement."""

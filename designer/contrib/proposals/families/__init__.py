"""Families of designs that are proposed for a goal: one per file, found by its ``FAMILY``."""

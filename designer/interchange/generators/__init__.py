"""Designs from a few numbers: one family per file, found by its ``GENERATOR``."""

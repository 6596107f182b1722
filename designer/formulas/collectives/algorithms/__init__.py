"""Collective algorithms, one per file: a function from a situation to its time with each protocol."""

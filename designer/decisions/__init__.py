"""Searches over changes of a design that ask the analysis again and again: the sweep, its frontier, where it turns."""

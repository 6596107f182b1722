"""Automatic layout: where things stand that nobody has placed."""

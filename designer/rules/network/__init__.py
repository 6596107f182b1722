"""Fabrics, NICs and their roles."""

"""Routing algorithms, one per file: inside an island, and through a fabric."""

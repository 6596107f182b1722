"""Designs out to other formats: one per file, found by its ``EXPORTER``."""

"""Draws figures of the report with pyqtgraph."""

"""Pictures of designs: what is seen of a design, its loads and its machines, as one display list of arrays.

The canvas paints the list with a QPainter, ``designer.report.drawing`` writes it as SVG, PDF and PNG. No Qt.
"""

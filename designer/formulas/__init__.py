"""Physics: numbers in, numbers out. One published model, one file, its source and range of validity.

Nothing here knows a design, a file or a graph.
"""

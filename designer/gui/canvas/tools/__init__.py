"""The tools of the canvas: one state of the hand per file."""

"""The canvas: draws a design and turns gestures into edits; it computes nothing itself."""

"""Links with right angles that run around boxes: ways on a grid of free cells, then set apart in their channels."""

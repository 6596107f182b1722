"""Formulas of training: steps, layouts, memory."""

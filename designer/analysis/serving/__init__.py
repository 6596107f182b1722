"""Serving of models on a drawing: step times over drawn links, the scheduler's run, and what is read off it."""

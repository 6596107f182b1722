"""Costs of tasks, one kind of task per file."""

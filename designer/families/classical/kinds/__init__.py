"""Workload kinds, one per file."""

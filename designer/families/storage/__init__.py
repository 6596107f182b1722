"""Checkpoints, loading of data, and the size of storage."""

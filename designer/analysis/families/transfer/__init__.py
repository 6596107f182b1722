"""Answers of transfer workloads, read from their programs."""

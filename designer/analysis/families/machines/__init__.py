"""Answers of machines workloads, read from their programs."""

"""Answers of serving workloads, read from their programs."""

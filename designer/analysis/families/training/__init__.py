"""Answers of training workloads, read from their programs."""

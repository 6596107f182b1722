"""Answers of collective workloads, read from their programs."""

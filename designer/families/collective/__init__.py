"""Collectives: all-reduce and its relatives over a group of accelerators."""

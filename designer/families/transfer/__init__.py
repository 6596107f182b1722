"""Transfers: bytes between sets of parts."""

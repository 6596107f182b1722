"""Serving: models that answer requests or samples."""

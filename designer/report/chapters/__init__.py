"""Chapters of the report, one a file; each holds CHAPTER."""

"""Foreign formats that describe real machines, one per file, each with an ``IMPORTER``."""

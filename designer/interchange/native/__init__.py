"""The native design file, ``*.design.json``."""

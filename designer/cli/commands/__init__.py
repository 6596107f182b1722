"""Sub-commands, one per file."""

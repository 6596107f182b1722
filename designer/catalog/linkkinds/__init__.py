"""Link kinds, one per file."""

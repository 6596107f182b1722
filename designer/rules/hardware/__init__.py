"""Parts that should be equivalent."""

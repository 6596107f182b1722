"""Parts that should be alike."""

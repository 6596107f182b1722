"""Power under load."""

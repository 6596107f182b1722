"""Qt models over rows and branches of view-models."""

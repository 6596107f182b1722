"""designer: design the machines that train and serve AI models."""

"""Host memory."""

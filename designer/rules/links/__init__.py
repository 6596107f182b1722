"""Links and the slots they end in."""

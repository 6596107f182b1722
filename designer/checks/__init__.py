"""Design tests: a small, total language of promises, and what runs them."""

"""Design tests in files and in continuous integration: collects them, runs them, reports them."""

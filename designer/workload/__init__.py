"""What is to be run: operations, workload kinds, model shapes."""

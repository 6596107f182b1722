"""Design and workload in, numbers out: routes, allocation, estimates."""

"""A design and a workload become numbers."""

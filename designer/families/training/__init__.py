"""Training: jobs on accelerators, their steps, input and layouts."""

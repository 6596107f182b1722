"""Pages of decisions: sizes, failures, suggestions, sweeps, checks, acceptance, simulations, summaries."""

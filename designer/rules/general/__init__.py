"""Rules that concern no family of workloads, one per file."""

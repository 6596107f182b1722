"""Virtual machines, virtual GPUs and migration."""

"""Virtual machines on the drawn hosts: where they and their virtual GPUs sit, what fits, and how they move."""

"""What runs every workload on a drawing: network, routes, flows, accounts, costs of tasks, clock. Knows no family."""

"""Hashed flows and many senders of one receiver: the spread of a workload."""

"""Searches that are asked for as workloads: one module a kind, with `answer(network, settings, question)`."""

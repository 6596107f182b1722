"""Processes that are not bound to the socket of their GPU."""

from designer.decisions.fault import misset

FAULT = misset(
    "no NUMA binding",
    "buffers lie in the memory of the other socket",
    "bind processes to the socket of their GPU",
    "numa_local",
    True,
)

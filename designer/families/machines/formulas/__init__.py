"""Live migration: pre-copy of memory, stun of virtual GPUs, limits, cost, emptying of hosts.

Bandwidths are what the routed network gives, in bytes per second of payload.
"""

from __future__ import annotations

from designer.families.machines.formulas._precopy import Outcome, Round, Verdict
from designer.formulas._vsphere import Release, read_release

__all__ = ["Outcome", "Release", "Round", "Verdict", "read_release"]

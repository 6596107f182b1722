"""A share mounted with one connection."""

from designer.decisions.fault import Effect, slower
from designer.decisions.faults._shares import STORE

FAULT = slower(
    "one NFS connection",
    "{} is mounted with one connection",
    "mount it with nconnect; see mountstats",
    Effect(("store",), STORE),
    at=lambda machine: machine.stores,
)

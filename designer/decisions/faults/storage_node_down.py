"""A storage system with a node down."""

from designer.decisions.fault import Effect, slower
from designer.decisions.faults._shares import STORE

FAULT = slower(
    "a storage node down",
    "a node of {} is down",
    "see the health page of the storage system",
    Effect(("store",), STORE),
    at=lambda machine: machine.stores,
)

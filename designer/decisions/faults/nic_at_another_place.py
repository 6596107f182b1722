"""A NIC in a slot of the other socket."""

from designer.decisions.faults._places import far

FAULT = far("a nic at another place", "nic")

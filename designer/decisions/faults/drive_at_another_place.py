"""A drive in a slot of the other socket."""

from designer.decisions.faults._places import far

FAULT = far("a drive at another place", "drive")

"""A GPU in a slot of the other socket."""

from designer.decisions.faults._places import far

FAULT = far("a gpu at another place", "gpu")

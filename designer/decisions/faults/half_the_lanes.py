"""A card that runs with half the lanes of its slot."""

from designer.decisions.faults._places import narrow

FAULT = narrow("half the lanes", 2)

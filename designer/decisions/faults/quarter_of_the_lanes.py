"""A card that runs with a quarter of the lanes of its slot."""

from designer.decisions.faults._places import narrow

FAULT = narrow("a quarter of the lanes", 4)

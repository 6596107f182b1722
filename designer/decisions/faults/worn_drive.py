"""A drive that is worn, hot or failing."""

from designer.decisions.fault import Effect, slower
from designer.decisions.faults._shares import DRIVE

FAULT = slower(
    "a worn drive",
    "{} is worn or hot",
    "see its SMART log; trim or replace it",
    Effect(("fio",), DRIVE),
    at=lambda machine: machine.drives,
)

"""What is run over time, as data: frozen tasks, steps that join them, arrivals, and processes that decide."""

from designer.workload.program.process import Item, Process, Restart, Script
from designer.workload.program.restarting import Restarting
from designer.workload.program.steps import Arrivals, Measure, Program, Recovery, Step
from designer.workload.program.tasks import AnyTask, Collective, Compute, Delay, Mark, Move, Product, Task

__all__ = [
    "AnyTask",
    "Arrivals",
    "Collective",
    "Compute",
    "Delay",
    "Item",
    "Mark",
    "Measure",
    "Move",
    "Process",
    "Product",
    "Program",
    "Recovery",
    "Restart",
    "Restarting",
    "Script",
    "Step",
    "Task",
]

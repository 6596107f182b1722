"""Who gets how much of every link: fair rates, what binds them and what would raise them."""

from designer.analysis.flows.binding import Binding, NextBottleneck, binding, next_bottleneck
from designer.analysis.flows.certificate import Certificate, check
from designer.analysis.flows.incidence import Incidence
from designer.analysis.flows.maxmin import Allocation, solve
from designer.analysis.flows.objectives import Objective, completion_time, harmonic_mean, slowest, total
from designer.analysis.flows.sensitivity import adjoint, gain_if_doubled

__all__ = [
    "Allocation",
    "Binding",
    "Certificate",
    "Incidence",
    "NextBottleneck",
    "Objective",
    "adjoint",
    "binding",
    "check",
    "completion_time",
    "gain_if_doubled",
    "harmonic_mean",
    "next_bottleneck",
    "slowest",
    "solve",
    "total",
]

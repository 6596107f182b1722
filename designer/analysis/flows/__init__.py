"""Who gets how much of every link: fair rates, and what binds them."""

from designer.analysis.flows.binding import Binding, binding
from designer.analysis.flows.certificate import Certificate, check
from designer.analysis.flows.incidence import Incidence
from designer.analysis.flows.maxmin import Allocation, solve

__all__ = ["Allocation", "Binding", "Certificate", "Incidence", "binding", "check", "solve"]

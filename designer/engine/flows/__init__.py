"""Who gets how much of every link: fair rates, and what binds them."""

from designer.engine.flows.binding import Binding, binding
from designer.engine.flows.certificate import Certificate, check
from designer.engine.flows.incidence import Incidence
from designer.engine.flows.maxmin import Allocation, solve

__all__ = ["Allocation", "Binding", "Certificate", "Incidence", "binding", "check", "solve"]

"""What serving in a virtual machine keeps of its rate on the bare host."""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.sources import Constant, Status

#: the same host with and without ESXi, processors alone: five models in the offline scenario, median .970
PROCESSORS: Final = Constant(
    0.970, 0.92, 0.99, "mlperf-v51", Status.SECONDARY, "1", "Llama-3.1-8B .970, others .92-.98"
)
#: language models within a limit on latency lose most
PROCESSORS_ONLINE: Final = Constant(0.900, 0.87, 0.99, "mlperf-v51", Status.SECONDARY, "1", "Llama-3.1-8B .900")
#: a GPU passed through does its work without the hypervisor: what is lost is the engine's own work on the host
PASSED_THROUGH: Final = Constant(0.98, 0.93, 1.0, "assumed-serving", Status.ASSUMED, "1", "no open pair of runs")


def virtual_machine(processors: bool, online: bool) -> Constant:
    """Rate in a virtual machine over that on the bare host [1]."""
    if not processors:
        return PASSED_THROUGH
    return PROCESSORS_ONLINE if online else PROCESSORS


FORMULA: Final = Formula(
    "virtual-machine", "Serving in a virtual machine", virtual_machine, ("mlperf-v51",), "one virtual machine of a host"
)

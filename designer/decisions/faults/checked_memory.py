"""Error correction switched on where its bits share graphics memory with the data."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._shares import CHECKED


def _find(machine: Machine) -> Iterator[Fault]:
    net = machine.network.net
    part = net.part(net.index_of(machine.gpus[0]))
    quantity = machine.design.quantity(part, "memory_type")
    if quantity is not None and str(quantity.value).upper().startswith("GDDR"):
        title, remedy = (
            "error correction takes a share of the memory",
            "nvidia-smi -q -d ECC; decide whether you want it",
        )
        yield Fault("ECC on", title, "", remedy, effects=(Effect(("hbm",), CHECKED),))


FAULT = FaultKind("ECC on", _find)

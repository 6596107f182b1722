"""A GPU cut into MIG slices."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Effect, Fault, FaultKind
from designer.decisions.faults._places import accelerator_links, peer_links
from designer.decisions.faults._shares import MIG_COMPUTE, MIG_MEMORY


def _find(machine: Machine) -> Iterator[Fault]:
    for gpu in machine.gpus:
        links = frozenset(path for path, _, _ in accelerator_links(machine, gpu))
        effects = (Effect(("gemm",), MIG_COMPUTE, gpu), Effect(("hbm",), MIG_MEMORY, gpu))
        remedy = "nvidia-smi -i GPU -mig 0, then reset it"
        title, gone = f"MIG is on at {gpu}", peer_links(machine, (gpu,))
        yield Fault("MIG on", title, gpu, remedy, gone, links, effects, marks=(gpu,))


FAULT = FaultKind("MIG on", _find)

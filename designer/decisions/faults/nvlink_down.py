"""A link between accelerators that is down."""

from __future__ import annotations

from collections.abc import Iterator

from designer.decisions.acceptance import Machine
from designer.decisions.fault import Fault, FaultKind
from designer.decisions.faults._places import accelerator_links, ends_of
from designer.design.edits.links import ChangeLinks, RemoveLinks


def _find(machine: Machine) -> Iterator[Fault]:
    for gpu in machine.gpus:
        for path, within, link in accelerator_links(machine, gpu):
            less: ChangeLinks | RemoveLinks = RemoveLinks((link.id,), within=within)
            if link.count > 1:
                less = ChangeLinks((link.id,), {"count": link.count - 1}, within=within)
            remedy = "nvidia-smi nvlink -s, then reset the GPU"
            yield Fault(
                "NVLink down",
                f"a link of {path} is down",
                path,
                remedy,
                less,
                frozenset({path}),
                marks=ends_of(path, link),
            )


FAULT = FaultKind("NVLink down", _find)

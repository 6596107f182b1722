"""PCI002: a GPU without a compute NIC in its own PCIe tree.

What it checks
    Whether each GPU of a machine with several compute NICs shares a PCIe switch or a socket with one of them.
Why it matters
    GPUDirect RDMA across sockets goes over the socket links and gets a fraction of the NIC; some platforms refuse it.
How to fix
    Move the NIC to the socket of its GPUs, or spread the NICs over the sockets.
Sources
    F. Denneman, 2023-05-12; NVIDIA GPUDirect RDMA documentation (supported topologies).
Example
    Four GPUs on two sockets and both NICs on socket 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import COMPUTE_ROLES, Context
from designer.rules.rule import Offence, Rule


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        nics = [item for item in machine.of("nic", "dpu") if item.role in COMPUTE_ROLES and machine.slots(item)]
        gpus = [gpu for gpu in context.gpus(machine) if machine.slots(gpu)]
        if len(nics) < 2 or not context.design.policy.gpudirect:
            continue
        homes = {home.number for nic in nics if (home := machine.processor(nic)) is not None}
        far = [gpu for gpu in gpus if (at := machine.processor(gpu)) is not None and at.number not in homes]
        if far and homes:
            text = f"{far[0].path} has no compute NIC at its socket" + (f", as {len(far)} GPUs" * (len(far) > 1))
            where = tuple(gpu.path for gpu in far)
            yield Offence(text, where, "move a NIC to the socket of these GPUs", equal=machine.times)


RULE = Rule("PCI002", "gpu-far-from-its-nic", Severity.WARNING, check)

"""Rules whose offences are found when virtual machines are placed: each reports the findings of one code."""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def _reports(code: str, name: str, severity: Severity, finding: str, page: str) -> Rule:
    """A rule that reports the findings of one code; `page` is its page without the code."""

    def check(context: MachineContext) -> Iterator[Offence]:
        for text, where, remedy in context.vm_findings(finding):
            yield Offence(text, where, remedy)

    return Rule(code, name, severity, check, stated_as=finding, context=MachineContext, text=f"{code}: {page}")


RULES = (
    _reports(
        "VM001",
        "memory-not-reserved",
        Severity.ERROR,
        "VM-RESERVE",
        """a virtual machine with devices whose memory is not all reserved.

What it checks
    Machines with passthrough devices or virtual GPUs whose reservation is smaller than their memory, or that state none
    before 8.0, which reserves by itself.
Why it matters
    Devices read and write guest memory directly, so it must be pinned: the machine does not power on.
How to fix
    Reserve all memory of the machine.
Sources
    F. Denneman, 2023-05-30 (reserve all guest memory).
Example
    A machine with 256 GiB, a vGPU and a reservation of 128 GiB.
""",
    ),
    _reports(
        "VM002",
        "over-a-maximum",
        Severity.ERROR,
        "VM-LIMIT",
        """more virtual CPUs, memory, devices or virtual GPUs than the release allows.

What it checks
    Counts of a machine against the maximums of its release and hardware version.
Why it matters
    The machine does not power on.
How to fix
    Fewer devices, a newer hardware version or a newer release.
Sources
    Broadcom knowledge base 309986 (configuration maximums); VMware, 2023-09 (vGPUs per machine).
Example
    Nine virtual GPUs in one machine on 8.0.
""",
    ),
    _reports(
        "VM003",
        "hardware-version-too-old",
        Severity.ERROR,
        "VM-HARDWARE",
        """a hardware version that the release or a device does not know.

What it checks
    The hardware version of machines against their release and the devices they have.
Why it matters
    The machine does not power on, or the device cannot be added.
How to fix
    Upgrade the hardware version while the machine is off.
Sources
    Broadcom knowledge base 309986; F. Denneman, 2023-06-06.
Example
    Dynamic DirectPath with hardware version 14.
""",
    ),
    _reports(
        "VM004",
        "little-memory-for-its-gpus",
        Severity.WARNING,
        "VM-RAM",
        """less memory than one and a half times that of its virtual GPUs.

What it checks
    Memory of machines against the frame buffers of their virtual GPUs.
Why it matters
    Staging buffers, pinned pages and the page cache of the dataset need room; without it the input pipeline stalls.
How to fix
    More memory for the machine.
Sources
    A rule of the field, not found in print: the factor is assumed.
Example
    A machine with 64 GiB and an 80 GB profile.
""",
    ),
    _reports(
        "VM005",
        "nvlink-off",
        Severity.WARNING,
        "VM-NVLINK-OFF",
        """several GPUs of an NVLink board in one machine without a device group.

What it checks
    Machines with two or more virtual GPUs on an NVSwitch board that are not in one device group.
Why it matters
    NVLink between them stays off; all-reduce goes over PCIe at a tenth of the rate.
How to fix
    Assign a device group of 2, 4 or 8 GPUs.
Sources
    F. Denneman, 2026-03-31 and 2023-04-26 (device groups).
Example
    Two 80C profiles picked one by one on an HGX board.
""",
    ),
    _reports(
        "VM006",
        "fractions-before-8",
        Severity.ERROR,
        "VM-FRACTIONS",
        """several virtual GPUs of a part of a GPU before 8.0.

What it checks
    Machines with several virtual GPUs on a release before 8.0, one of them with less than the whole frame buffer.
Why it matters
    Only profiles of the whole frame buffer may be combined there; the machine does not power on.
How to fix
    Whole profiles, or 8.0 or later.
Sources
    NVIDIA AI Enterprise user guide.
Example
    Two 20C profiles on 7.0 U3.
""",
    ),
    _reports(
        "VM007",
        "memory-across-nodes",
        Severity.WARNING,
        "VM-NUMA-MEMORY",
        """a machine that sees one NUMA node but has more memory than a node.

What it checks
    Machines whose virtual CPUs fit one socket and whose memory does not.
Why it matters
    The guest believes all its memory is near, while part of it lies behind the socket links.
How to fix
    Two virtual NUMA nodes, split evenly.
Sources
    F. Denneman, 2022-11-03.
Example
    16 virtual CPUs and 700 GiB on sockets with 512 GiB.
""",
    ),
    _reports(
        "VM008",
        "uneven-nodes",
        Severity.WARNING,
        "VM-NUMA-UNEVEN",
        """virtual CPUs that do not divide over the NUMA nodes.

What it checks
    Machines larger than a socket whose number of virtual CPUs is not divisible by the number of nodes.
Why it matters
    One node has more CPUs than memory and cache for them; the slowest thread decides.
How to fix
    An even number of virtual CPUs per node.
Sources
    F. Denneman, 2022-10-25.
Example
    65 virtual CPUs on sockets with 32 cores.
""",
    ),
    _reports(
        "VM022",
        "no-place-on-the-gpu",
        Severity.ERROR,
        "VM-NO-ROOM",
        """virtual GPUs that have no valid place on any GPU of the host.

What it checks
    Profiles of all machines on the GPUs of their host: placement IDs, MIG geometry, equal and mixed sizes, one
    mode per GPU.
Why it matters
    Free memory is not placeable memory: the machine does not power on.
How to fix
    Another order, another profile, or another GPU.
Sources
    NVIDIA AI Enterprise user guide; NVIDIA MIG user guide; F. Denneman, 2023-04-26 and 2026-02-17.
Example
    A 40C profile on a GPU that holds a 20C, before mixed sizes.
""",
    ),
    _reports(
        "VM023",
        "unknown-profile",
        Severity.ERROR,
        "VM-PROFILE",
        """a profile its GPUs do not offer.

What it checks
    Profile names of virtual GPUs against what the vendor lists for the GPUs of the host.
Why it matters
    The machine cannot be made.
How to fix
    One of the profiles the finding names.
Sources
    NVIDIA virtual GPU user guide (vGPU types).
Example
    A 12C profile on an A100 80 GB.
""",
    ),
    _reports(
        "VM024",
        "no-such-group",
        Severity.ERROR,
        "VM-GROUP",
        """a device group that is none of 2, 4 or 8 GPUs, or whose partition is taken.

What it checks
    Device groups against the partitions of the NVSwitch board that are free.
Why it matters
    Groups are fixed halves of the board: three GPUs make none, and two groups cannot overlap.
How to fix
    Groups of 2, 4 or 8, the largest first.
Sources
    NVIDIA Fabric Manager user guide; F. Denneman, 2023-04-26.
Example
    A group of three GPUs.
""",
    ),
    _reports(
        "VM025",
        "part-of-a-board-passed-through",
        Severity.ERROR,
        "VM-NVSWITCH",
        """part of an NVSwitch board in passthrough.

What it checks
    Passthrough of some but not all GPUs of an NVSwitch board.
Why it matters
    The switches belong to one owner; vSphere does not support it.
How to fix
    Virtual GPUs with device groups.
Sources
    NVIDIA AI Enterprise user guide.
Example
    Two of eight A100 of an HGX board passed through.
""",
    ),
    _reports(
        "VM026",
        "gpu-on-another-socket",
        Severity.WARNING,
        "VM-NUMA",
        """a GPU on another socket than the virtual CPUs that feed it.

What it checks
    Machines whose virtual CPUs are on one socket and a virtual GPU on the other.
Why it matters
    All traffic between host and device crosses the socket links: up to 69 % less bandwidth.
How to fix
    NUMA affinity to the node of the GPU, or a GPU of that node.
Sources
    F. Denneman, 2020-01-30.
Example
    A machine on socket 0 with the GPU of socket 1.
""",
    ),
    _reports(
        "VM027",
        "more-than-the-host",
        Severity.ERROR,
        "VM-TOO-BIG",
        """a machine larger than its host.

What it checks
    Virtual CPUs and memory of machines against threads and memory of their host.
Why it matters
    It does not power on.
How to fix
    A larger host, or a smaller machine.
Sources
    Broadcom knowledge base 309986; the host's own parts.
Example
    600 virtual CPUs on a host with 128 threads.
""",
    ),
    _reports(
        "VM028",
        "host-memory-taken",
        Severity.ERROR,
        "VM-MEMORY",
        """a machine whose memory its host has given away.

What it checks
    Reserved memory of all machines on a host against what it has.
Why it matters
    Reserved memory is never shared: the machine does not power on.
How to fix
    Move a machine to another host.
Sources
    F. Denneman, 2023-05-30.
Example
    Three machines of 400 GB on a host with 1 TB.
""",
    ),
    _reports(
        "VM029",
        "device-taken",
        Severity.ERROR,
        "VM-DEVICE",
        """a device that another machine has, or that its host has not.

What it checks
    Devices named by machines against those of the host and those in use.
Why it matters
    The machine does not power on.
How to fix
    A device that is free, or another host.
Sources
    VMware DirectPath I/O documentation.
Example
    Two machines with the same passthrough GPU.
""",
    ),
)

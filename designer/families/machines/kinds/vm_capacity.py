"""Capacity: how many more machines of a shape fit on the hosts, and where."""

from designer.workload.kind import Setting, WorkloadKind

RELEASES = ("", "7.0", "7.0 U1", "7.0 U2", "7.0 U3", "8.0", "8.0 U1", "8.0 U2", "8.0 U3", "9.0", "kvm")

WORKLOAD = WorkloadKind(
    name="vm_capacity",
    title="Room for more machines",
    reports="migration",
    metrics=("more_machines",),
    search="designer.families.machines.vm_capacity",
    help="How many more machines like one of the design can be powered on in addition to those there are, and where.",
    settings=(
        Setting("vm", "Like", "text", help="id of a machine of the design"),
        Setting("release", "Release", "choice", "", choices=RELEASES, help="empty for what the hosts run"),
    ),
)

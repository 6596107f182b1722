"""Searches over virtual machines: how many more fit, and accelerators shared by teams."""

from designer.families.machines.migration_settings import RELEASES
from designer.workload.kind import Setting, WorkloadKind

WORKLOADS = (
    WorkloadKind(
        name="pooling",
        title="Pooled accelerators",
        reports="migration",
        metrics=("gpu_utilization", "wait_dedicated", "wait_shared", "smallest_pool", "accelerators_saved"),
        search="designer.families.machines.pooling",
        help="Utilisation and waiting of accelerators each team owns, against all teams sharing them.",
        settings=(
            Setting("group", "Accelerators", "selector", "gpus", help="the accelerators to share"),
            Setting("owners", "Owners", "count", 2, help="teams that would each own an equal part of them"),
            Setting("jobs_per_second", "Jobs per owner", "frequency", "0.000005 1/s"),
            Setting("job_time", "Time of a job", "duration", "20 h"),
            Setting("variation", "Squared variation of the job time", "ratio", "1"),
        ),
    ),
    WorkloadKind(
        name="vm_capacity",
        title="Room for more machines",
        reports="migration",
        metrics=("more_machines",),
        search="designer.families.machines.vm_capacity",
        help="How many more machines like one of the design can be powered on, and where.",
        settings=(
            Setting("vm", "Like", "text", help="id of a machine of the design"),
            Setting("release", "Release", "choice", "", choices=RELEASES, help="empty for what the hosts run"),
        ),
    ),
)

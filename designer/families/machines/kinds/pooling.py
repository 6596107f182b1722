"""Pooling: accelerators owned by teams against the same ones shared by all."""

from designer.workload.kind import Setting, WorkloadKind

WORKLOAD = WorkloadKind(
    name="pooling",
    title="Pooled accelerators",
    reports="migration",
    metrics=(
        "gpu_utilization",
        "wait_dedicated",
        "wait_shared",
        "smallest_pool",
        "accelerators_saved",
    ),
    search="designer.families.machines.pooling",
    help="Utilisation and waiting of accelerators each team owns, against all teams sharing them.",
    settings=(
        Setting("group", "Accelerators", "selector", "gpus", help="the accelerators to share"),
        Setting("owners", "Owners", "count", 2, help="teams that would each own an equal part of them"),
        Setting("jobs_per_second", "Jobs per owner", "frequency", "0.000005 1/s"),
        Setting("job_time", "Time of a job", "duration", "20 h"),
        Setting("variation", "Squared variation of the job time", "ratio", "1"),
    ),
)

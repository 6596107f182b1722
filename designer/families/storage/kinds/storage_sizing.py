"""Storage sizing: the most accelerators that storage keeps busy, as MLPerf Storage counts them."""

from designer.workload.kind import Setting, WorkloadKind

WORKLOAD = WorkloadKind(
    name="storage_sizing",
    title="Storage sizing",
    reports="training",
    metrics=(
        "accelerators",
        "accelerators_per_server",
        "gpu_utilization",
        "rate",
        "delivered_rate",
        "data_rate_per_gpu",
    ),
    search="designer.families.storage.storage_sizing",
    help="The largest number of accelerators whose utilisation stays above a threshold.",
    settings=(
        Setting("benchmark", "Benchmark", "choice", "unet3d", choices=("unet3d", "resnet50", "cosmoflow")),
        Setting("emulated", "Accelerator", "choice", "h100", choices=("h100", "a100", "b200")),
        Setting("source", "Data from", "selector", "storage"),
        Setting("hosts", "Hosts", "selector", "memory", help="whose servers read"),
        Setting(
            "client",
            "Client",
            "choice",
            "auto",
            choices=("auto", "local", "parallel", "offloaded", "block", "lustre", "nfs"),
        ),
        Setting("accelerators", "Accelerators", "count", 0, help="whose delivered rate is asked; 0 for the most"),
        Setting("threshold", "Utilisation kept", "ratio", "0", help="0 for the rule: 0.9, CosmoFlow 0.7"),
    ),
)

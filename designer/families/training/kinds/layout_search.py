"""Layout search: the fastest ways to spread a transformer over the drawn accelerators."""

from designer.workload.job_settings import MODEL
from designer.workload.kind import Setting, WorkloadKind

WORKLOAD = WorkloadKind(
    name="layout_search",
    title="Layout search",
    reports="training",
    metrics=(
        "step_time",
        "samples_per_second",
        "tokens_per_second",
        "mfu",
        "memory_per_gpu",
        "candidates",
        "fitting",
    ),
    search="designer.families.training.layout_search",
    help="Every way to split a transformer that divides evenly and fits, the fastest first.",
    settings=(
        *MODEL,
        Setting("keep", "Layouts shown", "count", 10),
        Setting("most_tensor", "Largest tensor degree", "count", 0, help="0 for the accelerators of a server"),
        Setting("most_pipeline", "Largest pipeline degree", "count", 0, help="0 for the layers"),
        Setting("most_context", "Largest context degree", "count", 1),
    ),
)

"""Congestion: what hashing flows to equal paths, and many senders of one receiver, do to a workload."""

from designer.workload.kind import Setting, WorkloadKind
from designer.workload.metrics import MORE, NEITHER, Metric

WORKLOAD = WorkloadKind(
    name="congestion",
    title="Congestion",
    reports="congestion",
    metrics=(
        "hashed_share",
        "worst_draw",
        "slowest_flow_share",
        "incast_degree",
        "incast_share",
        "communication_time",
        "step_time",
        "rate",
    ),
    own={
        "hashed_share": Metric("1", MORE, "of its speed with flows split evenly, over draws of the hash"),
        "worst_draw": Metric("1", MORE, "the same in the worst of all draws"),
        "slowest_flow_share": Metric("1", MORE, "of the slowest flow, over draws of the hash"),
        "incast_degree": Metric("1", NEITHER, "servers that send to one server at the same time"),
        "incast_share": Metric("1", MORE, "of the link of a receiver, that many senders together get"),
    },
    search="designer.decisions.congestion",
    help="A workload over many draws of the hash that puts flows on equal paths: the spread of its speed, and how far "
    "many senders of one receiver get. Its value is that of flows split evenly; its band holds the spread.",
    settings=(
        Setting("workload", "Workload", "text", help="id of a transfer, collective or training of the design"),
        Setting("draws", "Draws", "count", 32),
        Setting("flows", "Queue pairs of a flow", "count", 1, help="each is hashed for itself"),
        Setting("transport", "Transport", "choice", "lossless", choices=("lossless", "tcp")),
    ),
)

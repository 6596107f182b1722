"""Trees forced where rings are faster."""

from designer.decisions.fault import WHOLE, Fault, FaultKind

FAULT = FaultKind(
    "tree", lambda _: iter((Fault("tree", "trees where rings are faster", *WHOLE, "see NCCL_ALGO", algorithm="tree"),))
)

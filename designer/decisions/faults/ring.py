"""Rings in place of reduction in the switch."""

from designer.decisions.fault import WHOLE, Fault, FaultKind

FAULT = FaultKind(
    "ring",
    lambda _: iter(
        (Fault("ring", "rings instead of reduction in the switch", *WHOLE, "see NCCL_NVLS_ENABLE", algorithm="ring"),)
    ),
)

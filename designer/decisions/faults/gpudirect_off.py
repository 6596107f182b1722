"""GPUDirect RDMA switched off: data of GPUs stops in host memory on its way to NICs."""

from designer.decisions.fault import misset

FAULT = misset(
    "GPUDirect off", "GPUDirect RDMA is off", "load nvidia-peermem, and see whether NCCL says GDRDMA", "gpudirect", True
)

"""A matrix product by its shape: what one kernel takes, to be checked on a machine in a minute."""

from collections.abc import Mapping
from typing import Any

from designer.errors import AnalysisError
from designer.workload.kind import Setting, WorkloadKind
from designer.workload.metrics import LESS, MORE, Metric
from designer.workload.program import Measure, Product, Program, Step


def program(settings: Mapping[str, Any]) -> Program:
    """One product on every accelerator of the group."""
    shape = settings["m"], settings["n"], settings["k"]
    for name, length in zip("mnk", shape, strict=True):
        if length < 1:
            raise AnalysisError("a product of no rows, columns or length", place=name, remedy="give 1 or more")
    measures = (Measure("product_time", "s", "time", "product"),)
    task = Product(settings["group"], *shape, settings["precision"])
    return Program("product", (Step("product", task),), measures=measures)


WORKLOAD = WorkloadKind(
    name="product",
    title="Matrix product",
    reports="training",
    metrics=("product_time", "product_rate"),
    own={
        "product_time": Metric("s", LESS, "one product, as its kernel takes on an accelerator with nothing else to do"),
        "product_rate": Metric("FLOP/s", MORE, "arithmetic of each accelerator, two for a multiplication and addition"),
    },
    program=program,
    answer="designer.families.serving.costs.product",
    help="Time of an (m x k) by (k x n) product on each accelerator: one kernel, to compare with a measurement.",
    settings=(
        Setting("m", "Rows", "count", 8192, help="of the values that come in, and of the result"),
        Setting("n", "Columns", "count", 8192, help="of the weights, and of the result"),
        Setting("k", "Inner length", "count", 8192, help="what is summed over"),
        Setting(
            "precision",
            "Precision",
            "choice",
            "bf16",
            choices=("bf16", "fp16", "fp8", "int8", "nvfp4", "tf32", "fp32"),
            help="fp32: outside tensor cores; tf32, nvfp4: fp32 and 16 bit where a part has no such units",
        ),
        Setting("group", "Accelerators", "selector", "gpus"),
    ),
)

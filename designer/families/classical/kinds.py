"""Classical algorithms: k-means, linear support vector machines and boosted trees as passes over a table."""

from collections.abc import Mapping
from typing import Any, Final

from designer.errors import AnalysisError
from designer.sources import Constant, Status
from designer.workload.kind import Setting, WorkloadKind
from designer.workload.metrics import LESS, Metric
from designer.workload.program import Compute, Measure, Program, Step

#: bytes of a value of the table, of a binned one, and of gradient and curvature of a row
_VALUE, _BIN, _GRADIENT = 4, 1, 8

#: of the roofline that libraries reach, by algorithm
SHARES: Final = {
    "k-means": Constant(
        0.6, 0.25, 0.9, "classical-measured", Status.SECONDARY, "1", "few clusters and columns .27, many of both .89"
    ),
    "svm": Constant(
        0.3,
        0.01,
        0.9,
        "classical-measured",
        Status.ASSUMED,
        "1",
        "one thread of many takes row after row, or all rows at once",
    ),
    "trees": Constant(
        0.04, 0.008, 0.08, "boosted-trees", Status.SECONDARY, "1", "CPUs .016 to .077; xgboost of 2018 on V100 .008"
    ),
}


def work(settings: Mapping[str, Any]) -> tuple[float, float, int]:
    """Arithmetic [FLOP] and bytes [B] of one pass over all rows, and the number of passes.

    k-means: subtract, square and add for each row, column and cluster. Linear SVM: a product and an update of each
    value.
    Trees by histograms: gradient and curvature of each row are added to a bin of each column, once for each level.
    """
    n, d = settings["rows"], settings["columns"]
    if settings["algorithm"] == "k-means":
        return 3.0 * n * d * settings["clusters"], float(_VALUE * n * d), settings["iterations"]
    if settings["algorithm"] == "svm":
        return 4.0 * n * d, float(_VALUE * n * d), settings["iterations"]
    return 2.0 * n * d, float(_BIN * n * d + _GRADIENT * n), settings["trees"] * settings["depth"]


def program(settings: Mapping[str, Any]) -> Program:
    """Pass after pass; rows are spread evenly over the parts."""
    for name in ("rows", "columns", "clusters", "iterations", "trees", "depth", "parts"):
        if settings[name] < 1:
            raise AnalysisError(f"{name} of {settings[name]}", place=name, remedy="give 1 or more")
    flop, size, passes = work(settings)
    share = 1 / settings["parts"]
    task = Compute(
        settings["where"], flop=flop * share, size=size * share, precision="fp32", share=SHARES[settings["algorithm"]]
    )
    measures = (Measure("fit_time", "s", "end", "pass"), Measure("pass_time", "s", "time", "pass"))
    return Program("classical", (Step("pass", task, lags={"pass": 1}),), passes, measures=measures)


WORKLOAD = WorkloadKind(
    name="classical",
    title="Classical algorithm",
    reports="classical",
    metrics=("fit_time", "pass_time"),
    own={
        "fit_time": Metric("s", LESS, "all passes over the table"),
        "pass_time": Metric("s", LESS, "one pass over the table: an iteration, an epoch, a level of a tree"),
    },
    program=program,
    help="Training of k-means, a linear SVM or boosted trees on a table in memory, at the speed of libraries.",
    settings=(
        Setting("algorithm", "Algorithm", "choice", "k-means", choices=("k-means", "svm", "trees")),
        Setting("rows", "Rows", "count", 10_000_000),
        Setting("columns", "Columns", "count", 100),
        Setting("clusters", "Clusters", "count", 100, help="of k-means"),
        Setting("iterations", "Passes", "count", 20, help="of k-means and SVM"),
        Setting("trees", "Trees", "count", 100),
        Setting("depth", "Depth of a tree", "count", 6),
        Setting("where", "Processors", "selector", "cpus", help="cpus, gpus or paths of some"),
        Setting("parts", "Parts", "count", 1, help="that share the rows"),
    ),
)

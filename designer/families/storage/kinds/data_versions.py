"""Data versions: a dataset stored several times over, as whole versions or as changes, and copied to other stores."""

from collections.abc import Mapping
from typing import Any

from designer.errors import AnalysisError
from designer.workload.kind import Setting, WorkloadKind
from designer.workload.metrics import LESS, Metric
from designer.workload.program import Measure, Move, Program, Step


def written(settings: Mapping[str, Any]) -> float:
    """What a new version writes to each store [B]."""
    return settings["size"] * (1.0 if settings["keeps"] == "whole" else settings["changed"])


def program(settings: Mapping[str, Any]) -> Program:
    """One new version: written to the store, then copied from there."""
    s = settings
    if s["size"] <= 0 or s["versions"] < 1:
        raise AnalysisError("no data are kept", place="versions", remedy="give a size above 0 and 1 version or more")
    if not 0 < s["changed"] <= 1:
        raise AnalysisError("a version without changes", place="changed", remedy="give a share above 0, at most 1")
    if s["every"] <= 0:
        raise AnalysisError("versions without pause", place="every", remedy="give a time above 0 s")
    # every store gets a whole version, of which each source writes its part
    steps = [Step("write", Move(s["source"], s["store"], written(s), pairing="striped"))]
    measures = [Measure("write_time", "s", "time", "write")]
    if s["copies_to"].strip():
        steps.append(Step("copy", Move(s["store"], s["copies_to"], written(s), pairing="striped"), after=("write",)))
        measures.append(Measure("copy_time", "s", "time", "copy"))
    measures.insert(0, Measure("version_time", "s", "end", steps[-1].name))
    return Program("versions", tuple(steps), measures=tuple(measures))


WORKLOAD = WorkloadKind(
    name="data_versions",
    title="Data versions",
    reports="data_versions",
    metrics=(
        "version_time",
        "write_time",
        "copy_time",
        "data_stored",
        "data_copied",
        "store_used",
        "data_per_day",
        "versions_per_day",
    ),
    own={
        "version_time": Metric("s", LESS, "until a new version is in the store and in all others it is copied to"),
        "write_time": Metric("s", LESS, "writing a new version, or its changes, to the store"),
        "copy_time": Metric("s", LESS, "copying it from there to the other stores"),
        "data_stored": Metric("B", LESS, "in each store: all versions that are kept"),
        "data_copied": Metric("B", LESS, "in the other stores together"),
        "store_used": Metric("1", LESS, "of the capacity of the fullest store, where it is stated"),
        "data_per_day": Metric("B", LESS, "written to all stores in a day"),
        "versions_per_day": Metric("1", LESS, "new versions a day, at the cadence"),
    },
    program=program,
    search="designer.families.storage.data_versions",
    help="A dataset that is kept in several versions, whole or as snapshots of what changed, and copied to other "
    "stores: capacity, traffic, and how long a new version takes.",
    settings=(
        Setting("size", "Dataset", "size", "1 TB", help="a version as a whole"),
        Setting("source", "Written from", "selector", "memory"),
        Setting("store", "Store", "selector", "storage"),
        Setting("versions", "Versions kept", "count", 10),
        Setting("keeps", "Kept as", "choice", "changes", choices=("changes", "whole")),
        Setting("changed", "Changed", "ratio", "0.1", help="of a version against the one before"),
        Setting("copies_to", "Copied to", "selector", "", help="stores that hold all versions as well; empty for none"),
        Setting("every", "New version", "duration", "24 h"),
    ),
)

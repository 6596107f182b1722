"""MLPerf Storage v3.0 drawn as hosts, a switch and a storage system: ``python -m tests.validation.storage.newer``.

The measurements are kept outside the checkout (`tests.real.newer_measurements`). Reads of UNet3D are predicted at the
number of accelerators of the run; checkpoints as transfers between the memory of all hosts and the storage system.
Reads of checkpoints of FlashBlade//EXA are left out: some come from caches.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from designer.analysis.study import analyze
from designer.design.document import Design, WorkloadSpec
from designer.formulas.scoring import Scored, Sided, band_score, group_medians, macro_mean
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from tests.real import newer_measurements

Row = Mapping[str, Any]


class System(NamedTuple):
    """A system as its submission describes it.

    Parameters
    ----------
    nics, rate
        Ports of a host, and the rate of one.
    sockets, cores
        Processors of a host, and cores of one.
    ports
        Ports of the storage system, of 400 Gb/s each.
    values
        What is said of the storage system.
    """

    nics: int
    rate: str
    sockets: int
    cores: int
    ports: int
    values: Mapping[str, str | int]


SYSTEMS: Final[Mapping[str, System]] = {
    "aws_c5n18xlarge": System(1, "100 Gb/s", 2, 18, 64, {"servers": 10, "server_bandwidth": "100 Gb/s"}),
    "AMLFS-Durable-Premium-500-40TiB": System(
        1, "82 Gb/s", 2, 48, 64, {"protocol": "Lustre", "provisioned_bandwidth": "20 GB/s"}
    ),
    "k3000": System(
        1,
        "400 Gb/s",
        1,
        32,
        8,
        {
            "protocol": "DAOS",
            "servers": 4,
            "server_bandwidth": "800 Gb/s",
            "drives": 16,
            "drive_read_bandwidth": "14 GB/s",
        },
    ),
    "Everpure_FBEXA": System(2, "400 Gb/s", 2, 24, 64, {"protocol": "parallel NFS, RDMA", "server_cores": 32}),
    "hickory": System(
        2,
        "400 Gb/s",
        2,
        80,
        16,
        {
            "protocol": "WEKA, DPDK",
            "servers": 8,
            "server_bandwidth": "800 Gb/s",
            "server_cores": 96,
            "drives": 20,
            "drive_read_bandwidth": "14.5 GB/s",
        },
    ),
    "e2000": System(
        1, "400 Gb/s", 1, 32, 8, {"protocol": "Lustre", "servers": 4, "server_bandwidth": "800 Gb/s", "drives": 16}
    ),
    "InspurData_InDataOS_AS13000G7": System(
        1,
        "400 Gb/s",
        1,
        64,
        8,
        {
            "protocol": "InDataOS parallel client",
            "servers": 4,
            "server_bandwidth": "800 Gb/s",
            "server_cores": 32,
            "drives": 6,
            "drive_read_bandwidth": "14 GB/s",
        },
    ),
}


@cache
def drawn(name: str, hosts: int, nodes: int) -> Design:
    """The hosts and the storage system of a submission."""
    system = next(one for prefix, one in SYSTEMS.items() if name.startswith(prefix))
    values: dict[str, str | int] = {**system.values, **({"servers": nodes} if nodes else {})}
    nics = [f"nic{k}" for k in range(system.nics)]
    gone = [f"{kind}1" for kind in ("cpu", "memory") if system.sockets == 1]
    given = {key: {"value": value} for key, value in values.items()}
    changes: dict[str, Any] = {
        "remove": ["gpu*", "nvme*", *gone, *(["nic1"] if system.nics == 1 else [])],
        "add": {
            "parts": [
                {"id": "store", "kind": "storage", "overrides": given},
                {"id": "fabric", "kind": "switch"},
            ],
            "links": [
                *(
                    {"a": nic, "b": "fabric", "kind": "infiniband", "bandwidth_per_direction": system.rate}
                    for nic in nics
                ),
                {
                    "a": "fabric",
                    "b": "store",
                    "kind": "infiniband",
                    "count": system.ports,
                    "bandwidth_per_direction": "400 Gb/s",
                },
            ],
        },
        "links": {"cpu*--nic*": {"generation": 5}},
        "parts": {"nic*": {"type": "nic/nvidia/connectx-7"}, "cpu*": {"cores": system.cores}},
    }
    if hosts > 1:
        changes["servers"] = hosts
    return apply_changes(open_design("dell-r750xa"), changes, "mlperf-storage")


def rows() -> Iterator[Row]:
    """The rates there are to predict; none where the measurements are not there."""
    folder = newer_measurements()
    found: list[Row] = json.loads((folder / "storage-mlperf-v3.json").read_text("utf-8")) if folder else []
    for row in found:
        if row["unit"] == "GB/s" and "bimodal" not in row["notes"]:
            yield row


def scored(row: Row) -> Scored:
    """A rate, predicted against published; the reads or the writes of a submitter are a group."""
    setup, value = row["setup"], row["value"] * 1e9
    design = drawn(setup["system"], setup["hosts"], setup.get("data_nodes", 0))
    reading = row["metric"] == "delivered_rate"
    if reading:
        settings = {"emulated": "b200", "source": "store", "accelerators": setup["accelerators"]}
        spec = WorkloadSpec(id="run", kind="storage_sizing", settings=settings)
    else:
        ends = ("memory", "store") if setup["operation"] == "write" else ("store", "memory")
        spec = WorkloadSpec(id="run", kind="transfer", settings=dict(zip(("from", "to"), ends, strict=True)))
    asked = design.model_copy(update={"workloads": {"run": spec}})
    metric = analyze(asked, ["run"], curves=False).workloads[0].metrics["delivered_rate" if reading else "rate"]
    kind = "feed" if reading else setup["operation"]
    return Scored(f"{row['group']}/{kind}", metric.value, value, metric.low, metric.high, Sided.BOTH)


if __name__ == "__main__":
    points = [(row, scored(row)) for row in rows()]
    for row, point in points:
        ends = f"{point.low / 1e9:.0f} to {point.high / 1e9:.0f}"
        sys.stdout.write(f"{row['id'][15:]}: {point.predicted / 1e9:.1f} ({ends}), measured {row['value']:.1f} GB/s\n")
    found = [point for _, point in points]
    for name, error in group_medians(found).items():
        sys.stdout.write(f"{name}: {error:.1%}\n")
    sys.stdout.write(f"{len(found)} points, {macro_mean(found):.1%}, bands {band_score(found).coverage:.0%}\n")

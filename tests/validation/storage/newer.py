"""MLPerf Storage v3.0 drawn as hosts, a switch and a storage system: ``python -m tests.validation.storage.newer``.

The measurements are kept outside the checkout (`tests.real.newer_measurements`). Reads of UNet3D are predicted at the
number of accelerators of the run; checkpoints between the memory of all hosts and the storage system. Some reads of
checkpoints of FlashBlade//EXA come from caches, so their rate is taken from the mean time.

Every point is predicted a second time without what its submitter decides: constants fall back on those of others.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from designer.analysis.study import analyze
from designer.design.document import Design, WorkloadSpec
from designer.engine.account import account
from designer.engine.network import build_network
from designer.engine.network.capacities import WRITE_SHARE
from designer.engine.network.storage import UNDRAWN_WRITES
from designer.families.training import checkpoints
from designer.formulas.scoring import Scored, Sided, band_score, group_medians, macro_mean
from designer.formulas.storage import client_rate
from designer.formulas.storage import storage_servers as servers
from designer.formulas.storage.client_rate import socket_rates
from designer.formulas.storage.storage_capacity import Client
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.memo import forget
from designer.sources import Constant
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


#: what a drawing with ports alone says of a storage system
_NO_SERVERS: Final = frozenset({"protocol", "provisioned_bandwidth"})


@cache
def drawn(name: str, hosts: int, nodes: int, *, servers: bool = True) -> Design:
    """The hosts and the storage system of a submission, its servers too or its ports alone."""
    system = next(one for prefix, one in SYSTEMS.items() if name.startswith(prefix))
    values: dict[str, str | int] = {**system.values, **({"servers": nodes} if nodes else {})}
    if not servers:
        values = {key: value for key, value in values.items() if key in _NO_SERVERS}
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
        bimodal = "bimodal" in row["notes"]
        if row["unit"] == "GB/s" and not bimodal:
            yield row
        elif row["unit"] == "s" and bimodal:
            yield {**row, "value": row["setup"]["checkpoint_gib"] * 2**30 / 1e9 / row["value"]}


def scored(row: Row, *, servers: bool = True) -> Scored:
    """A rate, predicted against published; the reads or the writes of a submitter are a group."""
    setup, value = row["setup"], row["value"] * 1e9
    design = drawn(setup["system"], setup["hosts"], setup.get("data_nodes", 0), servers=servers)
    reading = row["metric"] == "delivered_rate"
    if reading:
        settings = {"emulated": "b200", "source": "store", "accelerators": setup["accelerators"]}
        spec = WorkloadSpec(id="run", kind="storage_sizing", settings=settings)
        asked = design.model_copy(update={"workloads": {"run": spec}})
        metric = analyze(asked, ["run"], curves=False).workloads[0].metrics["delivered_rate"]
        return Scored(f"{row['group']}/feed", metric.value, value, metric.low, metric.high, Sided.BOTH)
    network, back = build_network(design), setup["operation"] == "read"
    if back:
        answer = checkpoints.restored(network, "store", "memory", "run")
    else:
        answer = checkpoints.saved(network, "memory", "store", "run")
    # the size is known: the state of a parameter widens no band
    files = checkpoints.READ_BACK if back else checkpoints.WRITE_OUT
    bands = {**answer.rates.joint_bands, "files": (files.low, files.high)}
    size = setup["checkpoint_gib"] * 2**30
    time = account(answer.rates.time(size / len(answer.rate), size="files"), bands, explained=False)
    name = f"{row['group']}/{setup['operation']}"
    return Scored(name, size / time.value, value, size / time.high, size / time.low, Sided.BOTH)


def _wider(of: Constant, value: float) -> Constant:
    """Another value with the same relative band."""
    return replace(of, value=value, low=of.low * value / of.value, high=of.high * value / of.value)


_LUSTRE = socket_rates(Client.LUSTRE)
assert _LUSTRE is not None
_BACK = checkpoints.SERVERS_BACK
_EIGHT: Final = servers.StorageServers(8)
#: what a submitter decides, and what is known of it by the others
WITHOUT: Final[Mapping[str, tuple[tuple[Any, str, Any], ...]]] = {
    "Everpure": (
        (servers, "CORE_WRITE", _wider(servers.CORE_WRITE, WRITE_SHARE.value * servers.CORE_READ.value)),
        (checkpoints, "SERVERS_BACK", _wider(_BACK, 2.1)),
    ),
    "FarmGPU": (
        (servers, "PORTS_WRITE", _wider(servers.PORTS_WRITE, UNDRAWN_WRITES.value * servers.forwarded(_EIGHT)[0])),
        (checkpoints, "SERVERS_BACK", _wider(_BACK, 2.7)),
    ),
    "HPE": (
        (
            client_rate,
            "KERNEL_WRITES",
            {
                **client_rate.KERNEL_WRITES,
                Client.LUSTRE: _wider(_LUSTRE[1], WRITE_SHARE.value * _LUSTRE[0].value),
            },
        ),
    ),
    # AS13000 has 2.0 GB/s a core and 0.63 of its ports, WEKA 0.6
    "InspurData": (
        (servers, "CORE_READ", _wider(servers.CORE_READ, 2.0e9)),
        (servers, "PORTS_READ", _wider(servers.PORTS_READ, 0.62)),
    ),
}


def left_out() -> list[Scored]:
    """Every point without what its submitter decides."""
    found: list[Scored] = []
    for row in rows():
        with ExitStack() as stack:
            for module, name, value in WITHOUT.get(row["setup"]["submitter"], ()):
                stack.enter_context(patch.object(module, name, value))
            forget()
            drawn.cache_clear()
            found.append(scored(row))
    forget()
    drawn.cache_clear()
    return found


def without_servers() -> list[Scored]:
    """Every checkpoint by the ports of its storage alone; FlashBlade's are more than it has, as they are not known."""
    return [scored(row, servers=False) for row in rows() if row["metric"] != "delivered_rate"]


if __name__ == "__main__":
    points = [(row, point) for row, point in zip(rows(), map(scored, rows()), strict=True)]
    without = left_out()
    for (row, point), other in zip(points, without, strict=True):
        ends = f"{point.low / 1e9:.0f} to {point.high / 1e9:.0f}"
        alone = f"{other.predicted / 1e9:.1f} ({other.low / 1e9:.0f} to {other.high / 1e9:.0f})"
        told = f"{point.predicted / 1e9:.1f} ({ends}), without its submitter {alone}, measured {row['value']:.1f} GB/s"
        sys.stdout.write(f"{row['id'][15:]}: {told}\n")
    found = [point for _, point in points]
    alone = group_medians(without)
    for name, error in group_medians(found).items():
        sys.stdout.write(f"{name}: {error:.1%}, left out {alone[name]:.1%}\n")
    for points in (found, without, without_servers()):
        sys.stdout.write(f"{len(points)} points, {macro_mean(points):.1%}, bands {band_score(points)}\n")

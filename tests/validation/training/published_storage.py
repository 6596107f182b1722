"""Published storage runs turned into inputs of the storage formulas, and the estimates scored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from designer.formulas.storage.read_rate import NFS_MOUNT, PARALLEL_CLIENT, Access, Medium, read_rate
from designer.formulas.storage.storage_capacity import (
    Client,
    FeedWorkload,
    Hosts,
    Pattern,
    host_rate,
    storage_capacity,
    utilization,
)
from designer.units import Bytes, BytesPerSecond, PerSecond, Ratio, Seconds
from tests.validation.training.published import Scored

PATTERNS = {"unet3d": Pattern.LARGE, "resnet50": Pattern.RECORDS, "cosmoflow": Pattern.SMALL}
GIGABIT = 1e9 / 8


def _gigabits(text: str) -> float:
    """Nominal rate of the first kind of NIC in ``2x200Gb client+2x200Gb backend`` [B/s]."""
    found = re.search(r"(\d+)x(\d+)Gb", text or "")
    return int(found[1]) * int(found[2]) * GIGABIT if found else 0.0


def _drives(text: str) -> float:
    """Nominal read rate of ``16x7864GiB SSD read_peak=14`` where it is a drive's [B/s]."""
    count = re.match(r"(\d+)x", text or "")
    peak = re.search(r"read_peak=(\d+)\s*(MB/s|GB/s)?", text or "")
    if not count or not peak:
        return 0.0
    value = float(peak[1])
    rate = value * 1e6 if value > 1000 else value * 1e9
    return int(count[1]) * rate if rate <= 20e9 else rate


def client_of(setup: Mapping[str, Any]) -> Client:
    """How the hosts of a submission reach storage, from its names."""
    text = f"{setup['submitter']} {setup['system']}".lower()
    if not any(_gigabits(row.get("nics", "")) for row in setup["hardware"]):
        return Client.LOCAL
    for hint, client in (
        ("clusterstor", Client.LUSTRE), ("cray", Client.LUSTRE), ("lustre", Client.LUSTRE),
        ("hammerspace", Client.NFS), ("nfs", Client.NFS),
        ("dpu", Client.OFFLOADED), ("lightbits", Client.BLOCK), ("nvme-tcp", Client.BLOCK), ("nvme_tcp", Client.BLOCK),
    ):  # fmt: skip
        if hint in text:
            return client
    return Client.PARALLEL


def _processors(text: str) -> tuple[int, int]:
    """Sockets and threads of ``2x Intel(R) Xeon(R) Gold 6430``, where the cores are known."""
    sockets = int(text[0]) if text[:1].isdigit() else 2
    cores = {
        "6438": 32,
        "8558": 48,
        "74F3": 24,
        "6338": 32,
        "7502P": 32,
        "7763": 64,
        "9554": 64,
        "8480": 56,
        "7642": 48,
        "7713": 64,
        "9654": 96,
    }
    per_socket = next((count for name, count in cores.items() if name in text), 0)
    return sockets, 2 * sockets * per_socket


def workload_of(setup: Mapping[str, Any]) -> FeedWorkload:
    return FeedWorkload(
        setup["batch_per_accelerator"],
        Seconds(setup["compute_time_per_batch_s"]),
        Bytes(setup["bytes_per_sample"]),
        PATTERNS[setup["model"]],
    )


def _path(setup: Mapping[str, Any], client: Client) -> tuple[float, float | None]:
    rows = setup["hardware"]
    if client is Client.LOCAL:
        return sum(_drives(row.get("drives", "")) for row in rows), None
    host = next(_gigabits(row.get("nics", "")) for row in rows if _gigabits(row.get("nics", "")))
    servers = [row for row in rows if _drives(row.get("drives", "")) and _gigabits(row.get("nics", ""))]
    count = re.search(r"(\d+)xStorageNode", setup["system"])
    if not count or not servers:
        return host, None
    one = min(_gigabits(servers[-1]["nics"]), _drives(servers[-1]["drives"]))
    return host, int(count[1]) * one


def predict_storage(point: Mapping[str, Any]) -> Scored:
    """The estimate of one published storage run."""
    setup, metric = point["setup"], point["metric"]
    if "hardware" not in setup:
        if "IOPS" in setup.get("tool", ""):
            # 980 PRO data sheet: 7000 MB/s, 1,000,000 random reads of 4 KiB
            medium = Medium(BytesPerSecond(7e9), PerSecond(1e6), request=Bytes(4096))
            value = read_rate(medium, Bytes(2**30), Access.RANDOM, 16) / 2**20
            return Scored(point["id"], point["group"], point["value"], value, value * 0.86, value * 1.21)
        if "nominal_GBps" in setup:
            value = setup["nominal_GBps"] * PARALLEL_CLIENT.value
            return Scored(point["id"], point["group"], point["value"], value, value * 0.85, value * 1.15, True)
        one = [NFS_MOUNT.value / 1e9, NFS_MOUNT.low / 1e9, NFS_MOUNT.high / 1e9]
        return Scored(point["id"], point["group"], point["value"], *one)
    work, client = workload_of(setup), client_of(setup)
    nominal, servers = _path(setup, client)
    hosts = Hosts(setup["client_hosts"], BytesPerSecond(nominal), client, *_processors(setup["hardware"][0]["cpu"]))
    if metric == "sustained_read_throughput":
        count = setup["accelerators"]
        value = count * work.demand * utilization(work, count, host_rate(hosts, work.pattern)) / 2**20
        return Scored(point["id"], point["group"], point["value"], value, value * 0.94, value * 1.06)
    found = storage_capacity(
        work, hosts, Ratio(setup["au_threshold"]), None if servers is None else BytesPerSecond(servers)
    )
    lower = "NOT BINDING" in point["notes"]
    return Scored(
        point["id"], point["group"], point["value"], max(found.accelerators, 0.5), found.low, found.high, lower
    )

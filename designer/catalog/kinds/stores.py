"""Drives and storage systems."""

from __future__ import annotations

from typing import Final

from designer.catalog.partkind import Capability, Field, PartKind, PortKind

_RATES: Final = (
    Field("capacity", "Capacity", "size"),
    Field("read_bandwidth", "Sequential read", "rate"),
    Field("write_bandwidth", "Sequential write", "rate"),
    Field("random_read_rate", "Random reads", "frequency"),
    Field("random_write_rate", "Random writes", "frequency"),
)

KINDS: Final = (
    PartKind(
        name="storage",
        title="Storage",
        plural="Storage systems",
        brief=("{read_bandwidth}",),
        order=90,
        icon="storage",
        help="Storage system: an array, server or service that keeps data behind a network.",
        capabilities=frozenset({Capability.STORE}),
        ports=(
            PortKind("network", "Network ports", ("ethernet", "infiniband", "fabric"), count_field="ports"),
            PortKind("pcie", "PCIe", ("pcie",)),
        ),
        fields=(
            *_RATES,
            Field("client_read_bandwidth", "One client, read", "rate"),
            Field("client_write_bandwidth", "One client, write", "rate"),
            Field("protocol", "Protocol", "text"),
            Field(
                "provisioned_bandwidth", "Provisioned bandwidth", "rate", help="of a cloud, reads and writes together"
            ),
            Field("provisioned_per_tib", "Provisioned for each TiB", "rate", help="of a cloud; times the capacity"),
            Field(
                "provisioned_write_per_tib",
                "Writes provisioned for each TiB",
                "rate",
                help="where reads have an allowance of their own",
            ),
            Field(
                "nconnect",
                "Connections of a client",
                "count",
                help="where its rates are not given: 2 GB/s each over TCP",
            ),
            Field("connection_bandwidth", "One connection", "rate", help="where it is not that of TCP or RDMA"),
            Field(
                "client_release", "Release of the client", "text", help="of Lustre, as 2.15; sockets get more from it"
            ),
            Field("client_cores", "Cores of the client", "count", help="that WEKA or DPDK takes of a host"),
            Field(
                "client_requests",
                "Requests of a client",
                "count",
                help="in flight: 64 slots of an NFS 4.1 session, 8 for each Lustre target",
            ),
            Field("client_request_size", "Request of a client", "size", help="1 MiB of NFS, 4 MiB of Lustre"),
            Field("servers", "Servers", "count", help="that keep the data; the rates are theirs where none are given"),
            Field("server_bandwidth", "Ports of a server", "rate", help="those to clients, together"),
            Field("server_cores", "Cores of a server", "count"),
            Field("drives", "Drives of a server", "count"),
            Field("drive_read_bandwidth", "One drive, read", "rate"),
            Field("drive_write_bandwidth", "One drive, write", "rate"),
            Field(
                "file_servers", "Servers of a file", "count", help="that a checkpoint's file is spread over; else all"
            ),
            Field("redundancy", "Redundancy", "text", help="8+2, 3 copies, none"),
            Field("access_latency", "Access latency", "duration"),
            Field("ports", "Network ports", "count"),
            Field("height", "Height units", "count"),
            Field("power_max", "Largest power draw", "power"),
            Field("weight", "Weight", "mass"),
        ),
    ),
    PartKind(
        name="drive",
        title="Drive",
        plural="Drives",
        brief=("{read_bandwidth}",),
        order=95,
        icon="drive",
        help="Drive: NVMe, SATA or disk in a server.",
        capabilities=frozenset({Capability.STORE}),
        ports=(
            PortKind("pcie", "PCIe or SATA", ("pcie",), count=1),
            PortKind("network", "Storage fabric", ("fabric",)),
        ),
        fields=(
            *_RATES,
            Field(
                "redundancy", "Redundancy", "text", help="of an array in the host, as md or LVM write it: 6+2, 2 copies"
            ),
            Field("write_cache", "Write cache", "size", help="written at the sequential rate, as in cells of one bit"),
            Field("steady_write_bandwidth", "Write past the cache", "rate", help="of a drive whose cache is full"),
            Field("access_latency", "Access latency", "duration"),
            Field("pcie_generation", "PCIe generation", "count"),
            Field("pcie_lanes", "PCIe lanes", "count"),
            Field("power_per_part", "Power", "power"),
            Field("interface", "Interface", "text"),
        ),
    ),
)

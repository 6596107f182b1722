"""Defaults of QEMU's live migration, and what was measured of it."""

from __future__ import annotations

from typing import Final

from designer.families.machines.formulas._precopy import widened
from designer.sources import Constant, Status
from designer.units import parse_rate

_KEY: Final = "qemu-migration-defaults"
GIGABIT: Final = parse_rate("1 Gb/s")


DOWNTIME_LIMIT: Final = Constant(
    0.3, 0.3, 0.3, _KEY, Status.PRIMARY, "s", "downtime-limit 300 ms; 30 ms in old releases"
)
THROTTLE_TRIGGER: Final = Constant(
    0.5, 0.5, 0.5, _KEY, Status.PRIMARY, "1", "throttle-trigger-threshold 50 %: dirtied to sent"
)
UNPRODUCTIVE: Final = Constant(2, 2, 2, _KEY, Status.PRIMARY, "1", "passes above the trigger before the throttle moves")
THROTTLE_INITIAL: Final = Constant(0.20, 0.20, 0.20, _KEY, Status.PRIMARY, "1", "cpu-throttle-initial")
THROTTLE_INCREMENT: Final = Constant(0.10, 0.10, 0.10, _KEY, Status.PRIMARY, "1", "cpu-throttle-increment")
THROTTLE_MOST: Final = Constant(0.99, 0.99, 0.99, _KEY, Status.PRIMARY, "1", "max-cpu-throttle")

#: one channel: 8–16 of them are said to fill 100 Gb/s on QEMU
CHANNEL_QEMU: Final = widened(
    Constant(1.25e9, 0.78e9, 1.7e9, "kubevirt-multifd", Status.DERIVED, "B/s", "8 to 16 channels fill 12.5 GB/s")
)
#: one thread touching pages of 4 KiB for the first time: the fault, and the page set to zero
POPULATION: Final = Constant(
    4.0e9, 1.5e9, 8.0e9, "migration-assumed", Status.ASSUMED, "B/s", "0.5 to 2.7 µs a page; part of every channel"
)
#: 1, 2 and 4 connections carried 1.70, 3.93 and 7.59 GB/s
CHANNEL_CLOUD_HYPERVISOR: Final = widened(
    Constant(
        1.90e9, 1.69e9, 1.98e9, "cloud-hypervisor-connections", Status.PRIMARY, "B/s", "three points, residual 12 %"
    )
)
#: nothing was published of their connections: that of QEMU, at worst a fifth of it
CHANNEL_OTHERS: Final = Constant(
    1.25e9, 0.25e9, 2.5e9, "migration-assumed", Status.ASSUMED, "B/s", "one stream of Xen or Hyper-V, as of QEMU"
)
#: one pass over all memory and up to four over what was dirtied; stopped earlier below 50 pages
XEN_PASSES: Final = Constant(5, 5, 5, "xen-migration-policy", Status.PRIMARY, "1", "default; 30 in 2014")
XEN_REST: Final = Constant(50 * 4096, 50 * 4096, 50 * 4096, "xen-migration-policy", Status.PRIMARY, "B", "50 pages")
HYPER_V_PASSES: Final = Constant(
    5, 5, 10, "hyper-v-passes", Status.SECONDARY, "1", "a fixed small number of passes, excerpt"
)
#: one connection looked through 32 GiB nobody had touched in 2.2 s, and took 2.8 s longer over 32 GiB that were full
ZERO_SCAN: Final = Constant(
    13e9,
    4e9,
    24e9,
    "cloud-hypervisor-zero-pages",
    Status.DERIVED,
    "B/s",
    "guest memory searched per thread: 15.3 and 12.3; a fault per page of 0.2 to 1 µs",
)
#: the threads that compressed until QEMU 9.0 got their pages one by one from the thread that searched: an idle guest of
#: 4 GB needed 1.83 s although little was left to send
ZERO_SCAN_HANDED: Final = widened(
    Constant(
        2.35e9,
        2.0e9,
        6.0e9,
        "qemu-thread-compression",
        Status.DERIVED,
        "B/s",
        "guest memory searched by one thread for others, one point",
    )
)
LINE_SHARE: Final = Constant(
    0.94, 0.88, 1.0, "migration-calibration", Status.DERIVED, note="payload of line rate, TCP; seven points, 0.87–1.01"
)
#: 26 Gb/s on a 40 Gb/s InfiniBand link, whose 8b/10b code leaves 32 Gb/s
RDMA_SHARE: Final = Constant(0.81, 0.75, 0.97, "qemu-rdma", Status.DERIVED, note="of the data rate after line code")
#: 8 GiB idle guest with everything pinned: 4.0 s, of which 2.64 s are the copy
RDMA_PINNING: Final = widened(
    Constant(6.3e9, 4.5e9, 9.0e9, "qemu-rdma", Status.DERIVED, "B/s", "one point, given as approximate")
)
RDMA_REGISTERING: Final = widened(
    Constant(
        9.5 * GIGABIT,
        8.5 * GIGABIT,
        10.5 * GIGABIT,
        "qemu-rdma",
        Status.PRIMARY,
        "B/s",
        "memory registered as it is sent",
    )
)
#: downtimes of idle guests: 24, 27, 28, 40 ms, with 64 virtual CPUs 78 to 107 ms
SWITCHOVER: Final = Constant(
    0.025, 0.015, 0.107, "migration-calibration", Status.DERIVED, "s", "stop, device state of a plain guest, start"
)
SETUP: Final = Constant(0.1, 0.02, 0.5, "migration-assumed", Status.ASSUMED, "s", "connect and dirty logging")
BANDWIDTH_SPREAD: Final = Constant(
    1.0,
    0.90,
    1.12,
    "migration-calibration",
    Status.DERIVED,
    "1",
    "0.87–1.01 of line on 1, 10 and 100 Gb/s, 8 points; as wide as publications that were left out scatter",
)
DIRTY_SPREAD: Final = Constant(
    1.0, 0.8, 1.25, "migration-assumed", Status.ASSUMED, note="dirty rates vary by the second"
)
#: encrypting on the core of a connection, before it is copied to the socket; one thread that did both carried 0.3 GB/s
#: in 2020, which leaves 0.4 GB/s for the cipher, and processors with instructions for AES reach several times that
TLS: Final = Constant(
    1.0e9,
    0.3e9,
    4.0e9,
    "openeuler-tls",
    Status.DERIVED,
    "B/s",
    "GnuTLS on one core: 0.4 GB/s to an assumed 2.5",
)
#: stunnel next to the sender: 1 GB in 57 s in 2013, backups at 75 MB/s with it and above 200 MB/s without in 2019
STUNNEL: Final = Constant(
    0.2e9, 0.02e9, 1.5e9, "xen-tls", Status.DERIVED, "B/s", "a process between sender and network; kernel TLS is 1.5 x"
)
#: the stream passes both libvirt daemons, which encrypt it on one thread
TUNNEL: Final = widened(
    Constant(0.25e9, 0.2e9, 0.3e9, "nova-tunnelled", Status.SECONDARY, "B/s", "2 of 10 Gb/s, given as approximate")
)
#: a socket of the same host: a copy in and a copy out, each on its own core, into pages touched for the first time
LOCAL_SOCKET: Final = Constant(
    1.9e9,
    0.8e9,
    5.0e9,
    "migration-assumed",
    Status.ASSUMED,
    "B/s",
    "as a connection of Cloud Hypervisor",
)
#: rings stop, the back end saves its state, the other one connects, rings start
VHOST_USER: Final = Constant(
    0.1,
    0.005,
    0.75,
    "vhost-user-pause",
    Status.DERIVED,
    "s",
    "a device; 732 ms until a client connected again, above 200 ms to set up hardware rings, little in software",
)
#: pages an idle guest writes again and again count once, so after a long pass less is dirty than rate × time
DIRTIED_ONCE: Final = Constant(
    1.0, 0.3, 1.0, "migration-assumed", Status.ASSUMED, note="of what the dirty rate says, working set not given"
)

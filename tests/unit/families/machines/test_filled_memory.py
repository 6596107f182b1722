"""Memory that was never written is not sent: two cases by hand, and what the band says where nobody knows."""

from __future__ import annotations

import pytest

from designer.design.document import VirtualMachine, VmDevice
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.families.machines.formulas._qemu import CHANNEL_QEMU, TLS, ZERO_SCAN
from tests.unit.families.machines.machines import ask, cluster, plain_cluster, value, with_speed, with_vms

GIB = 2.0**30
HOST = "hosts[0]/server"


def _moved(kind: str, filled: str | None, rate: str = "25 Gb/s", **settings: object) -> WorkloadResult:
    vm = VirtualMachine(id="vm", host=HOST, memory="64 GiB", filled_memory=filled)
    return ask(with_vms(plain_cluster(2, 0, rate), vm, only=True), kind, vms="vm", **settings)


def test_vmotion_sends_what_is_filled() -> None:
    """16 of 64 GiB over 25 Gb/s at 94 %: 5.85 s, and 5 s of set-up and resume."""
    whole, part = _moved("vmotion", None), _moved("vmotion", "16 GiB")
    first = 16 * GIB / (0.94 * 3.125e9)
    saved = value(whole, "migration_time") - value(part, "migration_time")
    assert saved == pytest.approx(3 * first, rel=0.03)


def test_kvm_looks_at_all_memory_and_sends_what_is_filled() -> None:
    """One channel searches 64 GiB at 13 GB/s in 5.3 s; 32 GiB over 10 Gb/s at 94 % take 29.2 s, 64 GiB 58.5 s."""
    half = _moved("kvm_migration", "32 GiB", "10 Gb/s", channels=8)
    whole = _moved("kvm_migration", "64 GiB", "10 Gb/s", channels=8)
    assert value(half, "migration_time") == pytest.approx(32 * GIB / (0.94 * 1.25e9), rel=0.02)
    assert value(whole, "migration_time") == pytest.approx(64 * GIB / (0.94 * 1.25e9), rel=0.02)
    # 1 GiB would take 0.9 s of the link: the search holds the pass
    little = _moved("kvm_migration", "1 GiB", "10 Gb/s")
    assert value(little, "migration_time") == pytest.approx(64 * GIB / ZERO_SCAN.value, rel=0.1)


def test_a_guest_of_unknown_fill_may_send_a_tenth_of_its_memory() -> None:
    unknown, full = _moved("kvm_migration", None, channels=8), _moved("kvm_migration", "64 GiB", channels=8)
    one, other = unknown.metrics["migration_time"], full.metrics["migration_time"]
    assert one.value == pytest.approx(other.value)
    assert one.high == pytest.approx(other.high)
    assert one.low < 0.3 * other.low


def test_cloud_hypervisor_sends_all_memory() -> None:
    """64 GiB over one connection of 1.9 GB/s: 36.2 s, whatever of them is filled, and no less than the wire allows."""
    unknown, little = (_moved("kvm_migration", fill, monitor="cloud-hypervisor") for fill in (None, "1 GiB"))
    assert unknown.metrics["migration_time"] == little.metrics["migration_time"]
    assert unknown.metrics["migration_time"].value == pytest.approx(64 * GIB / 1.9e9 + 0.125, rel=0.001)
    assert unknown.metrics["migration_time"].low > 64 * GIB / 3.125e9


def test_more_than_its_memory_is_all_of_it() -> None:
    assert value(_moved("vmotion", "1 TiB"), "migration_time") == value(_moved("vmotion", None), "migration_time")


def test_encryption_costs_the_core_of_a_connection() -> None:
    """One connection of QEMU carries 1.25 GB/s and 0.56 GB/s when its core encrypts at 1 GB/s first."""
    plain, encrypted = (_moved("kvm_migration", "64 GiB", "100 Gb/s", tls=tls) for tls in (False, True))
    rate = 1 / (1 / CHANNEL_QEMU.value + 1 / TLS.value)
    assert rate == pytest.approx(0.556e9, rel=0.001)
    assert value(encrypted, "migration_time") - value(plain, "migration_time") == pytest.approx(
        64 * GIB / rate - 64 * GIB / CHANNEL_QEMU.value, rel=0.02
    )


#: what a guest of 64 GiB, half of it filled, is moved with, and what that is compared with
_EACH = [
    ({"zero_pages": "none"}, {}),
    ({"channels": 8, "zero_pages": "legacy"}, {"channels": 8, "zero_pages": "multifd"}),
    ({"preallocated": True}, {}),
    ({"tls": True}, {}),
    ({"channels": 8, "compression": "qpl", "engines": 1}, {"channels": 8, "compression": "qpl"}),
    ({"channels": 8, "compression": "zlib", "compression_rate": "0.2 GB/s"}, {"channels": 8, "compression": "zlib"}),
    ({"channels": 8, "compression": "zstd", "compression_ratio": 1.1}, {"channels": 8, "compression": "zstd"}),
    ({"transport": "tunnelled by libvirt"}, {}),
    ({"transport": "unix socket"}, {}),
    ({"transport": "memory handed over"}, {"transport": "unix socket"}),
    ({"transport": "file", "file_rate": "1 GB/s"}, {"transport": "file", "file_rate": "2 GB/s"}),
    ({"vhost_user": 1}, {}),
    ({"monitor": "cloud-hypervisor"}, {}),
    ({"monitor": "xen", "tls": True}, {"monitor": "xen"}),
    ({"monitor": "hyper-v", "compression": "of hyper-v"}, {"monitor": "hyper-v"}),
    ({"monitor": "hyper-v", "transport": "smb direct"}, {"monitor": "hyper-v"}),
    ({"dirty_rate": "2 GB/s", "dirty_limit": "20 MB/s"}, {"dirty_rate": "2 GB/s", "auto_converge": True}),
]


@pytest.mark.parametrize(("one", "other"), _EACH, ids=[str(one) for one, _ in _EACH])
def test_every_setting_changes_the_answer(one: dict[str, object], other: dict[str, object]) -> None:
    found, usual = (_moved("kvm_migration", "32 GiB", "100 Gb/s", **settings) for settings in (one, other))
    names = ("migration_time", "transferred")
    assert [value(found, name) for name in names] != pytest.approx([value(usual, name) for name in names], rel=0.001)


def test_a_machine_that_stays_on_its_host_needs_no_network() -> None:
    """64 GiB handed over: set-up and pause, 0.1 and 0.025 s; through a socket 32 GiB at 1.9 GB/s, 18.1 s more."""
    handed, copied = (
        _moved("kvm_migration", "32 GiB", transport=transport) for transport in ("memory handed over", "unix socket")
    )
    assert value(handed, "migration_time") == pytest.approx(0.125)
    assert value(copied, "migration_time") == pytest.approx(0.125 + 32 * GIB / 1.9e9, rel=0.001)
    assert value(handed, "transferred") == 0
    assert "rate" not in handed.metrics


def test_a_file_stops_the_machine_until_it_is_read() -> None:
    """32 GiB written and read at 2 GB/s: 34.4 s, all of them a pause; on 1 Gb/s of network the same."""
    for rate in ("100 Gb/s", "1 Gb/s"):
        found = _moved("kvm_migration", "32 GiB", rate, transport="file", file_rate="2 GB/s", channels=8)
        assert value(found, "switchover_time") == pytest.approx(32 * GIB / 1e9 + 0.025)
        assert value(found, "migration_time") == pytest.approx(32 * GIB / 1e9 + 0.125, rel=0.001)


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"tls": True, "transport": "rdma"}, "tls"),
        ({"monitor": "xen", "post_copy": True}, "monitor"),
        ({"monitor": "cloud-hypervisor", "compression": "zstd"}, "monitor"),
        ({"transport": "file"}, "file_rate"),
        ({"file_rate": "1 GB/s"}, "file_rate"),
        ({"engines": 2}, "engines"),
        ({"compression_ratio": 2.0}, "compression_ratio"),
        ({"auto_converge": True, "dirty_limit": "1 MB/s"}, "dirty_limit"),
        ({"transport": "memory handed over", "preallocated": True}, "preallocated"),
    ],
)
def test_what_does_not_go_together_is_refused(settings: dict[str, object], place: str) -> None:
    with pytest.raises(AnalysisError) as caught:
        _moved("kvm_migration", "32 GiB", **settings)
    assert caught.value.place is not None
    assert caught.value.place.endswith(place)
    assert caught.value.remedy


def _with_devices(count: int, **settings: object) -> WorkloadResult:
    devices = tuple(VmDevice(kind="passthrough") for _ in range(count))
    vm = VirtualMachine(id="vm", host=HOST, memory="64 GiB", filled_memory="16 GiB", devices=devices)
    usual = {"device_state": "1 GB", **settings}
    return ask(with_vms(with_speed(cluster(), "100 Gb/s"), vm, only=True), "kvm_migration", vms="vm", **usual)


def test_devices_side_by_side_are_quicker_and_one_alone_is_bound_by_itself() -> None:
    """1 GB over one connection: .8 s and 50 ms a device. Over 8: as fast as a device saves, 2.5 GB/s: .4 s for both."""
    one, two = (_with_devices(count) for count in (1, 2))
    beside = _with_devices(2, channels=8, multifd_devices=True)
    assert value(one, "stun_time") == pytest.approx(0.85)
    assert value(two, "stun_time") == pytest.approx(1.7)
    assert value(beside, "stun_time") == pytest.approx(0.4 + 2 * 0.025 + 0.025)


def test_what_drivers_give_early_is_sent_while_the_guest_runs() -> None:
    """.3 GB are left: .24 s and 50 ms of pause in place of .85 s; 1.3 GB are sent."""
    whole, early = (_with_devices(1, device_precopy=early) for early in (False, True))
    assert value(early, "stun_time") == pytest.approx(0.29)
    assert value(early, "transferred") - value(whole, "transferred") == pytest.approx(0.3e9)
    assert value(early, "migration_time") - value(whole, "migration_time") == pytest.approx(0.24, rel=0.01)


def test_qemu_counts_the_state_of_devices_against_the_pause() -> None:
    codes = [[f.code for f in _with_devices(1, downtime_limit=limit).findings] for limit in ("300 ms", "1 s")]
    assert ["MIG-DEVICE-STATE" in each for each in codes] == [True, False]
    # state that is kept open with the memory that is handed over takes no pause
    handed = _with_devices(1, transport="memory handed over")
    assert value(handed, "switchover_time") == pytest.approx(0.025)


def test_a_machine_with_assigned_devices_is_not_post_copied() -> None:
    stuck = _with_devices(1, post_copy=True, dirty_rate="20 GB/s")
    assert "migration_time" not in stuck.metrics
    assert "not post-copied" in stuck.findings[0].text

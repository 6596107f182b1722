"""Memory that was never written is not sent: two cases by hand, and what the band says where nobody knows."""

from __future__ import annotations

import pytest

from designer.design.document import VirtualMachine
from designer.engine.results import WorkloadResult
from designer.families.machines.formulas._qemu import CHANNEL_QEMU, TLS
from tests.unit.families.machines.machines import ask, plain_cluster, value, with_vms

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
    """8 channels search 64 GiB at 18.8 GB/s in 3.66 s; 32 GiB over 10 Gb/s at 94 % take 29.2 s, 64 GiB 58.5 s."""
    half = _moved("kvm_migration", "32 GiB", "10 Gb/s", channels=8)
    whole = _moved("kvm_migration", "64 GiB", "10 Gb/s", channels=8)
    assert value(half, "migration_time") == pytest.approx(32 * GIB / (0.94 * 1.25e9), rel=0.02)
    assert value(whole, "migration_time") == pytest.approx(64 * GIB / (0.94 * 1.25e9), rel=0.02)
    # 1 GiB would take 0.9 s of the link: the search holds the pass
    little = _moved("kvm_migration", "1 GiB", "10 Gb/s", channels=8)
    assert value(little, "migration_time") == pytest.approx(64 * GIB / (8 * 2.35e9), rel=0.1)


def test_a_guest_of_unknown_fill_has_a_low_end_of_a_third() -> None:
    unknown, full = _moved("kvm_migration", None, channels=8), _moved("kvm_migration", "64 GiB", channels=8)
    one, other = unknown.metrics["migration_time"], full.metrics["migration_time"]
    assert one.value == pytest.approx(other.value)
    assert one.high == pytest.approx(other.high)
    assert one.low < 0.5 * other.low


def test_more_than_its_memory_is_all_of_it() -> None:
    assert value(_moved("vmotion", "1 TiB"), "migration_time") == value(_moved("vmotion", None), "migration_time")


def test_encryption_costs_the_core_of_a_connection() -> None:
    """One connection of QEMU carries 1.25 GB/s and 0.83 GB/s when its core encrypts at 2.5 GB/s first."""
    plain, encrypted = (_moved("kvm_migration", "64 GiB", "100 Gb/s", tls=tls) for tls in (False, True))
    rate = 1 / (1 / CHANNEL_QEMU.value + 1 / TLS.value)
    assert rate == pytest.approx(0.833e9, rel=0.001)
    assert value(encrypted, "migration_time") - value(plain, "migration_time") == pytest.approx(
        64 * GIB / rate - 64 * GIB / CHANNEL_QEMU.value, rel=0.02
    )

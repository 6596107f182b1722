"""The form of virtual machines, without a window: every field makes its edit, and refuses what cannot be."""

from __future__ import annotations

import pytest

from designer.design.address import Ref
from designer.design.document import Design
from designer.design.edits.vms import ChangeVms
from designer.errors import DocumentError
from designer.gui.viewmodels.forms import Entry, Form, check
from designer.gui.viewmodels.inspector import inspect
from tests.unit.families.machines.machines import cluster


def _form(design: Design, *ids: str) -> Form:
    return inspect(design, frozenset(((), Ref("vms", i)) for i in ids))


def _entry(form: Form, name: str) -> Entry:
    return next(e for s in form.sections for e in s.entries if e.name == name)


def _enter(design: Design, name: str, text: str, *ids: str) -> Design:
    entry = _entry(_form(design, *(ids or ("infer0",))), name)
    assert not check(entry, text)
    assert entry.make is not None
    return entry.make(text).apply(design)


@pytest.mark.parametrize(
    ("name", "text", "now"),
    [
        ("name", "Chat", "Chat"),
        ("vcpus", "12", 12),
        ("memory", "96 GiB", "96 GiB"),
        ("release", "9.0", "9.0"),
        ("release", "", None),
        ("hardware_version", "21", 21),
        ("hardware_version", "", None),
        ("dirty_rate", "2 GB/s", "2 GB/s"),
        ("working_set", "8 GiB", "8 GiB"),
        ("stun_limit", "20 s", "20 s"),
        ("gpu_duty", "0.7", "0.7"),
        ("host", "hosts[2]/server", "hosts[2]/server"),
        ("host", "", None),
        ("memory_reservation", "", None),
        ("note", "kept", "kept"),
    ],
)
def test_each_field_makes_its_edit(name: str, text: str, now: object) -> None:
    assert getattr(_enter(cluster(), name, text).vms["infer0"], name) == now


@pytest.mark.parametrize(
    ("name", "text"),
    [("memory", "64 apples"), ("vcpus", "four"), ("memory", ""), ("dirty_rate", "-1 B/s"), ("stun_limit", "5 GB")],
)
def test_what_cannot_be_read_is_reported_before_it_is_entered(name: str, text: str) -> None:
    assert check(_entry(_form(cluster(), "infer0"), name), text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gpu_duty", "3"),
        ("host", "hosts[9]/server"),
        ("vcpus", "0"),
        ("hardware_version", "3"),
        ("devices.0.part", "x"),
    ],
)
def test_what_cannot_be_is_refused_by_the_document(name: str, text: str) -> None:
    entry = _entry(_form(cluster(), "infer0"), name)
    assert entry.make is not None
    with pytest.raises(DocumentError):
        entry.make(text).apply(cluster())


def test_devices() -> None:
    design = _enter(cluster(), "devices.0.profile", "grid_a100d-10c")
    assert design.vms["infer0"].devices[0].profile == "grid_a100d-10c"
    design = _enter(design, "devices.0.memory_used", "9 GB")
    assert design.vms["infer0"].devices[0].memory_used == "9 GB"
    design = _enter(design, "add", "vgpu")
    assert len(design.vms["infer0"].devices) == 2
    design = _enter(design, "devices.1.kind", "device_group")
    assert design.vms["infer0"].devices[1].kind == "device_group"
    design = _enter(design, "devices.0.kind", "remove")
    assert [d.kind for d in design.vms["infer0"].devices] == ["device_group"]
    assert _enter(design, "add", "") == design


def test_profiles_are_those_of_the_gpus_there_are() -> None:
    offered = [value for value, _ in _entry(_form(cluster(), "infer0"), "devices.0.profile").choices]
    assert offered == [f"grid_a100d-{size}c" for size in (4, 8, 10, 16, 20, 40, 80)]


def test_several_machines_share_what_they_have_in_common() -> None:
    form = _form(cluster(), "infer0", "train0")
    assert form.title == "2 virtual machines"
    assert _entry(form, "memory").text == "several"
    changed = _enter(cluster(), "dirty_rate", "1 GB/s", "infer0", "train0")
    assert {changed.vms[i].dirty_rate for i in ("infer0", "train0")} == {"1 GB/s"}


def test_settings_that_rules_ask_for_are_given_and_taken_away() -> None:
    design = cluster()
    first, second = list(design.vms.values())[:2]
    design = ChangeVms((first.id,), {"settings": {"odd": "kept"}}).apply(design)

    def do(name: str, text: str, *ids: str) -> None:
        nonlocal design
        design = _enter(design, f"settings.{name}", text, *ids)

    both = (first.id, second.id)
    do("unified_memory", "yes", *both)
    do("tokens_held", "8192", first.id)
    do("active_memory", "64 GiB", first.id)
    assert dict(design.vms[first.id].settings) == {
        "odd": "kept",
        "unified_memory": True,
        "tokens_held": 8192,
        "active_memory": "64 GiB",
    }
    assert dict(design.vms[second.id].settings) == {"unified_memory": True}
    assert _entry(_form(design, *both), "settings.unified_memory").spelled == "yes"
    assert _entry(_form(design, *both), "settings.tokens_held").text == "several"
    do("unified_memory", "", *both)
    assert dict(design.vms[second.id].settings) == {}
    assert _entry(_form(design, first.id), "settings.odd").spelled == "kept"

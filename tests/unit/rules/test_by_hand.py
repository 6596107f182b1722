"""Numbers of rules by hand: uplinks, stun, stranded memory, what feeds training."""

from __future__ import annotations

from pathlib import Path

import pytest

import designer
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.families.machines.rules._context import MachineContext
from designer.fields import Quantity
from designer.findings import Finding, Severity
from designer.interchange.templates import open_design
from designer.rules.runner import check

# PCI001 counts what can meet on an uplink: GPUs, or what serves them, through all switches below.


@pytest.mark.parametrize(
    ("template", "stated"),
    [
        # two x16 GPUs, two x16 NICs and an x4 drive below one x16: the GPUs 2 to 1, the rest 2.25 to 1
        ("dgx-a100", []),
        ("dgx-b200", []),
        # two switches of two GPUs each below one x16: (2 + 2) x 16 / 16
        ("dgx2", ["the GPUs below psw0 and psw1 … can take 4.0 times what the uplink carries"]),
        # eight GPUs below two switches of four, and both below one x16: 4 to 1, and 8 to 1 above
        (
            "sm-4029gp-trt3",
            [
                "the GPUs below psw0 and psw1 can take 4.0 times what the uplink carries",
                "the GPUs below psw_top can take 8.0 times what the uplink carries",
            ],
        ),
    ],
)
def test_what_meets_on_an_uplink(template: str, stated: list[str]) -> None:
    assert [finding.text for finding in check(open_design(template), chosen=["PCI001"]).findings] == stated


# Rules of stun, stranded memory and what feeds training: their numbers by hand, and what they say of missing facts.

CASES = Path(__file__).parents[2] / "rules"


def case(code: str, which: str) -> Design:
    return designer.open_design(str(CASES / code / f"{which}.design.json"))


def stated(design: Design, code: str) -> list[Finding]:
    return [f for f in check(design, chosen=[code]).findings if f.code == code]


def test_a_stun_by_hand() -> None:
    """80 GB over one NIC of 10 Gb/s: 1.25 GB/s of line, 94 % of it payload, is 1.175 GB/s; 80e9 B take 68 s and more,
    as the checkpoint takes a part of that alone. 10 s are too few, 100 s enough."""
    (found,) = stated(case("VM038", "fail"), "VM038")
    assert found.severity is Severity.ERROR
    stun = MachineContext(case("VM038", "fail")).stuns["vm0"]
    assert stun is not None
    assert 68 < stun.stun.value < 85
    assert stated(case("VM038", "pass"), "VM038") == []


def test_a_stun_nobody_plans_is_a_warning() -> None:
    design = with_changes(case("VM038", "fail"), workloads={})
    (found,) = stated(design, "VM038")
    assert found.severity is Severity.WARNING


def test_hosts_without_cables_are_told_not_passed() -> None:
    design = with_changes(case("VM038", "fail"), wirings={}, links={})
    (found,) = stated(design, "VM038")
    assert found.severity is Severity.INFO
    assert "cannot be said" in found.text


def test_a_tolerance_by_hand() -> None:
    """20 GB over 1.175 GB/s take 17 s and more: too long for 5 s, and well within 60 s."""
    design = case("VM039", "fail")
    (found,) = stated(design, "VM039")
    assert found.where == ("vm1",)
    assert "tolerates 5 s" in found.text
    patient = with_changes(design.vms["vm1"], settings={"stun_tolerance": "60 s"})
    assert stated(with_changes(design, vms={**design.vms, "vm1": patient}), "VM039") == []


def test_a_tolerance_that_is_no_time_is_said() -> None:
    design = case("VM039", "fail")
    wrong = with_changes(design.vms["vm1"], settings={"stun_tolerance": "soon"})
    (found,) = stated(with_changes(design, vms={**design.vms, "vm1": wrong}), "VM039")
    assert found.severity is Severity.INFO
    assert "not looked at" in found.text


def test_stranded_sizes_by_hand() -> None:
    """8, 10 and 20 GB on a GPU of 80 GB: 16 GB can be stranded, 20 %. 10 and 20 GB: nothing."""
    (found,) = stated(case("VM040", "fail"), "VM040")
    assert "20%" in found.text
    assert stated(case("VM040", "pass"), "VM040") == []


def test_a_dataset_against_memory_by_hand() -> None:
    """ImageNet has 155.84 GiB = 167.3 GB. Two sockets of 64 GB less 4 GiB: 123.7 GB, too few; of 384 GB: 763.7 GB."""
    (found,) = stated(case("TRN001", "fail"), "TRN001")
    assert "167 GB" in found.text
    assert "124 GB" in found.text
    design = case("TRN001", "fail")
    job = design.workloads["resnet-50"]
    once = WorkloadSpec(id="resnet-50", kind="training", settings={**job.settings, "epochs": 1})
    assert stated(with_changes(design, workloads={"resnet-50": once}), "TRN001") == []


def test_memory_nobody_states_is_told_not_passed() -> None:
    design = case("TRN001", "fail")
    parts = {k: with_changes(p, overrides={}) if p.kind == "memory" else p for k, p in design.parts.items()}
    (found,) = stated(with_changes(design, parts=parts), "TRN001")
    assert found.severity is Severity.INFO
    assert "memory_capacity" in found.text


def test_storage_against_computing_by_hand() -> None:
    """The storage reads 0.8 GB/s: 167.3 GB take 209 s, 3.5 min. ResNet-50 needs 3 x 8.18 GFLOP for each of 1,281,167
    images, 3.14e16 FLOP, which eight V100 do in 31 s at their peak of 125 TFLOP/s each: the analysis says 155 s, 2.6
    min, a fifth of the peak, and no more than 2.9 min. So it is certain; at 1 GB/s, 167 s, it is likely, at 1.2
    GB/s, 139 s, it is not stated."""
    design = case("TRN002", "fail")
    (found,) = stated(design, "TRN002")
    assert "3.5 min" in found.text
    assert "2.6 min (2.3 min to 2.9 min): they certainly wait" in found.text

    def reading(rate: str) -> Design:
        storage = design.groups["storage"].content
        part = storage.parts["storage"]
        own = {**part.overrides, "read_bandwidth": Quantity(value=rate), "client_read_bandwidth": Quantity(value=rate)}
        block = with_changes(storage, parts={"storage": with_changes(part, overrides=own)})
        group = with_changes(design.groups["storage"], content=block)
        return with_changes(design, groups={"storage": group})

    (likely,) = stated(reading("1 GB/s"), "TRN002")
    assert "probably" in likely.text
    assert stated(reading("1.2 GB/s"), "TRN002") == []
    settings = {**design.workloads["resnet-50"].settings, "cached": "50 %"}
    cached = with_changes(design.workloads["resnet-50"], settings=settings)
    assert stated(with_changes(design, workloads={"resnet-50": cached}), "TRN002") == []


@pytest.mark.parametrize("code", ["VM041", "VM042"])
def test_the_machine_is_named(code: str) -> None:
    (found,) = stated(case(code, "fail"), code)
    assert found.where == ("vm0",)


@pytest.mark.parametrize("template", ["edge-dgx-spark", "edge-jetson-orin", "edge-jetson-thor"])
def test_one_memory_of_processors_and_gpus_is_not_short(template: str) -> None:
    assert "MEM001" not in {f.code for f in check(designer.open_design(template)).findings}

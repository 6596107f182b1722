"""The command line on designs with virtual machines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from designer.cli.main import run
from designer.design.document import VirtualMachine, VmDevice
from designer.interchange.native.writer import save
from tests.unit.families.machines.machines import cluster, with_vms

pytestmark = pytest.mark.without_qt


def test_an_evacuation_is_reported_machine_by_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", "vsphere-cluster-4", "--workload", "evacuate"]) == 0
    out, err = capsys.readouterr()
    rows = {line.split("  ")[1].strip(): line for line in out.splitlines() if "ESXi host 1" in line}
    assert "14.2 s" in rows["Inference 0"]
    assert "alone" in rows["Inference 0"]
    assert "stays" in rows["Training 0"]
    assert "vMotion NIC → vMotion switch" in out
    assert "warning: MIG-STAYS: Training 0 cannot move" in err


def test_tables_are_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", "vsphere-cluster-4", "--workload", "evacuate", "--json"]) == 0
    workload = json.loads(capsys.readouterr().out)["workloads"][0]
    assert workload["kind"] == "migration"
    assert {"evacuation_time", "stun_time", "switchover_time", "transferred", "rate"} <= set(workload["metrics"])
    machines = workload["tables"]["machines"]
    names = [column["name"] for column in machines["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in machines["rows"]]
    assert {row["machine"]: row["to"] for row in rows} == {
        "Front end": "hosts[2]/server",
        "Inference 0": "hosts[2]/server",
        "Training 0": None,
    }


def test_the_summary_lists_machines_and_what_they_break(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = VirtualMachine(id="bad", host="hosts[0]/server", devices=(VmDevice(kind="vgpu", profile="7C"),))
    file = tmp_path / "bad.design.json"
    save(with_vms(cluster(), bad), file)
    assert run(["summary", str(file)]) == 0
    out, err = capsys.readouterr()
    assert "grid_a100d-80c" in out
    assert "VM-PROFILE: bad" in err
    assert run(["summary", str(file), "--json"]) == 0
    stated = json.loads(capsys.readouterr().out)
    assert stated["vms"] == 11
    assert len(stated["virtual_machines"]) == 11
    assert run(["analyze", str(file), "--workload", "h2d"]) == 1


def test_a_group_of_three_is_reported_and_a_wrong_machine_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    design = cluster()
    group = VirtualMachine(id="g", host="hosts[1]/server", devices=(VmDevice(kind="device_group", count=3),))
    file = tmp_path / "group.design.json"
    save(with_vms(design, group), file)
    assert run(["analyze", str(file), "--workload", "vmotion"]) == 1
    assert "no device group of 3 GPUs" in capsys.readouterr().err
    text = file.read_text().replace('"vms": "lab0"', '"vms": "lab9"')
    file.write_text(text)
    assert run(["analyze", str(file), "--workload", "vmotion"]) == 2
    assert "there is no virtual machine 'lab9'" in capsys.readouterr().err

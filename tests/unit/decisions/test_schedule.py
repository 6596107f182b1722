"""Schedules: hours of the day, worked out by hand on the cluster of four hosts with eight GPUs."""

from __future__ import annotations

import pytest

import designer
from designer.design.document import Design
from designer.errors import DesignerError

WEEK = 7 * 24 * 3600
GIB, GB = 2**30, 1e9
USERS = "lab*, infer*, train0, train1"


def planned(timetable: str, store: str = "storage", **training: object) -> Design:
    design = designer.open_design("vsphere-cluster-4")
    settings = {"model": "resnet-50", "micro_batch": 64, **training}
    design = designer.with_workload(design, "train", "training", **settings)
    return designer.with_workload(design, "day", "schedule", timetable=timetable, store=store)


def values(design: Design, workload: str = "day") -> dict[str, float]:
    return {name: m.value for name, m in designer.analyze(design, workload).workloads[0].metrics.items()}


def alone() -> float:
    """Samples a second of the training on all eight GPUs, without the machines [1/s]."""
    design = planned("train = 00:00-24:00")
    vms = [vm for vm in design.vms.values() if not vm.devices]
    return values(design.model_copy(update={"vms": {vm.id: vm for vm in vms}}), "train")["samples_per_second"]


def test_desktops_by_day_and_compute_by_night() -> None:
    found = values(planned(f"{USERS} = mon-fri 08:00-18:00; train = rest", store=""))
    # eight GPUs for fifty of 168 hours
    assert found["hours_held"] == pytest.approx(50 / 168)
    assert found["hours_computing"] == pytest.approx(118 / 168)
    assert found["hours_unused"] == pytest.approx(0, abs=1e-12)
    assert found["samples_per_second"] == pytest.approx(alone() * 118 / 168, rel=1e-6)
    assert "switch_time" not in found


def test_a_day_like_all_others_is_a_day() -> None:
    found = designer.analyze(planned(f"{USERS} = 08:00-18:00; train = 18:00-08:00", store=""), "day").workloads[0]
    assert [row[0] for row in found.tables["schedule"].rows] == ["00:00", "08:00", "18:00"]
    assert found.metrics["hours_computing"].value == pytest.approx(14 / 24)
    assert found.curves["schedule-accelerators"][0].x[-1] == 24 * 3600


def test_suspending_takes_what_the_slowest_host_writes() -> None:
    """Memory of the machines of a host and their frame buffers, over its share of the mount."""
    design = planned(f"{USERS} = 08:00-18:00; train = rest")
    found = designer.analyze(design, "day").workloads[0]
    # host 1: 192 + 64 GiB of memory, 72 + 16 GB of frame buffer; host 2: 192 + 64 and 72 + 24; host 4: two of 64 and 24
    sizes = [256 * GIB + 88 * GB, 256 * GIB + 96 * GB, 128 * GIB + 32 * GB, 128 * GIB + 48 * GB]
    memories = ",".join(f"hosts[{k}]/memory*" for k in range(4))
    write = designer.with_workload(design, "w", "transfer", **{"from": memories, "to": "storage", "pairing": "all"})
    read = designer.with_workload(design, "r", "transfer", **{"from": "storage", "to": memories, "pairing": "all"})
    each = [values(asked, name)["rate"] / 4 for asked, name in ((write, "w"), (read, "r"))]
    # all hosts share the store equally
    assert found.metrics["switch_time"].value == pytest.approx(max(max(sizes) / rate for rate in each), rel=0.01)
    lost = sum(max(sizes) / rate for rate in each)
    assert found.metrics["hours_computing"].value == pytest.approx((14 * 3600 - lost) / (24 * 3600), rel=1e-3)


def test_power_follows_the_hours() -> None:
    found = designer.analyze(planned(f"{USERS} = 08:00-18:00; train = rest", store=""), "day").workloads[0]
    rows = found.tables["schedule"].rows
    night, day = float(rows[0][7] or 0), float(rows[1][7] or 0)
    assert day < night, "machines keep their GPUs busy for a part of the time"
    mean = found.metrics["mean_power"].value
    assert mean == pytest.approx((night * 14 + day * 10) / 24)
    assert found.metrics["energy_per_day"].value == pytest.approx(mean * 86_400)
    assert found.metrics["peak_power"].value == pytest.approx(night)
    # eight cards of 300 W that wait draw a quarter; the rest of the servers 325 W a card
    nobody = designer.analyze(planned(f"{USERS} = 08:00-09:00; train = 09:00-10:00", store=""), "day").workloads[0]
    assert float(nobody.tables["schedule"].rows[0][7] or 0) == pytest.approx(8 * (0.25 * 300 + 325), rel=0.01)


def test_a_workload_that_never_gets_an_accelerator_is_named() -> None:
    found = designer.analyze(planned("train = 08:00-18:00", store=""), "day").workloads[0]
    assert "SCHEDULE-NEVER" in {f.code for f in found.findings}
    assert found.metrics["hours_computing"].value == 0


def test_some_machines_leave_their_gpus_alone() -> None:
    """Three notebooks leave three of eight GPUs at night: the training runs on those."""
    found = values(planned("lab* = 08:00-18:00; train = rest", store=""))
    assert found["hours_computing"] == pytest.approx(3 / 8 * 14 / 24)
    assert found["hours_held"] == pytest.approx((8 * 10 + 5 * 14) / (8 * 24))


def test_the_page_says_what_workloads_get() -> None:
    page = designer.page(planned(f"{USERS} = mon-fri 08:00-18:00; train = rest", store=""), "day")
    assert page.headline.startswith("Workloads get 70.2% of the accelerator hours, in the mean ")
    assert set(designer.figures(planned(f"{USERS} = 08:00-18:00; train = rest"), "day")) >= {
        "schedule-accelerators",
        "schedule-power",
    }


@pytest.mark.parametrize(
    ("timetable", "text"),
    [("nobody = 08:00-09:00", "neither a machine nor a workload"), ("vmotion = rest", "runs on no accelerators")],
)
def test_what_cannot_take_turns_is_refused(timetable: str, text: str) -> None:
    with pytest.raises(DesignerError, match=text):
        designer.analyze(planned(timetable), "day")


def test_the_clock_follows_the_same_hours() -> None:
    design = planned(f"{USERS} = 08:00-18:00; train = rest")
    found, run = values(design), designer.simulate(design, ["day"])
    assert {name: m.value for name, m in run.metrics["day"].items()} == pytest.approx(found)
    assert run.run.end == pytest.approx(24 * 3600)
    # a resume ends, and a suspend begins, when the hours of the machines do
    moves = {task.step: task for task in run.run.tasks if task.step.endswith("machines")}
    assert moves["resume machines"].ended == pytest.approx(8 * 3600)
    assert moves["suspend machines"].ready == 18 * 3600


def test_half_a_day_is_what_has_passed_of_it() -> None:
    """Until noon: eight hours of computing less the resume, four of the machines."""
    design = planned(f"{USERS} = 08:00-18:00; train = rest")
    noon = designer.simulate(design, ["day"], until=12 * 3600.0, bands=False).metrics["day"]
    assert noon["hours_held"].value == pytest.approx(4 / 12)
    resume = noon["switch_time"].value
    assert noon["hours_computing"].value == pytest.approx((8 * 3600 - resume) / (12 * 3600))
    rows = designer.analyze(design, "day").workloads[0].tables["schedule"].rows
    night, day = float(rows[0][7] or 0), float(rows[1][7] or 0)
    assert noon["mean_power"].value == pytest.approx((night * 8 + day * 4) / 12)


def test_a_backup_makes_the_change_longer_and_the_night_shorter() -> None:
    """Half of the store each: the suspend takes twice as long, and the training loses what it takes more."""
    design = planned(f"{USERS} = 08:00-18:00; train = rest")
    backup = {"from": "hosts[*]/memory*", "to": "storage", "pairing": "all", "size": "20 TB"}
    design = designer.with_workload(design, "backup", "transfer", **backup)
    run = designer.simulate(design, ["day", "backup"], starts={"backup": 18 * 3600.0}, bands=False)
    alone, beside = run.alone["day"], run.metrics["day"]
    assert beside["switch_time"].value == pytest.approx(2 * alone["switch_time"], rel=0.01)
    lost = (alone["hours_computing"] - beside["hours_computing"].value) * 24 * 3600
    assert lost == pytest.approx(alone["switch_time"], rel=0.01)
    assert beside["samples_per_second"].value < alone["samples_per_second"]


def fed() -> Design:
    """A training that reads from the store all day, as much as the store gives."""
    data = {"dataset": "custom", "sample_size": "10 MB", "epoch_samples": 1_000_000}
    design = planned("train = 00:00-24:00", store="", **data)
    vms = {vm.id: vm for vm in design.vms.values() if not vm.devices}
    return design.model_copy(update={"vms": vms})


def test_workloads_of_a_timetable_load_the_links_they_use() -> None:
    """Samples of 10 MB over mounts of 2 GB/s, 800 a second: as the training alone; beside a copy each gets half."""
    design = fed()
    day = designer.simulate(design, ["day"], bands=False).run
    train = designer.simulate(design, ["train"], until=60.0, bands=False).run
    n = day.table.network.n_resources
    assert day.mean_load()[:n] == pytest.approx(train.mean_load()[:n], rel=0.02)
    assert day.mean_load()[:n].max() > 0
    copy = {"from": "storage", "to": "hosts[*]/memory*", "pairing": "all", "size": "10 PB"}
    design = designer.with_workload(design, "copy", "transfer", **copy)
    beside = designer.simulate(design, ["day", "copy"], until=24 * 3600.0, bands=False)
    kept = beside.metrics["day"]["samples_per_second"].value / beside.alone["day"]["samples_per_second"]
    assert beside.alone["day"]["samples_per_second"] == pytest.approx(800, rel=0.01)
    assert kept == pytest.approx(0.5, rel=0.02)
    both = designer.simulate(design, ["train", "copy"], until=60.0, bands=False).metrics["train"]
    assert both["step_time"].value == pytest.approx(64 * 8 / 400, rel=0.02)


def test_a_copy_over_other_links_takes_nothing_from_a_timetable() -> None:
    """What computes without reading keeps all its hours beside a copy from the store."""
    design = planned("train = 00:00-24:00", store="")
    vms = {vm.id: vm for vm in design.vms.values() if not vm.devices}
    design = design.model_copy(update={"vms": vms})
    copy = {"from": "hosts[0]/nvme0", "to": "hosts[0]/memory0", "size": "10 PB"}
    design = designer.with_workload(design, "copy", "transfer", **copy)
    beside = designer.simulate(design, ["day", "copy"], until=24 * 3600.0, bands=False)
    assert beside.metrics["day"]["samples_per_second"].value == pytest.approx(beside.alone["day"]["samples_per_second"])


def test_waiting_for_the_hour_is_no_latency() -> None:
    run = designer.simulate(planned(f"{USERS} = 08:00-18:00; train = rest"), ["day"], until=10 * 3600.0, bands=False)
    labels = {b.label for phase in run.binding["day"].phases for b in phase.binding}
    assert "latency of the path" not in labels
    assert not [f for f in run.findings if f.code == "CLOCK-SHORT"]

"""Job lists replayed on a drawn cluster; failures have one answer on the clock and in `survive`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis.simulation import Simulation, simulate
from designer.analysis.simulation.replay import replay
from designer.analysis.simulation.rerouting import Failure
from designer.cli.main import run as command
from designer.decisions.failures_survey import survive
from designer.errors import ExchangeError
from designer.formulas.failures import RECONNECT, REROUTE, TRANSPORT_TIMEOUT
from designer.interchange.templates import open_design
from designer.workload.job_lists import JobList, ListedJob, parse_jobs, read_jobs
from designer.workload.program.restarting import FAILURE, RESTORE
from tests.terminals import terminal_of

# Job lists: read as they were published, and replayed on a drawn cluster.

HELIOS = """job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
1425511,uXBbc,vcJkd,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-10 04:55:09,36848,0
1425512,uVMrF,vchbv,4,16,2,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:37,2020-06-09 18:45:46,249,10
1425513,uzqls,vcpDC,0,1,1,CANCELLED,2020-06-09 18:41:28,2020-06-09 18:41:28,2020-06-17 14:15:21,675233,0
"""


ACME = """job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time
2,u5907,1,8,128,Other,COMPLETED,2023-03-01 00:23:58+08:00,2023-03-01 00:24:11+08:00,2023-03-01 01:09:04+08:00,2693,13,21544.0
1,u5907,1,8,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,2023-03-01 00:20:51+08:00,117,32,936.0
3,u5907,1,8,128,Other,FAILED,2023-03-01 00:28:22+08:00,,,,,
"""  # noqa: E501


def philly(*attempts: tuple[str, str, int, int], name: str = "application_1") -> dict[str, Any]:
    """A job: of each attempt when it started and ended, and on how many servers it had how many GPUs each."""
    return {
        "status": "Pass",
        "vc": "ee9e8c",
        "jobid": name,
        "submitted_time": "2017-10-07 01:11:39",
        "user": "ce2f4c",
        "attempts": [
            {
                "start_time": start,
                "end_time": end,
                "detail": [{"ip": f"m{k}", "gpus": [f"gpu{g}" for g in range(gpus)]} for k in range(servers)],
            }
            for start, end, servers, gpus in attempts
        ],
    }


def test_helios() -> None:
    listed = parse_jobs(HELIOS)
    assert listed.format == "Helios"
    assert listed.jobs == (
        ListedJob("1425511", 0.0, 1, 1, 36848.0, 0.0),
        ListedJob("1425512", 26.0, 4, 2, 249.0, 10.0),
    )
    assert listed.left_out == {"used no accelerator": 1}


def test_acme_with_zones_of_time_and_jobs_that_never_ran() -> None:
    listed = parse_jobs(ACME)
    assert listed.format == "Acme"
    assert [(job.id, job.at, job.seconds, job.waited) for job in listed.jobs] == [
        ("1", 0.0, 117.0, 32.0),
        ("2", 336.0, 2693.0, 13.0),
    ]
    assert listed.left_out == {"never ran, or still did when the log ended": 1}


def test_philly_adds_up_attempts_and_takes_the_widest() -> None:
    """74 s and then 100 s; of eight GPUs on one server, then of four on each of two; without an end none counts."""
    jobs = [
        philly(
            ("2017-10-07 01:12:09", "2017-10-07 01:13:23", 1, 4), ("2017-10-07 01:13:30", "2017-10-07 01:15:10", 2, 4)
        ),
        philly(("2017-10-07 01:12:09", "None", 1, 4), name="application_2"),
        philly(name="application_3"),
    ]
    listed = parse_jobs(json.dumps(jobs, indent=1))
    assert listed.format == "Philly"
    assert listed.jobs == (ListedJob("application_1", 0.0, 8, 2, 174.0, 30.0),)
    assert listed.left_out == {"never ran, or still did when the log ended": 2}


@pytest.mark.parametrize(
    ("text", "place", "stated"),
    [
        (HELIOS.replace(",4,16,", ",four,16,"), "line 3", "gpu_num is 'four'"),
        (HELIOS.replace("2020-06-09 18:41:27", "yesterday"), "line 3", "submit_time is 'yesterday'"),
        (HELIOS.replace(",249,", ",-249,"), "line 3", "it ran for -249 s"),
        (HELIOS.replace("2020-06-09 18:41:37", "2020-06-09 18:41:17"), "line 3", "it starts at"),
        (HELIOS.replace("FAILED,", ""), "line 3", "11 values in 12 columns"),
        (HELIOS.replace("gpu_num", "gpus"), "line 1", "no column gpu_num"),
        ("[{]", "line 1", "not JSON"),
        (json.dumps([philly(), {"jobid": "application_9", "attempts": []}], indent=1), "line 11", "lacks"),
        (
            json.dumps([philly(("2017-10-07 01:12:09", "2017-10-07 01:11:00", 1, 1))], indent=1),
            "line 5",
            "before it starts",
        ),
        ("", "line 1", "no column job_id"),
        (HELIOS.rpartition("1425511")[0], None, "no job that ran"),
    ],
)
def test_bad_rows_are_named_with_file_and_line(tmp_path: Path, text: str, place: str | None, stated: str) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ExchangeError, match=stated) as refused:
        read_jobs(path)
    assert refused.value.file == "jobs.csv"
    if place is not None:
        assert refused.value.place == place


def listing(*jobs: tuple[float, int, float]) -> JobList:
    """Jobs by when they come, accelerators and seconds, each on one server if it can."""
    return JobList(
        "jobs", "Helios", tuple(ListedJob(str(k), at, n, 1, s, None) for k, (at, n, s) in enumerate(jobs)), {}
    )


def test_a_small_list_worked_by_hand() -> None:
    """Four servers of two GPUs.

    0 takes one GPU of A to 100 s, 1 all of B to 110 s, 2 all of C to 120 s; 3 goes next to 0 on A to 90 s, 4 on D to
    240 s. Job 5 wants two on one server: at 90 s two are free, one on A and one on D; at 100 s all of A is, to 110 s.
    Job 6 wants one and waits behind 5, from 60 to 100 s. Busy are 100 + 200 + 200 + 60 + 200 + 20 + 10 = 790 GPU
    seconds of 8 x 240. Two GPUs are free but apart for 10 s, and one for 40 s before while job 5 waits.
    """
    jobs = listing((0, 1, 100), (10, 2, 100), (20, 2, 100), (30, 1, 60), (40, 1, 200), (50, 2, 10), (60, 1, 10))
    found = replay(open_design("vsphere-cluster-4"), jobs)
    assert (found.gpus, found.servers, found.end) == (8, 4, 240.0)
    assert [run.start for run in found.runs] == [0, 10, 20, 30, 40, 100, 100]
    assert [run.on for run in found.runs[:5]] == [((0, 1),), ((1, 2),), ((2, 2),), ((0, 1),), ((3, 1),)]
    value = {name: metric.value for name, metric in found.metrics.items()}
    assert value["utilization"] == pytest.approx(790 / 1920)
    assert value["fragmentation"] == pytest.approx(20 / 1920)
    assert value["idle_while_waiting"] == pytest.approx((40 + 20) / 1920)
    assert value["wait_mean"] == pytest.approx(90 / 7)
    assert value["wait_longest"] == 50
    assert value["share_waiting"] == pytest.approx(2 / 7)


def test_wide_jobs_take_as_many_servers_as_they_had_and_more_where_these_are_small() -> None:
    design = open_design("vsphere-cluster-4")
    wide = JobList("jobs", "Helios", (ListedJob("a", 0, 3, 3, 10, None), ListedJob("b", 0, 5, 1, 10, None)), {})
    found = replay(design, wide)
    assert found.runs[0].on == ((0, 1), (1, 1), (2, 1))
    # two, two and one: only D has two free, so it waits
    assert found.runs[1].start == 10
    assert sorted(count for _, count in found.runs[1].on) == [1, 2, 2]
    late = replay(design, listing((0, 8, 100), (5, 8, 100)), until=50.0)
    assert (len(late.runs), late.waiting, late.end) == (1, 1, 50.0)
    none = replay(design, listing((0, 1, 1), (0, 9, 1)))
    assert "JOBS-NO-ROOM" in {f.code for f in none.findings}


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(1, 8), st.floats(0, 50)), min_size=1, max_size=30))
def test_no_server_is_ever_overfull_and_none_passes_another(jobs: list[tuple[float, int, float]]) -> None:
    found = replay(open_design("vsphere-cluster-4"), listing(*sorted(jobs)))
    starts = [run.start for run in found.runs]
    assert starts == sorted(starts)
    assert [run.job.at for run in found.runs] == sorted(run.job.at for run in found.runs)
    for at in starts:
        taken = [0] * found.servers
        for run in found.runs:
            if run.start <= at < run.start + run.job.seconds:
                for server, count in run.on:
                    taken[server] += count
        assert max(taken) <= 2
    work = sum(run.job.gpus * run.job.seconds for run in found.runs)
    assert found.metrics["utilization"].value * found.gpus * found.end == pytest.approx(work, rel=1e-9, abs=1e-9)


def test_the_command_tells_people_and_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "helios.csv"
    path.write_text(HELIOS, encoding="utf-8")
    with terminal_of(80) as terminal:
        assert command(["simulate", "vsphere-cluster-4", "--jobs", str(path)]) == 0
    stated = terminal.getvalue()
    assert max(map(len, stated.splitlines())) <= 80
    assert "fragmentation" in stated
    assert command(["simulate", "vsphere-cluster-4", "--jobs", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["jobs"] == {"file": "helios.csv", "format": "Helios", "listed": 2, "started": 2, "waiting": 0}
    assert found["metrics"]["wait_recorded"]["value"] == 5.0
    path.write_text(HELIOS.replace(",249,", ",long,"), encoding="utf-8")
    assert command(["simulate", "vsphere-cluster-4", "--jobs", str(path)]) == 2
    assert "helios.csv, line 3" in capsys.readouterr().err.replace(": line", ", line")
    assert command(["simulate", "vsphere-cluster-4", "--jobs", str(path), "--workload", "h2d"]) == 2


def test_a_month_of_jobs_takes_seconds() -> None:
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["job_id", "gpu_num", "node_num", "submit_time", "duration"])
    for k in range(20_000):
        day, second = divmod(k * 120, 86400)
        clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
        rows.writerow([k, (1, 1, 2, 4, 8, 16, 64)[k % 7], 1, f"2023-03-{day + 1:02d} {clock}", 600 + k % 5000])
    found = replay(open_design("su-h100-32"), parse_jobs(text.getvalue()))
    assert len(found.runs) == 20_000


# A failure has one answer: what `survive` says is lost is lost on the clock, after the wait that is stated.


def ended(found: Simulation, workload: str, step: str) -> list[float]:
    """When a step of a workload ended."""
    return [t.ended for t in found.run.tasks if t.program == workload and t.step == step and t.done and t.parent < 0]


@pytest.mark.parametrize("path", ["leaves[0]/switch", "servers[0]/nic0", "servers[0]/server", "servers[0]/gpu0"])
def test_survive_and_simulate_give_one_answer(path: str) -> None:
    """An all-reduce of 256 GPUs takes 7.21 ms; without a leaf every server has seven rails of 50 GB/s instead of eight.

    All ranks wait 30.06 s for the transport and 10 s to connect again. Then each all-reduce takes as much longer as
    `survive` says that is lost; what leaves a whole server out takes no longer, and is done by 248 ranks.
    """
    design = open_design("su-h100-32")
    rows = {x.path: x for x in survive(design, "all-reduce").losses}
    lost = rows[path]
    whole = simulate(design, ["all-reduce"], until=1.0, bands=False)
    found = simulate(design, ["all-reduce"], until=45.0, bands=False, failures=[Failure(path, 0.5)])
    before, after = (x.metrics["all-reduce"]["communication_time"].value for x in (whole, found))
    assert ended(found, "all-reduce", FAILURE) == pytest.approx([0.5])
    assert ended(found, "all-reduce", RESTORE) == pytest.approx([0.5 + TRANSPORT_TIMEOUT.value + RECONNECT.value])
    left_out = 248 / 256 if lost.leaves_out.endswith("server") or path.endswith("server") else 1.0
    # the metric of the run is that of its steady end
    assert min(1.0, before / after) * left_out == pytest.approx(lost.share, rel=2e-3)
    assert not [f for f in found.findings if f.code == "CLOCK-STUCK"]


def test_a_part_that_is_back_in_time_only_delays() -> None:
    """The transport repeats for 30 s: a leaf that is back after 2 s costs 2 s, and the collective is not aborted."""
    design = open_design("su-h100-32")
    failures = [Failure("leaves[0]/switch", 0.5), Failure("leaves[0]/switch", 2.5, 1.0)]
    found = simulate(design, ["all-reduce"], until=4.0, bands=False, failures=failures)
    assert not ended(found, "all-reduce", FAILURE)
    times = [t.time for t in found.run.tasks if t.program == "all-reduce" and t.done and t.parent < 0]
    assert max(times) == pytest.approx(2.0 + min(times), rel=2e-2)


def test_flows_take_another_way_after_a_second() -> None:
    """Reads from storage have two leaves; without one they go on at 125 GB/s, as the store gives no more."""
    design = open_design("su-h100-32")
    found = simulate(
        design, ["storage-to-gpus"], until=6.0, bands=False, failures=[Failure("storage_leaves[0]/switch", 1.0)]
    )
    assert ended(found, "storage-to-gpus", RESTORE) == pytest.approx([1.0 + REROUTE.value])
    assert found.metrics["storage-to-gpus"]["rate"].value == pytest.approx(125e9, rel=0.02)


def test_a_training_restarts_cold_on_what_is_left() -> None:
    """30.06 s and ten minutes later it trains on seven GPUs; until then the run says that it is down."""
    design = open_design("hgx-h100-8")
    failures = [Failure("gpu0", 10.0)]
    early = simulate(design, ["llama-2-7b-fsdp"], until=60.0, bands=False, failures=failures)
    assert [f.where for f in early.findings if f.code == "CLOCK-STUCK"] == [("gpu0",)]
    late = simulate(design, ["llama-2-7b-fsdp"], until=660.0, bands=False, failures=failures)
    assert ended(late, "llama-2-7b-fsdp", RESTORE) == pytest.approx([10.0 + TRANSPORT_TIMEOUT.value + 600.0])
    assert not [f for f in late.findings if f.code == "CLOCK-STUCK"]
    # ranks that are equivalent are one work
    assert {w.equal for w in late.run.works if w.ready > 640 and w.engine >= 0} == {7}


def test_what_a_failure_does_not_touch_goes_on() -> None:
    """Copies inside the host need no network."""
    design = open_design("su-h100-32")
    found = simulate(design, ["h2d"], until=2.0, bands=False, failures=[Failure("leaves[0]/switch", 1.0)])
    assert not ended(found, "h2d", FAILURE)


def test_what_has_no_other_way_is_cut_off() -> None:
    design = open_design("su-h100-32")
    found = simulate(design, ["storage-to-gpus"], until=4.0, bands=False, failures=[Failure("storage", 1.0)])
    assert not ended(found, "storage-to-gpus", RESTORE)

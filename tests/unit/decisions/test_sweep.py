"""Rows of a sweep against what one works out by hand; nothing is lost when it stops."""

from __future__ import annotations

import csv
import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import designer
from designer import open_design
from designer.decisions import answers
from designer.decisions.answers import Binding, Row, make_task
from designer.decisions.failures_survey import survive
from designer.decisions.frontier import frontier, turns
from designer.decisions.row_files import RowFile, to_csv
from designer.decisions.runs import Run, grid
from designer.decisions.suggest import suggest
from designer.decisions.sweep import rows_of, sweep
from designer.decisions.variables import make_variable
from designer.design.document import Design
from designer.errors import AnalysisError, Cancelled, FormatError
from designer.families.serving import alone
from designer.families.serving import answers as serving_answers
from designer.interchange.overrides import overridden
from designer.sources import Estimate
from tests.unit.decisions.small import FIRST, SECOND, line, task

# Rows of a sweep against what one works out by hand; nothing is lost when it stops.


def rates(rows: Sequence[Row]) -> list[float]:
    return [row.metrics["rate"].value for row in rows]


def test_the_slower_of_two_links_tells_the_rate() -> None:
    """10, 20, 40, 80 GB/s before a link of 40: the rate doubles twice, then stays. At 40 both bind, then the second."""
    runs = grid([make_variable(FIRST, "10 GB/s..80 GB/s*2")])
    rows = sweep(task(FIRST), runs)
    first = rates(rows)[0]
    assert first == pytest.approx(10e9, rel=0.2)  # what protocols leave of 10 GB/s
    assert rates(rows) == pytest.approx([first, 2 * first, 4 * first, 4 * first])
    assert [{b.id.partition(":")[0] for b in row.binding} for row in rows] == [{"l1"}, {"l1"}, {"l1", "l2"}, {"l2"}]
    found = turns(rows, [FIRST])
    assert [(turn.before.number, turn.after.number) for turn in found] == [(2, 3)]
    assert all(row.metrics["rate"].low <= row.metrics["rate"].value <= row.metrics["rate"].high for row in rows)


def test_a_grid_of_both_links_is_the_smaller_of_each_pair() -> None:
    runs = grid([make_variable(FIRST, "10 GB/s,40 GB/s"), make_variable(SECOND, "20 GB/s,80 GB/s")])
    rows = sweep(task(FIRST, SECOND), runs)
    unit = rates(rows)[0] / 10
    assert rates(rows) == pytest.approx([10 * unit, 10 * unit, 20 * unit, 40 * unit])
    # along the first link: bound by it, then by the second of 20; along the second at 40: by it, then by the first
    assert [(t.path, t.before.number, t.after.number) for t in turns(rows, [FIRST, SECOND])] == [
        (FIRST, 0, 2),
        (SECOND, 2, 3),
    ]


def test_twice_the_bytes_take_twice_the_time() -> None:
    runs = grid([make_variable("workloads.copy.size", "1 GB,2 GB")])
    rows = sweep(task("workloads.copy.size", metrics=("transfer_time",)), runs)
    short, long = (row.metrics["transfer_time"].value for row in rows)
    assert long == pytest.approx(2 * short, rel=1e-3)


def test_what_a_run_cannot_be_is_told_in_its_row() -> None:
    runs = grid([make_variable(FIRST, "10 GB/s,0 GB/s,ten")])
    rows = sweep(task(FIRST), runs)
    assert not rows[0].error
    assert all(row.error and not row.metrics and FIRST in row.error for row in rows[1:])


def test_a_path_that_names_nothing_is_refused_before_any_run() -> None:
    with pytest.raises(FormatError, match=r"--vary links\.l9\.count"):
        sweep(task("links.l9.count"), grid([make_variable("links.l9.count", "1,2")]))


def test_unknown_workloads_and_metrics_are_refused() -> None:
    with pytest.raises(AnalysisError, match="its workloads: copy"):
        make_task(line(), "nope", (), (), overridden)
    with pytest.raises(AnalysisError, match="there are rate"):
        make_task(line(), None, (), ("rat",), overridden)
    with pytest.raises(AnalysisError, match="no workload"):
        make_task(Design(name="empty"), None, (), (), overridden)


def test_processes_give_the_same_rows() -> None:
    runs = grid([make_variable(FIRST, "1 GB/s..40 GB/s+1 GB/s")])
    assert sweep(task(FIRST), runs, jobs=2) == sweep(task(FIRST), runs, jobs=1)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_process_loses_nothing() -> None:
    asked = make_task(line(), None, (FIRST,), ("rate",), overridden)
    runs = grid([make_variable(FIRST, "1 GB/s..60 GB/s+1 GB/s")])
    rows: list[Row] = []
    for row in rows_of(asked, runs, jobs=2):
        if not rows:
            os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)
        rows.append(row)
    assert sorted(rows, key=lambda r: r.number) == list(sweep(asked, runs, jobs=1))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_it_goes_on_where_it_stopped(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    out = tmp_path / f"rows{suffix}"
    asked, runs = task(FIRST), grid([make_variable(FIRST, "1 GB/s..9 GB/s+1 GB/s")])
    seen: list[float] = []
    with pytest.raises(Cancelled):
        sweep(asked, runs, out, jobs=1, progress=lambda share, _: seen.append(share), cancelled=lambda: len(seen) == 4)
    done: list[int] = []
    answer = answers.answer
    monkeypatch.setattr("designer.decisions.sweep.answer", lambda t, r, c: done.append(r.number) or answer(t, r, c))
    rows = sweep(asked, runs, out, jobs=1)
    assert done == [4, 5, 6, 7, 8]
    fresh = sweep(asked, runs, jobs=1)
    assert [(r.settings, r.binding, rates([r])) for r in rows] == [(r.settings, r.binding, rates([r])) for r in fresh]
    assert [path.name for path in tmp_path.iterdir()] == [out.name]
    # once more: nothing is left to do, and more values are added to the same file
    done.clear()
    assert sweep(asked, runs, out, jobs=1) == rows
    assert not done
    more = sweep(asked, grid([make_variable(FIRST, "9 GB/s,10 GB/s")]), out, jobs=1)
    assert done == [1]
    assert len(more) == 2
    assert len(RowFile(out, asked).done) == 10


def test_a_line_that_a_kill_cut_in_half_is_done_again(tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    asked, runs = task(FIRST), grid([make_variable(FIRST, "1 GB/s..5 GB/s+1 GB/s")])
    rows = sweep(asked, runs, out, jobs=1)
    whole = out.read_text("utf-8")
    for cut in (len(whole) - 1, len(whole) - 30, whole.index("\n") + 2):
        out.write_text(whole[:cut], "utf-8")
        sweep(asked, runs, out, jobs=1)
        assert out.read_text("utf-8") == whole
    assert to_csv(asked, rows) == whole


def test_other_files_are_never_written_over(tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    runs = grid([make_variable(FIRST, "1 GB/s,2 GB/s")])
    for content in ("precious\n", "run,a,b\n1,2,3\n"):
        out.write_text(content, "utf-8")
        with pytest.raises(FormatError, match="another name"):
            sweep(task(FIRST), runs, out)
        assert out.read_text("utf-8") == content
    out.unlink()
    sweep(task(FIRST), runs, out, jobs=1)
    before = out.read_text("utf-8")
    with pytest.raises(FormatError, match="another design"):
        sweep(task(FIRST, design=line(second="3 GB/s")), runs, out)
    assert out.read_text("utf-8") == before


def test_moving_a_box_asks_the_same_question() -> None:
    from designer.design.document import Position

    moved = line().model_copy(
        update={"parts": {k: p.model_copy(update={"position": Position(x=3, y=4)}) for k, p in line().parts.items()}}
    )
    assert task(FIRST, design=moved).question == task(FIRST).question
    assert task(FIRST, design=line(size="1 GB")).question != task(FIRST).question


def test_names_like_formulas_are_harmless_and_come_back(tmp_path: Path) -> None:
    asked = task(FIRST)
    row = Row(0, ("1 GB/s",), {"rate": Estimate(1.0, 0.5, 2.0, "B/s")}, (Binding("part", "x", "=cmd()"),), "@bad\nline")
    out = tmp_path / "rows.csv"
    out.write_text(to_csv(asked, [row]), "utf-8")
    assert "'=cmd()" in out.read_text("utf-8")
    assert RowFile(out, asked).done == (Row(0, row.settings, row.metrics, row.binding, "@bad line"),)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_sweeps_that_write_one_file_at_the_same_time_keep_all_rows(tmp_path: Path, suffix: str) -> None:
    """Two sweeps of one question, 30 rows each, write in turns: 60 rows stand in the file, whoever ends first."""
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    out = tmp_path / f"rows{suffix}"
    asked = task(FIRST)
    first = grid([make_variable(FIRST, "1 GB/s..30 GB/s+1 GB/s")])
    second = grid([make_variable(FIRST, "31 GB/s..60 GB/s+1 GB/s")])
    begun = threading.Barrier(2)

    def run(runs: Sequence[Run]) -> None:
        waited = iter([begun.wait])
        sweep(asked, runs, out, jobs=1, progress=lambda *_: next(waited, float)() and None)

    threads = [threading.Thread(target=run, args=(runs,)) for runs in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.name for path in tmp_path.iterdir()] == [out.name]
    kept = {row.settings: rates([row]) for row in RowFile(out, asked).done}
    assert kept == {row.settings: rates([row]) for row in (*sweep(asked, first), *sweep(asked, second))}
    assert len(kept) == 60


@pytest.mark.parametrize("change", [("rate", "999"), ("rate", "nan"), ("rate low", "9e99"), ("bottleneck", "x")])
def test_a_row_that_was_changed_by_hand_is_not_believed(tmp_path: Path, change: tuple[str, str]) -> None:
    out = tmp_path / "rows.csv"
    asked, runs = task(FIRST), grid([make_variable(FIRST, "1 GB/s,2 GB/s")])
    sweep(asked, runs, out, jobs=1)
    lines = list(csv.reader(io.StringIO(out.read_text("utf-8"))))
    column = next(k for k, name in enumerate(lines[0]) if name.startswith(change[0]))
    lines[2][column] = change[1]
    with out.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    before = out.read_bytes()
    with pytest.raises(FormatError, match="run 1: it was changed by hand"):
        sweep(asked, runs, out, jobs=1)
    assert out.read_bytes() == before


def test_rows_are_of_a_model_file_as_it_was(tmp_path: Path) -> None:
    """The question holds what model files say, whether the design or a varied value names them."""
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "vocab_size": 32000,
    }
    model = tmp_path / "config.json"

    def tokens(path: str, layers: int, out: str = "rows.csv") -> float:
        model.write_text(json.dumps({**config, "num_hidden_layers": layers}), "utf-8")
        design = overridden(open_design("hgx-h100-8"), [f"workloads.llama-2-7b-fsdp.model={model}"])
        name = f"workloads.llama-2-7b-fsdp.{path}"
        asked = make_task(design, "llama-2-7b-fsdp", (name,), ("step_time",), overridden)
        value = str(model) if path == "model" else "2"
        return sweep(asked, grid([make_variable(name, value)]), tmp_path / out, jobs=1)[0].metrics["step_time"].value

    for path in ("micro_batch", "model"):
        before = tokens(path, 32, f"{path}.csv")
        with pytest.raises(FormatError, match="model file"):
            tokens(path, 16, f"{path}.csv")
        assert tokens(path, 16, f"{path}-16.csv") < 0.7 * before
        assert tokens(path, 32, f"{path}.csv") == before


def test_a_model_file_that_changes_while_the_sweep_runs_ends_it(tmp_path: Path) -> None:
    model = tmp_path / "note"
    model.write_text("one", "utf-8")
    design = line()
    spec = next(iter(design.workloads.values()))
    titled = spec.model_copy(update={"settings": {**spec.settings, "source": str(model)}})
    asked = replace(task(FIRST), design=design.model_copy(update={"workloads": {spec.id: titled}}))
    file = RowFile(tmp_path / "rows.csv", asked)
    file.add(Row(0, ("1 GB/s",)))
    model.write_text("another", "utf-8")
    with pytest.raises(AnalysisError, match="changed while the sweep ran"):
        file.add(Row(1, ("2 GB/s",)))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes as POSIX systems have them")
def test_a_pipe_without_a_reader_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("designer.atomic._READER_WAIT", 0.05)
    pipe = tmp_path / "rows.csv"
    os.mkfifo(pipe)
    with pytest.raises(FormatError, match="nobody reads"):
        sweep(task(FIRST), grid([make_variable(FIRST, "1 GB/s,2 GB/s")]), pipe, jobs=1)


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links as POSIX systems have them")
def test_a_link_by_the_name_of_growing_rows_is_not_followed(tmp_path: Path) -> None:
    """`rows.parquet.part.csv -> ~/.bashrc`: neither made nor changed."""
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    victim = tmp_path / "victim"
    (tmp_path / "rows.parquet.part.csv").symlink_to(victim)
    with pytest.raises(FormatError, match="cannot be used"):
        sweep(task(FIRST), grid([make_variable(FIRST, "1 GB/s")]), tmp_path / "rows.parquet", jobs=1)
    assert not victim.exists()
    victim.touch()
    with pytest.raises(FormatError, match="cannot be used"):
        sweep(task(FIRST), grid([make_variable(FIRST, "1 GB/s")]), tmp_path / "rows.parquet", jobs=1)
    assert victim.read_bytes() == b""


def test_the_frontier_is_what_no_other_run_beats() -> None:
    """By hand: (time, memory) of five runs; 3 is beaten by 1 in both, 4 equals 1 and counts as well."""

    def row(number: int, time: float, memory: float) -> Row:
        metrics = {
            "time_to_train": Estimate(time, time, time, "s"),
            "memory_per_gpu": Estimate(memory, memory, memory, "B"),
        }
        return Row(number, (str(number),), metrics)

    rows = [row(0, 9, 1), row(1, 5, 2), row(2, 1, 7), row(3, 6, 3), row(4, 5, 2)]
    assert [r.number for r in frontier(rows, "time_to_train", "memory_per_gpu")] == [2, 1, 4, 0]


def test_a_program_that_is_killed_leaves_its_rows(tmp_path: Path) -> None:
    """Killed in the middle, from outside: what stood in the file is taken over, and no process is left behind."""
    if not hasattr(signal, "SIGKILL"):
        pytest.skip("needs SIGKILL")
    out = tmp_path / "rows.csv"
    command = [
        sys.executable,
        "-m",
        "designer",
        "sweep",
        "hgx-h100-8",
        "--workload",
        "h2d",
        "--vary",
        "links.*--gpu*.lanes=1,2,4,8,16",
        "--vary",
        "workloads.h2d.size=1 GB..400 GB+1 GB",
        "--metric",
        "rate",
        "-o",
        str(out),
        "--jobs",
        "1",
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        while running.poll() is None and (not out.exists() or out.read_bytes().count(b"\n") < 5):
            pass
        running.kill()
    rows = out.read_bytes().count(b"\n") - 1
    assert 4 <= rows < 2000
    asked = make_task(
        __import__("designer").open_design("hgx-h100-8"),
        "h2d",
        ("links.*--gpu*.lanes", "workloads.h2d.size"),
        ("rate",),
        overridden,
    )
    assert len(RowFile(out, asked).done) == rows


def test_a_run_is_told_apart_by_its_number() -> None:
    assert answers.answer(task(FIRST), Run(7, ("1 GB/s",))).number == 7


# Searches compare values: what only bands need is not computed for them.


@pytest.fixture
def factors(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Factors of the step times of all runs of engines; 0 for each frontier."""
    asked: list[float] = []
    settled, frontier = serving_answers.settled, alone.frontier

    def counted(placement: object, requests: object, factor: float, cancelled: object = None) -> object:
        asked.append(factor)
        return settled(placement, requests, factor, cancelled)  # type: ignore[arg-type]

    def drawn(served: object, cancelled: object = None) -> object:
        asked.append(0.0)
        return frontier(served, cancelled)  # type: ignore[arg-type]

    monkeypatch.setattr(serving_answers, "settled", counted)
    monkeypatch.setattr(alone, "frontier", drawn)
    return asked


def test_changes_are_compared_by_values_alone(factors: list[float]) -> None:
    found = suggest(designer.open_design("serving-h100-8"), "chat-70b")
    assert found.steps
    assert factors
    assert set(factors) == {1.0}


def test_failures_are_compared_by_values_alone(factors: list[float]) -> None:
    design = designer.open_design("serving-h100-8")
    assert not design.assertions
    assert survive(design, "chat-70b").losses
    # the whole machine is answered once with its bands and its frontier
    assert sum(factor != 1.0 for factor in factors) == 3
    assert len(factors) > 6

"""``designer calibrate``: a design fitted to measurements of its machine."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from designer import atomic
from designer.cli.command import Command
from designer.cli.design import add_design, opened
from designer.cli.output import print_json, print_written
from designer.interchange.calibrating import (
    LARGEST_TEXT,
    SERVING,
    calibrate,
    calibrate_all,
    calibrate_serving,
    measured_cases,
)
from designer.interchange.cases import FORMAT
from designer.interchange.measuring import MEASURED
from designer.interchange.native.json_text import decode
from designer.interchange.native.raw import read_bytes
from designer.interchange.native.writer import save
from designer.interchange.serving_runs import read_runs
from designer.units import format_quantity

if TYPE_CHECKING:
    from designer.interchange.calibrating import Fitted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument("measured", metavar="OUTPUT", help="what the tool printed")
    parser.add_argument(
        "--tool",
        required=True,
        metavar="TOOL",
        help="nccl-tests, nvbandwidth, fio (JSON), mlperf-storage (JSON), measured: the file that the script of "
        "designer measure writes, or serving: the result of vllm bench serve, sglang.bench_serving, AIPerf, GenAI-Perf "
        "or GuideLLM",
    )
    parser.add_argument("--workload", default="", metavar="ID", help="the served model a serving benchmark measured")
    parser.add_argument("--group", default="gpus", metavar="SELECTOR", help="accelerators that took part")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="design file to write")
    parser.add_argument("--cases", metavar="FILE", help="write what was measured as cases for designer validate, too")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(options: argparse.Namespace) -> int:
    """Fit and write the design."""
    from pathlib import Path

    text = decode(read_bytes(Path(options.measured), LARGEST_TEXT))
    if options.cases is not None:
        _write_cases(options, text)
    if options.tool == SERVING:
        return _serving(options, text)
    if options.tool == MEASURED:
        return _measured(options, text)
    design, found = calibrate(opened(options).design, text, options.tool, Path(options.measured).name, options.group)
    notes = save(design, Path(options.output))
    if options.json:
        print_json({**_values(found), "file": options.output})
    else:
        print(_line(found))
    print_written(options.output, notes, options.json)
    return 0


def _write_cases(options: argparse.Namespace, text: str) -> None:
    """Write the measurements as cases of the design as it was before the fit."""
    import json
    from pathlib import Path

    design, name, file = opened(options).design, Path(options.measured).name, Path(options.cases)
    stated = options.design
    if Path(stated).exists():
        stated = os.path.relpath(Path(stated).resolve(), file.resolve().parent)
    cases = measured_cases(design, text, options.tool, name, stated, options.group)
    document = {"format": FORMAT, "version": 1, "cases": cases}
    atomic.write(file, (json.dumps(document, indent=1) + "\n").encode())
    print_written(options.cases, (), options.json)


def _values(found: Fitted) -> dict[str, str | float]:
    return {
        "what": found.what,
        "measured": found.measured,
        "predicted": found.predicted,
        "factor": found.factor,
        "points": found.points,
    }


def _line(found: Fitted) -> str:
    readings = f"{found.points} reading{'s' * (found.points != 1)}"
    return f"{found.what}: {found.factor:.3f} of the prediction, from {readings}"


def _measured(options: argparse.Namespace, text: str) -> int:
    """Fit every output of a file of measurements and write the design."""
    from pathlib import Path

    found = calibrate_all(opened(options).design, text, Path(options.measured).name, options.group)
    notes = save(found.design, Path(options.output))
    if options.json:
        fitted = [_values(one) for one in found.fitted]
        print_json({"fitted": fitted, "left_out": list(found.left_out), "file": options.output})
    else:
        for one in found.fitted:
            print(_line(one))
        if found.left_out:
            print(f"not fitted: {', '.join(found.left_out)}; compare them with a workload of the design")
    print_written(options.output, notes, options.json)
    return 0


def _serving(options: argparse.Namespace, text: str) -> int:
    """Fit the engine of a served model and write the design."""
    from pathlib import Path

    design, found = calibrate_serving(
        opened(options).design, read_runs(text), options.workload, Path(options.measured).name
    )
    notes = save(design, Path(options.output))
    if options.json:
        print_json(
            {
                "workloads": list(found.workloads),
                "calibration": found.calibration.text(),
                "time_per_token": {"measured": found.each[0], "predicted": found.each[1], "left": found.left[0]},
                "first_token": {"measured": found.first[0], "predicted": found.first[1], "left": found.left[1]},
                "runs": found.runs,
                "file": options.output,
            }
        )
    else:
        print(f"{found.runs} run{'s' * (found.runs != 1)}, for {', '.join(found.workloads)}")
        for title, times, left in (
            ("time per token", found.each, found.left[0]),
            ("first token", found.first, found.left[1]),
        ):
            measured, predicted = (format_quantity(one, "duration") for one in times)
            print(f"{title}: measured {measured}, predicted {predicted}; the fit leaves {left:.0%}")
        print(found.calibration.text())
    print_written(options.output, notes, options.json)
    return 0


COMMAND = Command(
    "calibrate",
    "A design fitted to measurements of its machine; they become a source of the design.",
    "designer calibrate hgx-h100-8 all_reduce.txt --tool nccl-tests -o mine.design.json",
    add_arguments,
    run,
)

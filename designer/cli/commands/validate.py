"""``designer validate``: predictions against measurements."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from designer.cli.command import Command

if TYPE_CHECKING:
    from collections.abc import Callable

    from designer.analysis.validation import Outcome, Validation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("cases", metavar="CASES", nargs="+", help="files of measurements, or folders of them")
    parser.add_argument("--figure", metavar="FILE", help="draw predicted against measured; .svg or .png")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(options: argparse.Namespace) -> int:
    """Predict every case and score it."""
    from pathlib import Path

    from designer.analysis.validation import predict, score
    from designer.cli.output import print_json, print_problem, progress_bar
    from designer.interchange.cases import case_files, read_cases

    write = _drawer(options.figure) if options.figure else None
    files = [file for name in options.cases for file in case_files(Path(name))]
    cases = [(file, *case) for file in files for case in read_cases(file)]
    progress, outcomes = progress_bar(), []
    for k, (_, design, measured) in enumerate(cases):
        progress(k / len(cases), measured.id)
        outcomes.append(predict(design, measured))
    progress(1.0, "")
    found = score(outcomes)
    if options.json:
        print_json(as_document(found))
    else:
        _print(found)
    for (file, _, measured), outcome in zip(cases, outcomes, strict=True):
        if outcome.problem:
            print_problem(f"{file}: case {measured.id}: {outcome.problem}")
    if write:
        write(found)
    missed = sum(outcome.predicted is None for outcome in found.outcomes)
    return 0 if missed == 0 else 2 if missed == len(outcomes) else 1


def _drawer(name: str) -> Callable[[Validation], None]:
    """What writes the figure; a name of another kind is refused before anything is computed."""
    from pathlib import Path

    from designer.errors import ExchangeError
    from designer.interchange.exporting import write_picture
    from designer.report.drawing.palette import palette
    from designer.report.drawing.plot import plot
    from designer.report.figures._predicted_measured import build

    path = Path(name)
    if path.suffix not in (".svg", ".png"):
        raise ExchangeError("a figure is a picture", file=name, remedy="choose a name that ends in .svg or .png")
    if not path.parent.is_dir():
        raise ExchangeError("the folder of the figure does not exist", file=name, remedy="make it, or choose another")

    def write(found: Validation) -> None:
        figure = build(found)
        if figure is None:
            raise ExchangeError("nothing was predicted that could be drawn", file=name, remedy="correct the cases")
        write_picture(plot(figure, palette("light")), path)

    return write


def as_document(found: Validation) -> dict[str, Any]:
    """The JSON that scripts rely on."""
    return {
        "cases": [_outcome(outcome) for outcome in found.outcomes],
        "groups": dict(found.groups),
        "areas": dict(found.areas),
        "error": found.error,
        "band": {"coverage": found.coverage, "width": found.width, "stated": 0.8},
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    measured, predicted = outcome.measured, outcome.predicted
    return {
        "id": measured.id, "area": measured.area, "group": measured.group, "source": measured.source,
        "metric": measured.metric, "measured": measured.value, "sided": str(measured.sided),
        "predicted": predicted.value if predicted else None, "low": predicted.low if predicted else None,
        "high": predicted.high if predicted else None, "unit": predicted.unit if predicted else None,
        "error": outcome.error, "inside": outcome.inside, "problem": outcome.problem,
    }  # fmt: skip


def _print(found: Validation) -> None:
    from designer.cli.output import table
    from designer.units import format_si
    from designer.workload.metrics import METRICS

    rows: list[tuple[str, ...]] = []
    for o in found.outcomes:
        p, m = o.predicted, o.measured
        if p is None:
            rows.append((m.id, m.metric, format_si(m.value, METRICS[m.metric].unit), "-", "-", "not predicted"))
            continue
        band = f"{format_si(p.low, p.unit)} – {format_si(p.high, p.unit)}"
        rows.append(
            (m.id, m.metric, format_si(m.value, p.unit), format_si(p.value, p.unit), band, f"{o.error:.1%}")
        )  # fmt: skip
    print(table(("case", "metric", "measured", "predicted", "80 % band", "error"), rows))
    if not found.groups:
        return
    print()
    print(table(("group", "median error"), [(name, f"{value:.1%}") for name, value in found.groups.items()], (1,)))
    print()
    print(table(("area", "mean of groups"), [(name, f"{value:.1%}") for name, value in found.areas.items()], (1,)))
    if found.coverage == found.coverage:
        print(f"\nbands hold {found.coverage:.0%} of the points (80 % stated), about ±{found.width:.0%} wide")


_MORE = """\
A file of measurements:

  {"format": "designer-cases", "version": 1, "cases": [
    {
      "source": "our lab, 2026-11, nccl-tests 2.14",
      "design": "hgx-h100-8",
      "workload": {"kind": "collective", "settings": {"collective": "all-reduce", "group": "gpus", "size": "1 GiB"}},
      "metric": "bus_bandwidth", "value": "450 GB/s"
    },
    {
      "id": "resnet", "group": "our lab", "source": "log of 2026-11-02", "design": "dgx-a100",
      "changes": {"parts": {"nvme0": {"read_bandwidth": "3 GB/s"}}, "links": {"psw0--gpu0": {"generation": 3}}},
      "workload": {"kind": "training", "settings": {"model": "resnet-50", "precision": "fp16", "software": "fused",
                   "micro_batch": 256}},
      "metric": "samples_per_second", "value": "22000 images/s"
    }
  ]}

design    a template, or a design file beside this one (designer templates)
changes   other values or types of parts, fields of links, virtual machines, sizes of groups, policy, by id
          (designer summary DESIGN --ids);
          "gpu*" stands for all that begin so, "hosts/nic0" for what is inside a group:
          {"parts": {"gpu*": {"type": "gpu/nvidia/h200-sxm"}}, "groups": {"servers": 16},
           "vms": {"train0": {"memory": "64 GiB", "devices": [{"kind": "vgpu", "profile": "grid_a100d-40c"}]}},
           "policy": {"gpudirect": false}}
          A type brings its own values; those that the design states of the part itself stay, and links keep the
          generation they were drawn with: {"links": {"*": {"generation": 5}}}. A cable is no faster than its NIC.
workload  id of a workload of the design, or a kind with settings (designer workloads KIND)
metric    one that the kind reports, with its unit (designer workloads KIND)
value     with its unit; a bare number is in SI units
group     what was measured together: its median error counts. Without it: the source
area      what the groups are averaged over. Without it: what the kind of workload belongs to, such as training
sided     "lower" or "upper" where the measurement is a bound, else "both"
id, note  for people

Error: |ln(predicted / measured)|, 69 % where they differ twofold. What could not be predicted, or would not run as
told, is named on stderr. Exit code 0: all predicted; 1: some not; 2: none, or a case is wrong.
JSON: cases[].{id, area, group, source, metric, measured, predicted, low, high, unit, error, inside, problem},
groups, areas, error, band.{coverage, width, stated}.

"""

COMMAND = Command(
    "validate",
    "Predictions beside measurements: error by group and area, and how often bands hold.",
    "designer validate my-measurements.json --json",
    add_arguments,
    run,
    _MORE,
)

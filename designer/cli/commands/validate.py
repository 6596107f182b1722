"""``designer validate``: predictions against published measurements."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from designer.cli.command import Command
from designer.cli.output import print_json, print_problem, print_written, progress_bar, table
from designer.decisions.validation import predict, score
from designer.errors import ExchangeError, FormatError
from designer.interchange.cases import gathered
from designer.interchange.exporting import write_picture
from designer.report.charts.plots import picture_of
from designer.report.figures.predicted_measured import figures_of
from designer.units import format_si
from designer.workload.kind import workload_kinds
from designer.workload.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from designer.decisions.validation import Outcome, Validation
    from designer.errors import DesignerError

#: more messages of one kind than this are counted
_MOST_MESSAGES: Final = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("cases", metavar="CASES", nargs="*", help="files of measurements, or folders of them")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.add_argument("--figure", metavar="FILE", help="draw predicted over measured; .svg or .png")
    parser.add_argument("--metrics", action="store_true", help="list what each kind of workload reports, and stop")


def run(options: argparse.Namespace) -> int:
    """Predict every case and score it."""
    from pathlib import Path

    if options.metrics:
        return _metrics(options.json)
    if not options.cases:
        raise FormatError("no file of measurements is named", remedy="designer validate --help shows a whole one")
    write = _painter(options.figure) if options.figure else None
    files, problems = gathered(Path(name) for name in options.cases)
    problems += [problem for file in files for problem in file.problems]
    cases = [case for file in files for case in file.cases]
    progress, outcomes = progress_bar(), []
    for k, (design, measured) in enumerate(cases):
        progress(k / len(cases), measured.id)
        outcomes.append(predict(design, measured))
    progress(1.0, "")
    found = score(outcomes)
    missed = [outcome for outcome in outcomes if outcome.predicted is None]
    _print_messages([*map(str, problems), *(f"{o.measured.place}: {o.problem}" for o in outcomes if o.problem)])
    _print_messages([f"note: {note}" for file in files for note in file.notes])
    if options.json:
        print_json(as_document(found, problems))
    elif outcomes:
        _print(found)
    if write is not None and len(missed) < len(outcomes):
        write(found)
    if len(missed) == len(outcomes):
        return 2
    return 1 if missed or problems else 0


def _print_messages(messages: Sequence[str]) -> None:
    for message in messages[:_MOST_MESSAGES]:
        print_problem(message)
    if len(messages) > _MOST_MESSAGES:
        print_problem(f"and {len(messages) - _MOST_MESSAGES:,} more like these")


def _painter(name: str) -> Callable[[Validation], None]:
    """What writes the figure; a name that cannot be written to is refused before anything is computed."""
    from pathlib import Path

    path = Path(name)
    if path.suffix not in (".svg", ".png"):
        raise ExchangeError("a figure is a picture", file=name, remedy="choose a name that ends in .svg or .png")
    if not path.parent.is_dir():
        raise ExchangeError("the folder of the figure does not exist", file=name, remedy="make it, or choose another")

    def paint(found: Validation) -> None:
        print_written(name, write_picture(picture_of(figures_of(found)), path), quiet=True)

    return paint


def as_document(found: Validation, problems: Iterable[DesignerError] = ()) -> dict[str, Any]:
    """The JSON that scripts rely on."""
    return {
        "cases": [_outcome(outcome) for outcome in found.outcomes],
        "problems": [{"file": p.file, "place": p.place, "text": p.text, "remedy": p.remedy} for p in problems],
        "groups": dict(found.groups),
        "areas": dict(found.areas),
        "error": found.error,
        "band": {"coverage": found.coverage, "width": found.width, "stated": 0.8},
        "bands": {
            area: {"coverage": b.coverage, "width": b.width, "points": b.points} for area, b in found.bands.items()
        },
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    measured, predicted = outcome.measured, outcome.predicted
    return {
        "id": measured.id,
        "area": measured.area,
        "group": measured.group,
        "source": measured.source,
        "metric": measured.metric,
        "per_accelerator": measured.per_accelerator,
        "measured": measured.value,
        "sided": str(measured.sided),
        "predicted": predicted.value if predicted else None,
        "low": predicted.low if predicted else None,
        "high": predicted.high if predicted else None,
        "unit": predicted.unit if predicted else None,
        "error": outcome.error,
        "inside": outcome.inside,
        "problem": outcome.problem,
        "place": measured.place,
    }


def _print(found: Validation) -> None:
    rows: list[tuple[str, ...]] = []
    for o in found.outcomes:
        p, m = o.predicted, o.measured
        name = f"{m.metric}{'_per_gpu' if m.per_accelerator else ''}"
        if p is None:
            rows.append((m.id, name, format_si(m.value, METRICS[m.metric].unit), "-", "-", "-", o.problem))
            continue
        band = f"{format_si(p.low, p.unit)} – {format_si(p.high, p.unit)}"
        bound = {"lower": "≥ ", "upper": "≤ "}.get(m.sided, "")
        held = {True: "yes", False: "no", None: ""}[o.inside]
        rows.append(
            (m.id, name, bound + format_si(m.value, p.unit), format_si(p.value, p.unit), band, held, f"{o.error:.1%}")
        )
    print(table(("case", "metric", "measured", "predicted", "80% band", "inside", "error"), rows))
    print()
    print(table(("group", "median error"), [(name, f"{value:.1%}") for name, value in found.groups.items()], (1,)))
    print()
    areas = [
        (
            area,
            str(sum(o.measured.area == area and o.predicted is not None for o in found.outcomes)),
            f"{value:.1%}",
            _share(found.bands[area].coverage),
            f"±{_share(found.bands[area].width)}",
        )
        for area, value in found.areas.items()
    ]
    print(table(("area", "points", "mean of groups", "bands hold", "band width"), areas, (1, 2, 3, 4)))
    if found.coverage == found.coverage:
        print(f"\nbands hold {found.coverage:.0%} of the points (80 % stated), about ±{found.width:.0%} wide")


def _share(value: float) -> str:
    return f"{value:.0%}" if value == value else "–"


def _metrics(as_json: bool) -> int:
    kinds = workload_kinds()
    if as_json:
        print_json(
            {k: {m: {"unit": METRICS[m].unit, "help": METRICS[m].help} for m in w.metrics} for k, w in kinds.items()}
        )
        return 0
    rows = [
        (kind.name if not i else "", name, METRICS[name].unit, METRICS[name].help)
        for kind in kinds.values()
        for i, name in enumerate(kind.metrics)
    ]
    print(table(("kind", "metric", "unit", "meaning"), rows))
    return 0


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

The same as TOML is read as well. What all cases have in common may be given once in "defaults" next to "cases".

design    a template, or a design file next to this one (designer templates)
changes   other values or types of parts, fields of links, sizes of groups, policy, by id (designer summary --ids);
          "gpu*" means all that begin so, where none is outside groups for those inside; "hosts/nic0" for what
          is inside one group:
          {"parts": {"gpu*": {"type": "gpu/nvidia/h200-sxm"}}, "groups": {"servers": 16},
           "policy": {"gpudirect": false}, "remove": ["nic1"]}
          links follow a new type: NVLink and xGMI in all, PCIe generation, ports of NICs; "links" and "wirings" win
          a limited part keeps lower clocks: {"parts": {"gpu*": {"power_per_part": "500 W"}}}
          a server becomes a cluster: {"servers": {"count": 4, "nics": "nic*", "bandwidth": "200 Gb/s",
           "kind": "infiniband"}}
          a rack becomes several: {"servers": {"racks": 2}}
          virtual machines: {"vms": {"web0": {"memory": "64 GiB"}}}; a new id with a "host" makes one
workload  id of a workload of the design, a kind with settings (designer workloads KIND), or {"id", "settings"}
metric    one that the kind reports (designer validate --metrics); busbw, throughput, tokens/s/GPU … are understood
value     with its unit; a bare number is in SI units, or in those of "unit"
source    where it is published, or who measured it; a note says how many cases do not name it
group     what was measured together: its median error counts. Without it: the source, or the file
area      what the groups are averaged over. Without it: by the kind of workload
sided     "lower" or "upper" where the measurement is a bound, else "both"
id, note  for people; an id occurs once in a file

A case that is wrong or cannot be predicted is reported on stderr with file and place; the others are scored.
Error: |ln(predicted / measured)|. Exit code 0: all scored; 1: some not; 2: none.
JSON: cases[].{id, area, group, source, metric, per_accelerator, measured, sided, predicted, low, high, unit, error,
inside, problem, place}, problems[].{file, place, text, remedy}, groups, areas, error,
band.{coverage, width, stated}, bands.AREA.{coverage, width, points}.

"""

COMMAND = Command(
    "validate",
    "Predictions and measurements: error by group and area, and how often bands hold.",
    "designer validate my-measurements.json --json",
    add_arguments,
    run,
    _MORE,
)

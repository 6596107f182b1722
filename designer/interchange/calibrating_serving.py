"""A served model fitted to a benchmark of it: two factors on the engine's release, kept in the design's workloads.

Most of what estimates of engines miss is one factor for each release and script, not the shape over load and lengths.
So one factor on steps and one more on prompts are fitted, in logarithms; what is left of several runs says how sure
they are. The factors of one model do not help another on the same release: on eight pairs of open runs its time per
token was met within 11 % without them and within 14 % with them, so they stay with the model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from designer.analysis.study import analyze
from designer.catalog.parttype import SourceRecord
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.engine.network import build_network
from designer.errors import ExchangeError
from designer.families.serving.calibration import Calibration
from designer.families.serving.deployment import Deployment
from designer.families.serving.placement import place_deployment
from designer.families.serving.tasks import Serve
from designer.interchange.serving_runs import ServingRun
from designer.sources import Constant, Status
from designer.workload.kind import task_of

#: standard deviation of the logarithm over loads of one deployment, of time per token and first token: 70 deployments
#: of open runs with four loads or more, their release left out; one run brings the other loads within 7 % and 14 %
LEFT: Final = Constant(0.06, 0.045, 0.1, "fit-serving", Status.DERIVED, "1", "of time per token")
LEFT_FIRST: Final = Constant(0.144, 0.07, 0.25, "fit-serving", Status.DERIVED, "1", "of the first token")
#: runs that those are worth next to the runs given
_PRIOR_RUNS: Final = 3
#: standard deviations either way of a band of 80 %
_EIGHTY: Final = 1.2816
_ROUNDS: Final = 4
_RUNS_LIMIT: Final = 40
#: key of the source in the design
SOURCE: Final = "calibration-serving"


@dataclass(frozen=True, slots=True)
class FittedServing:
    """What was fitted.

    Parameters
    ----------
    workloads
        Ids of the workloads it holds for: the same model on the same engine and release.
    each, first
        Measured and predicted before the fit, geometric means over the runs [s].
    left
        What is left after it: median of ``|ln(measured ÷ predicted)|`` of time per token and first token [1].
    """

    workloads: tuple[str, ...]
    calibration: Calibration
    each: tuple[float, float]
    first: tuple[float, float]
    left: tuple[float, float]
    runs: int


def calibrate_serving(
    design: Design, runs: Sequence[ServingRun], workload: str = "", name: str = ""
) -> tuple[Design, FittedServing]:
    """The design whose workloads that serve one model on one engine release are fitted to runs of it.

    Parameters
    ----------
    workload
        Id of the served model that was measured; may be empty if there is only one.
    name
        Of the output, for the source that the design keeps.

    Raises
    ------
    ExchangeError
        If the design serves no such model, or there are no runs.
    """
    spec = _served(design, workload)
    if not runs:
        raise ExchangeError("no runs", remedy="give the output of a benchmark")
    chosen = tuple(runs)[:: math.ceil(len(runs) / _RUNS_LIMIT)]
    plain = {name: value for name, value in spec.settings.items() if name != "calibration"}
    steps, prompts = 1.0, 1.0
    ratios = before = _ratios(design, plain, chosen, None)
    for _ in range(_ROUNDS):
        steps *= math.exp(_mean([each for each, _ in ratios]))
        # what makes steps slower makes prompts slower as well
        ratios = _ratios(design, plain, chosen, Calibration(steps, prompts, 0.0, 0.0))
        prompts *= math.exp(_mean([first for _, first in ratios]))
        ratios = _ratios(design, plain, chosen, Calibration(steps, prompts, 0.0, 0.0))
        if max(abs(_mean([one[k] for one in ratios])) for k in (0, 1)) < 1e-3:
            break
    step_spread = _spread([each for each, _ in ratios], LEFT)
    first_spread = _spread([first for _, first in ratios], LEFT_FIRST)
    placed = _deployment(design, spec)
    found = Calibration(
        round(steps, 4),
        round(prompts, 4),
        step_spread,
        first_spread,
        placed[0].model,
        placed[0].weights,
        placed[1].partition(" ")[0],
    )
    engine = _engine_of(spec.settings)
    fitted = tuple(
        one.id for one in design.workloads.values() if one.kind == "serving" and _engine_of(one.settings) == engine
    )
    touched = [
        with_changes(one, settings={**one.settings, "calibration": found.text()}) if one.id in fitted else one
        for one in design.workloads.values()
    ]
    means = [(_geometric([getattr(run, name) for run in chosen])) for name in ("each", "first")]
    shifts = [math.exp(-_mean([one[k] for one in before])) for k in (0, 1)]
    source = SourceRecord(title="Measured with a serving benchmark", status=Status.PRIMARY, locator=name)
    sources = {**design.sources, SOURCE: source}
    return with_changes(design, workloads=touched, sources=sources), FittedServing(
        fitted,
        found,
        (means[0], means[0] * shifts[0]),
        (means[1], means[1] * shifts[1]),
        (_median([abs(each) for each, _ in ratios]), _median([abs(first) for _, first in ratios])),
        len(chosen),
    )


def _served(design: Design, workload: str) -> WorkloadSpec:
    served = [one for one in design.workloads.values() if one.kind == "serving"]
    if workload:
        served = [one for one in served if one.id == workload]
    if len(served) == 1:
        return served[0]
    if not served:
        what = f"{workload!r} is no served model of the design" if workload else "the design serves no model"
        raise ExchangeError(what, remedy="add the deployment that was measured as a workload of the kind serving")
    names = ", ".join(one.id for one in served[:6])
    raise ExchangeError(
        f"the design serves {len(served)} models: which was measured is not said", remedy=f"give --workload: {names}"
    )


def _engine_of(settings: Mapping[str, Any]) -> tuple[str, str, str]:
    """Model, engine and release."""
    release = str(settings.get("release", "")).strip().lower().removeprefix("v")
    return str(settings.get("model", "")), str(settings.get("engine", "vllm")), release


def _ratios(
    design: Design, settings: Mapping[str, Any], runs: Sequence[ServingRun], calibration: Calibration | None
) -> list[tuple[float, float]]:
    """Logarithms of measured over predicted time per token, and first token, of each run."""
    found: list[tuple[float, float]] = []
    for run in runs:
        asked = {
            **settings,
            "load": "clients" if run.clients else "rate",
            "prompt": max(1, round(run.prompt)),
            "output": max(2, round(run.output)),
            "lengths": "",
            "trace": "",
            "beside": "",
            "storage": "",
            "calibration": calibration.text() if calibration is not None else "",
        }
        asked |= {"clients": run.clients} if run.clients else {"rate": f"{run.rate!r} 1/s"}
        spec = WorkloadSpec(id="calibration", kind="serving", settings=asked)
        changed = with_changes(design, workloads=[spec], default_workload="", assertions=[])
        metrics = analyze(changed, curves=False).workloads[0].metrics
        first = metrics["ttft_p50" if run.median else "ttft"].value
        found.append((math.log(run.each / metrics["tpot"].value), math.log(run.first / first)))
    return found


def _deployment(design: Design, spec: WorkloadSpec) -> tuple[Deployment, str]:
    """The deployment as it is placed, and the architecture of its device."""

    place = f"workloads.{spec.id}"
    task = task_of(spec.kind, spec.settings, place, Serve)
    assert task is not None
    placement = place_deployment(build_network(design), task.operation.deployment, place)
    return placement.deployment, placement.device.architecture


def _spread(left: Sequence[float], known: Constant) -> float:
    """80 % band of another run: what is left of these, and of so many others as are known, and their number."""
    squares = sum((one - _mean(left)) ** 2 for one in left) + _PRIOR_RUNS * known.value**2
    deviation = math.sqrt(squares / (_PRIOR_RUNS + len(left) - 1))
    return _EIGHTY * deviation * math.sqrt(1 + 1 / len(left))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _geometric(values: Sequence[float]) -> float:
    return math.exp(_mean([math.log(one) for one in values]))


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2

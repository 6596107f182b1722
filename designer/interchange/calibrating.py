"""A design fitted to what was measured on its machine: nccl-tests, nvbandwidth, fio and MLPerf Storage output.

Rates of links become a ``derating.<what>`` attribute on the links of the kind concerned (``0.93 source-key``): the
measured over the predicted rate, which the engine puts on what it would otherwise take for achievable. Rates of
drives and storage become values of those parts. Either way the measurement is a source of the design.

A served model fitted to a benchmark of it: two factors on the engine's release, kept in the design's workloads.

Most of what estimates of engines miss is one factor for each release and script, not the shape over load and lengths.
So one factor on steps and one more on prompts are fitted, in logarithms; what is left of several runs says how sure
they are. The factors of one model do not help another on the same release: on eight pairs of open runs its time per
token was met within 11 % without them and within 14 % with them, so they stay with the model.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final, NamedTuple, cast

from designer.analysis.study import analyze
from designer.catalog.parttype import Capability, SourceRecord, link_kinds, part_kinds
from designer.design.document import Block, Design, Group, LinkValues, Part, WorkloadSpec, with_changes
from designer.engine.network import build_network
from designer.errors import ExchangeError
from designer.families.serving.deployment import Deployment
from designer.families.serving.engines import Calibration
from designer.families.serving.placement import place_deployment
from designer.families.serving.tasks import Serve
from designer.fields import Quantity
from designer.formulas.storage.read_rate import FILE_SHARE
from designer.interchange.measuring import MEASURED, Section, sections
from designer.interchange.serving_runs import ServingRun
from designer.sources import Constant, Status
from designer.workload import nccl_tests
from designer.workload.kind import task_of

#: benchmarks of serving engines, see ``calibrating_serving``
SERVING: Final = "serving"
#: smaller messages say more about latency than about links [B]
LARGE_MESSAGE: Final = 64 * 2**20
LARGEST_TEXT: Final = 64_000_000
_MATRIX: Final = re.compile(r"memcpy \w+ (CPU\(row\)[^\n]*|GPU\(row\)[^\n]*)\n(.*?)\n\s*\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was changed: on which links or parts, and by which factor or to which value."""

    what: str
    measured: float
    predicted: float
    points: int

    @property
    def factor(self) -> float:
        """Measured over predicted [1]."""
        return self.measured / self.predicted


def calibrate(design: Design, text: str, tool: str, name: str, group: str = "gpus") -> tuple[Design, Fitted]:
    """The design fitted to the output of a tool, and what was fitted.

    Parameters
    ----------
    tool
        ``nccl-tests``, ``nvbandwidth``, ``fio`` or ``mlperf-storage``.
    name
        Of the output, for the source.
    group
        Accelerators that took part.

    Raises
    ------
    ExchangeError
        If the output has nothing to fit, or the design no such links or parts.
    """
    if len(text) > LARGEST_TEXT:
        raise ExchangeError(f"{len(text)} characters are too many", remedy="give the output of one run")
    reader = TOOLS.get(tool)
    if reader is None:
        raise ExchangeError(f"{tool!r} is no known tool", remedy=f"use one of {', '.join((*TOOLS, MEASURED, SERVING))}")
    key = f"calibration-{tool}"
    source = SourceRecord(title=f"Measured with {tool}", status=Status.PRIMARY, locator=name)
    fitted, found = reader(design, text, key, group)
    return with_changes(fitted, sources={**design.sources, key: source}), found


class Calibrated(NamedTuple):
    """A design fitted to a file of measurements, what was fitted, and tools whose output fits nothing."""

    design: Design
    fitted: tuple[Fitted, ...]
    left_out: tuple[str, ...]


def calibrate_all(design: Design, text: str, name: str, group: str = "gpus") -> Calibrated:
    """The design fitted to every output in a file that the script of ``designer measure`` wrote.

    Raises
    ------
    ExchangeError
        As :func:`calibrate`, or if there is nothing to fit.
    """
    fitted: list[Fitted] = []
    left_out: list[str] = []
    for tool, output in sections(text):
        if tool not in TOOLS:
            left_out.append(tool)
            continue
        design, found = calibrate(design, output, tool, name, group)
        fitted.append(found)
    if not fitted:
        raise ExchangeError(
            f"nothing to fit in {', '.join(left_out)}", remedy="measure where nccl-tests, nvbandwidth or fio is in PATH"
        )
    return Calibrated(design, tuple(fitted), tuple(left_out))


def _nccl(design: Design, text: str, key: str, group: str) -> tuple[Design, Fitted]:
    kind = nccl_tests.collective(text)
    rows = [(size, bus) for size, bus in nccl_tests.bus_bandwidths(text) if size >= LARGE_MESSAGE and bus > 0]
    if not rows:
        raise ExchangeError("no rows of 64 MiB and more", remedy="run nccl-tests with -e 1G and give its whole output")
    ratios: list[float] = []
    spans = False
    for size, measured in rows:
        settings = {"collective": kind, "group": group, "size": f"{size} B"}
        result = _answer(design, "collective", settings)
        ratios.append(measured / result.metrics["bus_bandwidth"].value)
        spans = spans or any(flow.via and "network" in _domains(design, flow.via) for flow in result.flows[:64])
    factor = math.exp(sum(map(math.log, ratios)) / len(ratios))
    domain = "network" if spans else "accelerator"
    changed = _derated(design, "collective", factor, key, lambda k: _domain(k) == domain)
    top = max(bus for _, bus in rows)
    return changed, Fitted(f"collectives over {domain} links", top, top / factor, len(rows))


def _nvbandwidth(design: Design, text: str, key: str, group: str) -> tuple[Design, Fitted]:
    which, rates = _copies(text)
    measured, settings = median(rates), _copied(design, which, group)
    predicted = _answer(design, "transfer", settings).metrics["data_rate_per_gpu"].value
    domain, protocol = ("host", "copy") if which == "host" else ("accelerator", "p2p")
    changed = _derated(design, protocol, measured / predicted, key, lambda k: _domain(k) == domain)
    return changed, Fitted(f"{protocol} over {domain} links", measured, predicted, len(rates))


def _copies(text: str) -> tuple[str, list[float]]:
    """Whether nvbandwidth copied from the host or between peers, and the rates [B/s]."""
    found: dict[str, list[float]] = {"host": [], "peer": []}
    for heading, body in _MATRIX.findall(text + "\n\n"):
        numbers = [float(v) for row in body.splitlines()[1:] for v in row.split()[1:] if re.fullmatch(r"[\d.]+", v)]
        found["host" if "CPU" in heading else "peer"] += [v * 1e9 for v in numbers if v > 0]
    which = "host" if found["host"] else "peer"
    if not found[which]:
        raise ExchangeError("no bandwidth matrix", remedy="give the whole output of nvbandwidth")
    return which, found[which]


def _copied(design: Design, which: str, group: str) -> dict[str, str]:
    """Settings of the transfer that nvbandwidth makes."""
    if which == "host":
        return {"from": "memory", "to": _first(design, Capability.ACCELERATE)}
    return {"from": group, "to": group, "pairing": "shift"}


class _Run(NamedTuple):
    """What a run of fio says of drives: the field it fits, its value, and how many jobs there were."""

    field: str
    value: float
    jobs: int


#: requests from this size on are streams [B]
_STREAMS: Final = 64 * 1024
_SIZE: Final = re.compile(r"(\d+)\s*([kmg]?)", re.IGNORECASE)
#: fields that are no rates: their dimension, and the unit they are stated in
_DIMENSIONS: Final = {
    "access_latency": ("duration", 1e-6, "us"),
    "random_read_rate": ("frequency", 1.0, "IOPS"),
    "random_write_rate": ("frequency", 1.0, "IOPS"),
}


def _fio(design: Design, text: str, key: str, _group: str) -> tuple[Design, Fitted]:
    """Streams fit the bandwidth of drives, single small requests their latency, many of them their operations."""
    try:
        ways = _fio_jobs(text)
        found = [_fio_run(design, way, chosen) for way, chosen in ways.items() if chosen]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ExchangeError("no output of fio", remedy="run fio with --output-format=json") from None
    if not found:
        raise ExchangeError("fio read nothing", remedy="run a job that reads")
    for field, value, count in found[1:]:
        design, _ = _valued(design, "drive", field, value, key, count)
    return _valued(design, "drive", *found[0][:2], key, found[0].jobs)


def _fio_jobs(text: str) -> dict[str, list[Mapping[str, Any]]]:
    """Jobs that moved something, by what they did."""
    report = json.loads(text[text.index("{") :])
    jobs = [{**report.get("global options", {}), **job.get("job options", {}), **job} for job in report["jobs"]]
    return {way: [j for j in jobs if j.get(way, {}).get("bw_bytes")] for way in ("read", "write")}


def _fio_run(design: Design, way: str, jobs: Sequence[Mapping[str, Any]]) -> _Run:
    """What jobs of one size and depth fit.

    Notes
    -----
    The time of one request is its latency and its bytes at the rate of the drive. Through a file system requests reach
    a share of the operations of a data sheet, which is put back here: fio counts those that were reached.
    """
    kinds = {(_request(job), _in_flight(job)) for job in jobs}
    if len(kinds) > 1:
        raise ExchangeError(
            "fio ran jobs of several sizes or depths", remedy="give the output of one of them at a time"
        )
    ((size, in_flight),) = kinds
    rates = [float(job[way]["bw_bytes"]) for job in jobs]
    if not all(0 < rate < math.inf for rate in rates):
        raise ValueError
    if size == 0 or size >= _STREAMS:
        return _Run(f"{way}_bandwidth", sum(rates) / len(rates), len(rates))
    if in_flight * len(jobs) > 1:
        return _Run(f"random_{way}_rate", sum(rates) / size / FILE_SHARE.value, len(rates))
    stated = (design.quantity(drive, f"{way}_bandwidth") for drive in _drives(design))
    known = next((quantity.si("rate") for quantity in stated if quantity is not None), math.inf)
    return _Run("access_latency", max(0.0, size / rates[0] - size / known), 1)


def _drives(block: Block) -> Iterator[Part]:
    yield from (part for part in block.parts.values() if part.kind == "drive")
    for group in block.groups.values():
        yield from _drives(group.content)


def _request(job: Mapping[str, Any]) -> int:
    """Bytes of a request; 0 where fio does not say."""
    found = _SIZE.match(str(job.get("bs", "")))
    return int(found[1]) * 1024 ** "_kmg".index(found[2].lower() or "_") if found else 0


def _in_flight(job: Mapping[str, Any]) -> int:
    return int(job.get("iodepth", 1)) * (int(job.get("numjobs", 1)) if "group_reporting" in job else 1)


def _mlperf(design: Design, text: str, key: str, _group: str) -> tuple[Design, Fitted]:
    try:
        metric = json.loads(text)["metric"]
        rate = float(metric["train_io_mean_MB_per_second"]) * 1e6
        hosts = int(json.loads(text).get("num_hosts", 1))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ExchangeError("no summary of MLPerf Storage", remedy="give its summary.json") from None
    if not 0 < rate < math.inf or hosts < 1:
        raise ExchangeError("MLPerf Storage read nothing", remedy="give the summary of a whole run")
    return _valued(design, "storage", "client_read_bandwidth", rate / hosts, key, 1)


TOOLS: Final[Mapping[str, Callable[[Design, str, str, str], tuple[Design, Fitted]]]] = {
    "nccl-tests": _nccl,
    "nvbandwidth": _nvbandwidth,
    "fio": _fio,
    "mlperf-storage": _mlperf,
}


def measured_cases(design: Design, text: str, tool: str, name: str, stated: str, group: str) -> list[dict[str, Any]]:
    """What tools measured, as cases that ``designer validate`` predicts.

    Parameters
    ----------
    name
        Of the output, which becomes source and group of the cases.
    stated
        Template or file of the design that was measured.

    Raises
    ------
    ExchangeError
        If no output says anything that a workload predicts.
    """
    outputs = sections(text) if tool == MEASURED else (Section(tool, text),)
    found = [case for one in outputs if one.tool in _CASES for case in _CASES[one.tool](design, one.text, group)]
    if not found:
        raise ExchangeError(
            f"{tool} gives no case", remedy=f"give the output of {', '.join(_CASES)}, or a file of them"
        )
    when = next((f", {line[1:].strip()}" for line in text.splitlines() if line.startswith("# measured")), "")
    given = {"group": name, "source": f"{name}{when}", "design": stated}
    return [{"id": f"{case['workload']['kind']}-{at}", **given, **case} for at, case in enumerate(found, 1)]


def _case(kind: str, settings: Mapping[str, Any], metric: str, value: float) -> dict[str, Any]:
    return {"workload": {"kind": kind, "settings": dict(settings)}, "metric": metric, "value": value}


def _nccl_cases(_design: Design, text: str, group: str) -> list[dict[str, Any]]:
    settings = {"collective": nccl_tests.collective(text), "group": group}
    rows = [(size, bus) for size, bus in nccl_tests.bus_bandwidths(text) if bus > 0]
    return [_case("collective", {**settings, "size": f"{size} B"}, "bus_bandwidth", bus) for size, bus in rows]


def _copy_cases(design: Design, text: str, group: str) -> list[dict[str, Any]]:
    which, rates = _copies(text)
    return [_case("transfer", _copied(design, which, group), "data_rate_per_gpu", median(rates))]


def _fio_cases(design: Design, text: str, _group: str) -> list[dict[str, Any]]:
    """Reads of one drive into the memory of one socket."""
    drive, memory = _first(design, Capability.STORE), _first(design, Capability.MEMORY)
    found: list[dict[str, Any]] = []
    for job in _fio_jobs(text)["read"]:
        depth = {"queue_depth": int(job.get("iodepth", 1)), "threads": int(job.get("numjobs", 1))}
        size = {"io_size": f"{_request(job)} B", **depth} if _request(job) else {}
        found.append(_case("transfer", {"from": drive, "to": memory, **size}, "rate", float(job["read"]["bw_bytes"])))
    return found


def _product_cases(_design: Design, text: str, group: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for rows, columns, inner, precision, time in (line.split() for line in text.splitlines() if line.strip()):
        shape = {"m": int(rows), "n": int(columns), "k": int(inner), "precision": precision, "group": group}
        found.append(_case("product", shape, "product_time", float(time)))
    return found


_CASES: Final[Mapping[str, Callable[[Design, str, str], list[dict[str, Any]]]]] = {
    "nccl-tests": _nccl_cases,
    "nvbandwidth": _copy_cases,
    "fio": _fio_cases,
    "products": _product_cases,
}


def _answer(design: Design, kind: str, settings: Mapping[str, Any]) -> Any:
    spec = WorkloadSpec(id="calibration", kind=kind, settings=settings)
    asked = with_changes(design, workloads=[spec], default_workload="", assertions=[])
    return analyze(asked, curves=False).workloads[0]


def _domain(kind: str) -> str:
    known = link_kinds().get(kind)
    return str(known.domain) if known is not None else ""


def _domains(design: Design, via: Sequence[str]) -> set[str]:
    wirings = {w.id: w.kind for w in design.wirings.values()} | {x.id: x.kind for x in design.links.values()}
    ids = {channel.rsplit(":", 1)[0].split("[")[0].rsplit("/", 1)[-1] for channel in via}
    return {_domain(wirings[i]) for i in ids if i in wirings}


def _first(design: Design, capability: Capability) -> str:
    def look(block: Block, prefix: str) -> str:
        for part in block.parts.values():
            if capability in part_kinds()[part.kind].capabilities:
                return prefix + part.id
        for group in block.groups.values():
            found = look(group.content, f"{prefix}{group.id}[0]/")
            if found:
                return found
        return ""

    return look(design, "") or "gpus"


def _derated(design: Design, what: str, factor: float, key: str, chosen: Callable[[str], bool]) -> Design:
    touched = 0
    name = f"derating.{what}"

    def link(one: LinkValues) -> LinkValues:
        nonlocal touched
        if not chosen(one.kind):
            return one
        touched += 1
        old = float(one.attributes.get(name, "1").split()[0])
        return with_changes(one, attributes={**one.attributes, name: f"{old * factor:.4f} {key}"})

    changed = _everywhere(design, link, lambda part: part)
    if not touched:
        raise ExchangeError(
            f"the design has no links for {what}", remedy="calibrate the design of the machine measured"
        )
    return cast("Design", changed)


def _valued(design: Design, kind: str, name: str, value: float, key: str, points: int) -> tuple[Design, Fitted]:
    before: list[float] = []
    dimension, scale, unit = _DIMENSIONS.get(name, ("rate", 1e9, "GB/s"))

    def part(one: Part) -> Part:
        if one.kind != kind:
            return one
        known = design.quantity(one, name)
        before.append(known.si(dimension) if known is not None else value)
        quantity = Quantity(value=f"{value / scale:.10g} {unit}", source=key, status=Status.PRIMARY)
        return with_changes(one, overrides={**one.overrides, name: quantity})

    changed = _everywhere(design, lambda link: link, part)
    if not before:
        raise ExchangeError(f"the design has no {kind}", remedy="calibrate the design of the machine measured")
    return cast("Design", changed), Fitted(f"{name} of every {kind}", value, before[0], points)


def _everywhere(block: Block, link: Callable[[Any], Any], part: Callable[[Part], Part]) -> Block:
    def group(one: Group) -> Group:
        inside = {index: _everywhere(b, link, part) for index, b in one.exceptions.items()}
        return with_changes(one, content=_everywhere(one.content, link, part), exceptions=inside)

    return with_changes(
        block,
        parts=[part(p) for p in block.parts.values()],
        links=[link(x) for x in block.links.values()],
        wirings=[link(w) for w in block.wirings.values()],
        groups=[group(g) for g in block.groups.values()],
    )


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

"""Acceptance of a cluster: stages of tests for every node, rail and group of nodes, and what a folder of results means.

Short tests come first, so that a fault is found before the long ones: devices of each node, links inside it, rails from
each node to the next, storage, then collectives over more and more nodes, a long load, and last the models that are
served. Nodes equal to the first have its promises.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from designer import atomic
from designer.analysis.study import run_workload
from designer.catalog.parttype import Capability
from designer.decisions.acceptance import LARGE, Expected, Judged, Machine, Promises, Trial, sheet
from designer.decisions.acceptance_causes import explain
from designer.decisions.acceptance_results import read, served_rate
from designer.design.document import Design, WorkloadSpec
from designer.design.naming import homes, node_names
from designer.errors import AnalysisError, DesignerError, FormatError
from designer.workload.kind import read_settings, workload_kinds

#: stages by number: name of their folder, what they test, and the sorts of trials in them
STAGES: Final[Mapping[int, tuple[str, str, tuple[str, ...]]]] = {
    1: ("devices", "memory of GPUs and their way to the host, each node by itself", ("h2d", "d2h", "hbm")),
    2: ("inside", "links between the GPUs of a node", ("d2d", "h2d_all", "all_reduce", "all_gather", "alltoall")),
    3: ("rails", "each NIC of a node to the same NIC of the next", ("ib",)),
    4: ("storage", "drives of a node and the storage systems", ("fio", "store")),
    5: ("groups", "all-reduce over two, four and more nodes", ("all_reduce_net",)),
    6: ("long", "arithmetic of all GPUs under load", ("gemm",)),
    7: ("serving", "served models under full load, with the benchmark of their engine", ("serve",)),
}
#: groups of nodes grow by this factor
_GROWTH: Final = 2
#: larger files hold no output of a test [B], and more files no results of one acceptance
_LARGEST: Final = 64_000_000
_FILES_LIMIT: Final = 200_000
#: messages of the collective over a group [B]
_MESSAGE: Final = LARGE
#: a benchmark of a served model takes about so long [s], and sends so many requests at least
_SERVED_FOR: Final = 120.0
_REQUESTS: Final = 200
_GROUP: Final = re.compile(r"(\d+)-nodes\Z")
PAIR: Final = "+"
#: a served model below this share of its promise runs with fewer replicas, or is sent to fewer
_FEW_REPLICAS: Final = 0.6


class Cluster:
    """Nodes with accelerators, by the names that exports give them."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.machine = Machine(design)
        network = self.machine.network
        home = homes(network.net)
        gpus = [n for n in range(network.net.n_parts) if network.has(Capability.ACCELERATE)[n]]
        by_node: dict[int, list[int]] = defaultdict(list)
        for gpu in gpus:
            by_node[home[gpu]].append(gpu)
        called = node_names(network.net, tuple(by_node))
        self.nodes: tuple[str, ...] = tuple(called[n] for n in by_node)
        self.gpus: dict[str, tuple[str, ...]] = {
            called[n]: tuple(network.net.path(g) for g in own) for n, own in by_node.items()
        }

    @cached_property
    def promises(self) -> Promises:
        """What the first node promises."""
        return Promises(self.machine)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Groups of nodes for collectives: two, four and so on, and all."""
        found: list[int] = []
        n = _GROWTH
        while n < len(self.nodes):
            found.append(n)
            n *= _GROWTH
        return (*found, len(self.nodes)) if len(self.nodes) > 1 else ()

    def trials(self, stage: int) -> list[Trial]:
        """The trials of a node in a stage."""
        sorts = STAGES[stage][2]
        return [t for t in sheet(self.machine) if t.sort in sorts]

    @cached_property
    def served(self) -> Mapping[str, Expected]:
        """What each served model promises: requests a second, by workload; those of fixed lengths alone.

        A rate in the design is a load it has to bear: the test sends without a pause and expects the most it can
        answer. Clients send as many requests at once as they are, and expect the rate of the workload.
        """
        found: dict[str, Expected] = {}
        for spec in self.design.workloads.values():
            if spec.kind != "serving":
                continue
            settings = read_settings(workload_kinds()["serving"], spec.settings, f"workloads.{spec.id}")
            if settings["load"] not in ("rate", "clients") or settings["lengths"]:
                continue
            try:
                result = run_workload(self.machine.network, spec, True, None, None, explained=False)[0]
            except AnalysisError:
                continue
            closed = settings["load"] == "clients"
            rate = result.metrics.get("requests_per_second" if closed else "most_requests_per_second")
            if result.unfit is None and rate is not None and rate.value > 0:
                count = max(_REQUESTS, math.ceil(rate.value * _SERVED_FOR / 100) * 100)
                tool, command = _benchmark(settings, count, int(settings["clients"]) if closed else 0)
                ends = (self.machine.gpus[0], self.machine.gpus[-1])
                found[spec.id] = Expected(Trial("serve", ends, tool, command), rate, frozenset())
        return found

    def group(self, nodes: int) -> Expected | None:
        """What an all-reduce over the first nodes promises; None where the drawing promises nothing."""
        if nodes not in self._groups:
            self._groups[nodes] = self._group(nodes)
        return self._groups[nodes]

    @cached_property
    def _groups(self) -> dict[int, Expected | None]:
        return {}

    def _group(self, nodes: int) -> Expected | None:
        chosen = [gpu for node in self.nodes[:nodes] for gpu in self.gpus[node]]
        group = "gpus" if nodes == len(self.nodes) else ",".join(chosen)
        settings = {"collective": "all-reduce", "group": group, "size": f"{_MESSAGE} B"}
        spec = WorkloadSpec(id="acceptance", kind="collective", settings=settings)
        each = len(self.gpus[self.nodes[0]])
        command = f"mpirun -np {nodes} -H [nodes] all_reduce_perf -b {_MESSAGE} -e {_MESSAGE} -g {each} -n 20"
        trial = Trial("all_reduce_net", (chosen[0], chosen[-1]), "nccl-tests", command, _MESSAGE)
        try:
            result = run_workload(self.machine.network, spec, False, None, None, explained=False)[0]
        except AnalysisError:
            return None
        return Expected(trial, result.metrics["bus_bandwidth"], frozenset())


@dataclass(frozen=True, slots=True)
class Outcome:
    """One result of a stage.

    Parameters
    ----------
    place
        A node, two nodes joined by ``+``, or ``8-nodes``.
    cause
        What explains it best where it failed.
    """

    stage: int
    place: str
    judged: Judged
    file: str
    cause: str = ""

    @property
    def passed(self) -> bool:
        """True if it is not below its limit."""
        return self.judged.passed


@dataclass(frozen=True, slots=True)
class Verdict:
    """All results of a folder, what could not be read, and what was not tested."""

    outcomes: tuple[Outcome, ...]
    unread: tuple[str, ...]
    untested: tuple[str, ...]

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """Results below their limits."""
        return tuple(o for o in self.outcomes if not o.passed)


def judge(cluster: Cluster, folder: Path, stages: Sequence[int] = tuple(STAGES)) -> Verdict:
    """What the results in a folder mean: ``<stage>/<place>/<test>.txt`` as the scripts write them.

    Raises
    ------
    FormatError
        If the folder cannot be read, or nothing in it is a result.
    """
    outcomes: list[Outcome] = []
    unread: list[str] = []
    untested: list[str] = []
    for stage in stages:
        name = STAGES[stage][0]
        seen: set[str] = set()
        for place, file in _files(folder / name):
            try:
                own = _judged(cluster, stage, place, file)
            except DesignerError as error:
                unread.append(f"{file.relative_to(folder)}: {error.text}")
                continue
            outcomes += own
            seen.update(place.split(PAIR) if own else ())
        if name == "serving" and seen:
            untested += [f"{name}: {workload}" for workload in cluster.served if workload not in seen]
        if stage in (1, 2, 3) and seen:
            untested += [f"{name}: {node}" for node in cluster.nodes if node not in seen]
    if not outcomes:
        raise FormatError(
            "there are no results in it",
            file=str(folder),
            remedy="run the scripts that --scripts writes, and name results",
        )
    return Verdict(tuple(_explained(cluster, outcomes)), tuple(unread), tuple(untested))


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Places and result files below the folder of a stage."""
    if not folder.is_dir():
        return
    for n, path in enumerate(sorted(folder.glob("*/*.txt"))):
        if n >= _FILES_LIMIT:
            raise FormatError(
                f"more than {_FILES_LIMIT:,} files", file=str(folder), remedy="give the results of one run"
            )
        yield path.parent.name, path


def _judged(cluster: Cluster, stage: int, place: str, file: Path) -> list[Outcome]:
    text = _text(file)
    if STAGES[stage][0] == "serving":
        rate = served_rate(text, file.name)
        promise = cluster.served.get(place)
        return [Outcome(stage, place, Judged(promise, rate), str(file))] if promise is not None else []
    group = _GROUP.match(place)
    readings = read(text, cluster.machine, file.name)
    if group:
        promised = cluster.group(int(group[1])) if 1 < int(group[1]) <= len(cluster.nodes) else None
        large = [r for r in readings if r.trial.size == _MESSAGE]
        best = max((r.value for r in large), default=None)
        return [Outcome(stage, place, Judged(promised, best), str(file))] if promised and best else []
    unknown = [node for node in place.split(PAIR) if node not in cluster.gpus]
    if unknown:
        raise FormatError(f"{unknown[0]!r} is no node of the design", remedy="name folders as hosts.txt does")
    found: dict[str, Outcome] = {}
    for reading in readings:
        promised = cluster.promises.of(reading.trial)
        if promised is None or reading.trial.sort not in STAGES[stage][2]:
            continue
        judged = Judged(promised, reading.value)
        known = found.get(reading.trial.id)
        # of repeated runs the best counts
        if known is None or judged.measured > known.judged.measured:
            found[reading.trial.id] = Outcome(stage, place, judged, str(file))
    return list(found.values())


def _text(file: Path) -> str:
    try:
        return atomic.read(file, _LARGEST).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read: {error}", file=str(file), remedy="check the file") from None


def _explained(cluster: Cluster, outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
    causes = [
        *_of_nodes(cluster, outcomes),
        *_of_rails(cluster, outcomes),
        *_of_groups(cluster, outcomes),
        *_of_served(outcomes),
    ]
    by_id = {id(outcome): text for outcome, text in causes}
    for o in outcomes:
        yield Outcome(o.stage, o.place, o.judged, o.file, by_id.get(id(o), "")) if not o.passed else o


def _of_nodes(cluster: Cluster, outcomes: Sequence[Outcome]) -> Iterator[tuple[Outcome, str]]:
    """The likeliest fault of each node with failures, by all its results."""
    by_node: dict[str, list[Outcome]] = defaultdict(list)
    for o in outcomes:
        if o.place in cluster.gpus:
            by_node[o.place].append(o)
    for node, own in by_node.items():
        failed = [o for o in own if not o.passed]
        if not failed:
            continue
        cause = next((c for c in explain(cluster.machine, [o.judged for o in own]) if not c.sound), None)
        if cause is None:
            continue
        text = _here(cluster, node, f"{cause.faults[0].title} ({cause.probability:.0%}): {cause.faults[0].remedy}")
        yield from ((o, text) for o in failed)


def _here(cluster: Cluster, node: str, text: str) -> str:
    """A text about the first node, about another one."""
    first = cluster.machine.gpus[0].rpartition("/")[0]
    return text.replace(f"{first}/", f"{node} ") if first else f"{node}: {text}"


def _of_rails(cluster: Cluster, outcomes: Sequence[Outcome]) -> Iterator[tuple[Outcome, str]]:
    """A NIC that fails with both neighbours is at fault itself; a rail that fails everywhere its switch."""
    rails: dict[str, list[Outcome]] = defaultdict(list)
    for o in outcomes:
        if PAIR in o.place:
            rails[_device(cluster, o)].append(o)
    for device, own in rails.items():
        failed = [o for o in own if not o.passed]
        ends: dict[str, int] = defaultdict(int)
        tested: dict[str, int] = defaultdict(int)
        for o in own:
            for node in o.place.split(PAIR):
                tested[node] += 1
                ends[node] += not o.passed
        guilty = {n for n, count in ends.items() if count == tested[n] and count > 1}
        for o in failed:
            here = [n for n in o.place.split(PAIR) if n in guilty]
            if len(failed) == len(own) and len(own) > 1:
                text = f"all pairs of {device} are slow: see its leaf switch and the firmware of all {device}"
            elif here:
                text = f"{device} of {here[0]} is slow to all it was tested with: its cable, transceiver or port"
            else:
                text = f"{device} between {o.place.replace(PAIR, ' and ')}: cable, transceiver or port at either end"
            yield o, text


def _device(cluster: Cluster, outcome: Outcome) -> str:
    """What a host calls the NIC that a result is about."""
    return device_name(cluster.machine, outcome.judged.expected.trial.parts[0])


def device_name(machine: Machine, path: str) -> str:
    """The name of a NIC in its host: as a dump had it, else its id."""
    part = machine.network.net.part(machine.network.net.index_of(path))
    return part.attributes.get("vendor_name", "") or part.id


def _of_groups(cluster: Cluster, outcomes: Sequence[Outcome]) -> Iterator[tuple[Outcome, str]]:
    """Where a collective first falls short as groups grow."""
    groups = sorted((o for o in outcomes if _GROUP.match(o.place)), key=_size)
    sound = [o for o in outcomes if o.stage < min((g.stage for g in groups), default=0)]
    before = 0
    for o in groups:
        if not o.passed:
            added = cluster.nodes[before] if before < len(cluster.nodes) else ""
            if any(not s.passed for s in sound):
                text = "faults of earlier stages come first"
            elif before:
                text = (
                    f"nodes from {added} on, or the cables above their leaf switches: {before} nodes reach their limit"
                )
            else:
                text = "the path between the first nodes: GPUDirect RDMA, routes and settings of the collective library"
            yield o, text
        else:
            before = _size(o)


def _of_served(outcomes: Sequence[Outcome]) -> Iterator[tuple[Outcome, str]]:
    """Served models that are slow: faults of the machine come before those of the engine."""
    sound = [o for o in outcomes if STAGES[o.stage][0] != "serving"]
    for o in outcomes:
        if STAGES[o.stage][0] != "serving" or o.passed:
            continue
        if any(not s.passed for s in sound):
            yield o, "faults of earlier stages come first"
        elif o.judged.share < _FEW_REPLICAS:
            yield o, "replicas that do not answer, or a router that sends to some alone: compare their request counts"
        else:
            text = "settings of the engine: see its release, number format, and batch limits in the launch line"
            yield o, f"{text} of designer export --format launch"


def _benchmark(settings: Mapping[str, Any], count: int, clients: int) -> tuple[str, str]:
    """The tool and the command that load a served model, with URL and MODEL for the shell.

    Sources: vLLM documentation, ``vllm bench serve``; SGLang documentation, ``sglang.bench_serving``.
    """
    lengths = f"--random-input-len {int(settings['prompt'])} --random-output-len {int(settings['output'])}"
    load = f"--request-rate inf --num-prompts {count}"
    if clients:
        load += f" --max-concurrency {clients}"
    common = f'--base-url "$URL" --model "$MODEL" --dataset-name random {lengths}'
    if settings["engine"] == "sglang":
        tool = "python3 -m sglang.bench_serving"
        return "sglang.bench_serving", f"{tool} --backend sglang {common} --random-range-ratio 1 {load}"
    return "vllm bench serve", f"vllm bench serve --backend openai {common} --ignore-eos {load}"


def _size(outcome: Outcome) -> int:
    found = _GROUP.match(outcome.place)
    return int(found[1]) if found else 0

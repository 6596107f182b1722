"""Acceptance of a built machine: which tests to run with which command, what to expect, and what results mean.

A test asks for one rate that the drawing promises with a band. A result passes if it is not below the one-sided 97.5 %
limit: the end of the 80 % band, moved out as far as a normal spread of logarithms asks. What passes by far is stated
too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from designer.analysis.study import run_workload
from designer.catalog.parttype import Capability
from designer.design.document import Design, WorkloadSpec
from designer.design.selectors import natural_key
from designer.engine.accelerators import accelerator_of, number
from designer.engine.network import Network, build_network
from designer.engine.network.capacities import HOST, NETWORK
from designer.engine.results import ChannelLoads, WorkloadResult
from designer.errors import AnalysisError, DesignerError
from designer.formulas.calibration import generation, share
from designer.formulas.compute.roofline import MEMORY_SHARE
from designer.sources import Estimate
from designer.workload.nccl_tests import COLLECTIVES

#: normal quantiles: the ends of an 80 % band, and the one-sided 97.5 % limit
BAND_QUANTILE: Final = 1.2816
LIMIT_QUANTILE: Final = 1.9600
#: large messages, which measure bandwidth
LARGE: Final = 1 << 30
#: smaller ones, at which the algorithms of an all-reduce differ most
SMALLER: Final = (1 << 20, 1 << 24)
_COLLECTIVES: Final = {**COLLECTIVES, "all_reduce_net": "all-reduce", "alltoall_net": "all-to-all"}
#: promises whose logarithms are this close are the same
_EQUAL: Final = 0.05
#: collectives between two hosts
TWO_HOSTS: Final = ("all_reduce_net", "alltoall_net")
#: storage systems that are tested
STORES_LIMIT: Final = 4
#: collectives of the sheet
_SHEET: Final = ("all_reduce", "all_gather", "alltoall")


@dataclass(frozen=True, slots=True)
class Trial:
    """One number to measure.

    Parameters
    ----------
    sort
        What is measured in the same way: ``h2d``, ``d2h``, ``d2d``, ``h2d_all`` (all at once), ``fio``, ``store``,
        ``ib``,
        ``gemm``, ``hbm`` or the name of a collective, with ``_net`` behind it between two hosts.
    parts
        What it is about: the accelerators, drives or NICs.
    size
        Message of a collective [B].
    """

    sort: str
    parts: tuple[str, ...]
    tool: str
    command: str
    size: int = 0

    @property
    def id(self) -> str:
        """Its name in results."""
        about = self.parts[0] if len(self.parts) == 1 else f"{self.parts[0]},{self.parts[-1]}"
        size = f"@{self.size}" if self.size else ""
        return f"{self.sort}:{about}{size}"


@dataclass(frozen=True, slots=True)
class Expected:
    """A trial with what the drawing promises, and the links its traffic takes where that was asked for."""

    trial: Trial
    estimate: Estimate
    links: frozenset[str]

    @property
    def limit(self) -> float:
        """The one-sided 97.5 % limit: what is below it is not normal."""
        return limit_of(self.estimate)


@dataclass(frozen=True, slots=True)
class Judged:
    """A result next to what was expected."""

    expected: Expected
    measured: float

    @property
    def passed(self) -> bool:
        """True if it is not below the limit."""
        return self.measured >= self.expected.limit

    @property
    def share(self) -> float:
        """Measured over expected."""
        return self.measured / self.expected.estimate.value


def limit_of(estimate: Estimate) -> float:
    """The one-sided 97.5 % limit of an estimate: logarithms spread normally, 10 % lie below the low end of its band."""
    if not 0 < estimate.low < estimate.value:
        return max(estimate.low, 0.0) if estimate.low < estimate.value else estimate.value
    return estimate.value * (estimate.low / estimate.value) ** (LIMIT_QUANTILE / BAND_QUANTILE)


class Machine:
    """The first machine of a design that has accelerators, and the next one next to it."""

    def __init__(self, design: Design) -> None:
        self.design, self.network = design, build_network(design)
        network = self.network
        gpus = np.flatnonzero(network.has(Capability.ACCELERATE))
        if not len(gpus):
            raise AnalysisError("the design has no accelerators to test", remedy="choose a design with GPUs")
        islands = list(dict.fromkeys(network.island[gpus].tolist()))
        self.islands: tuple[int, ...] = tuple(islands[:2])
        self.gpus = self._paths(np.isin(np.arange(network.net.n_parts), gpus), 0)
        self.peers = self._paths(np.isin(np.arange(network.net.n_parts), gpus), 1) if len(islands) > 1 else ()
        self.drives = self._paths(self._of_kind("drive"), 0)
        self.stores = tuple(network.net.path(int(n)) for n in network.parts_of_kind("storage"))[:STORES_LIMIT]
        self.nics = tuple(self._paths(self._cabled(), k) for k in range(len(self.islands)))

    def _paths(self, mask: np.ndarray[tuple[int], np.dtype[np.bool_]], machine: int) -> tuple[str, ...]:
        """In the order in which a machine numbers its devices: tools name them by that number."""
        here = mask & (self.network.island == self.islands[machine])
        return tuple(sorted((self.network.net.path(int(n)) for n in np.flatnonzero(here)), key=natural_key))

    def _of_kind(self, name: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        mask = np.zeros(self.network.net.n_parts, dtype=bool)
        mask[self.network.parts_of_kind(name)] = True
        return mask

    def _cabled(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """NICs that a network cable is in."""
        net = self.network.net
        cables = self.network.domain == NETWORK
        mask = np.zeros(net.n_parts, dtype=bool)
        mask[net.link_a[cables]] = mask[net.link_b[cables]] = True
        return mask & self._of_kind("nic")

    def memory_near(self, gpu: str) -> str:
        """The memories of the machine, of which the nearest serves."""
        here = self._of_kind("memory") & (self.network.island == self.islands[0])
        del gpu
        return ",".join(self.network.net.path(int(n)) for n in np.flatnonzero(here))


def sheet(machine: Machine) -> list[Trial]:
    """The trials of a machine: its accelerators one by one and in pairs, drives, rails, and collectives."""
    gpus = machine.gpus
    found: list[Trial] = []
    n = len(gpus)
    for k, gpu in enumerate(gpus):
        found.append(Trial("gemm", (gpu,), "gpu-burn", f"gpu_burn -tc -i {k} 60"))
        found.append(
            Trial("hbm", (gpu,), "BabelStream", f"cuda-stream --device {k} --triad-only --arraysize 268435456")
        )
    for sort, name in (("h2d", "host_to_device_memcpy_ce"), ("d2h", "device_to_host_memcpy_ce")):
        found += [Trial(sort, (gpu,), "nvbandwidth", f"nvbandwidth -t {name}") for gpu in gpus]
    pairs = "nvbandwidth -t device_to_device_memcpy_write_ce"
    found += [Trial("d2d", (a, b), "nvbandwidth", pairs) for a in gpus for b in gpus if a != b]
    if n > 1:
        found.append(Trial("h2d_all", gpus, "nvbandwidth", "nvbandwidth -t host_to_all_memcpy_ce"))
        found += [collective(machine, name, n, LARGE) for name in _SHEET]
        found += [collective(machine, _SHEET[0], n, size) for size in SMALLER]
    for drive in machine.drives:
        name = drive.rpartition("/")[2]
        command = (
            f"fio --name={name} --filename=/dev/{_block_device(name)} --rw=read --bs=1M --direct=1 --ioengine=libaio"
            " --iodepth=32 --numjobs=4 --runtime=60 --time_based --group_reporting"
        )
        found.append(Trial("fio", (drive,), "fio", command))
    for store in machine.stores:
        name = store.rpartition("/")[2]
        command = (
            f"fio --name={name} --directory=/mnt/{name} --size=32G --rw=read --bs=1M --direct=1 --ioengine=libaio"
            " --iodepth=32 --numjobs=16 --runtime=60 --time_based --group_reporting"
        )
        found.append(Trial("store", (store,), "fio", command))
    if machine.peers and len(machine.nics) > 1 and all(machine.nics):
        for name, what in (("all_reduce", "all_reduce_net"), ("alltoall", "alltoall_net")):
            sizes = (LARGE, SMALLER[0]) if name == "all_reduce" else (LARGE,)
            found += [between(machine, name, what, size) for size in sizes]
    if len(machine.nics) > 1:
        for nic, other in zip(*machine.nics, strict=False):
            name = nic.rpartition("/")[2]
            command = f"ib_write_bw -d {name} -q 4 -s 1048576 --report_gbits -D 20 [other host]"
            found.append(Trial("ib", (nic, other), "ib_write_bw", command))
    return found


def _block_device(name: str) -> str:
    """What a drive is read as: an NVMe controller is no block device, its first namespace is."""
    return f"{name}n1" if re.fullmatch(r"nvme\d+", name) else name


def collective(machine: Machine, name: str, ranks: int, size: int) -> Trial:
    """A collective of nccl-tests over so many accelerators of the machine."""
    gpus = machine.gpus[:ranks]
    command = f"{name}_perf -b {size} -e {size} -g {len(gpus)} -n 20"
    return Trial(name, gpus, "nccl-tests", command, size)


def between(machine: Machine, name: str, sort: str, size: int) -> Trial:
    """A collective of nccl-tests over all accelerators of two hosts."""
    gpus = (*machine.gpus, *machine.peers)
    each = len(machine.gpus)
    command = f"mpirun -np 2 -H [two hosts] {name}_perf -b {size} -e {size} -g {each} -n 20"
    return Trial(sort, gpus, "nccl-tests", command, size)


class Promises:
    """What a design promises for trials; each worked out once, with its links for the design of the machine alone."""

    def __init__(self, machine: Machine, design: Design | None = None, algorithm: str = "auto") -> None:
        self.machine, self.algorithm, self._design = machine, algorithm, design
        self._stated = design is None and algorithm == "auto"
        self._known: dict[str, Expected | None] = {}

    @cached_property
    def network(self) -> Network:
        """The network that the trials run on; none is built where no trial is asked for."""
        return self.machine.network if self._design is None else build_network(self._design)

    def of(self, trial: Trial) -> Expected | None:
        """What to expect; None where the drawing promises nothing, such as a path that is not there."""
        if trial.id not in self._known:
            try:
                self._known[trial.id] = self._expected(trial)
            except DesignerError:
                self._known[trial.id] = None
        return self._known[trial.id]

    def _expected(self, trial: Trial) -> Expected | None:
        if trial.sort == "gemm":
            return self._product(trial)
        if trial.sort == "hbm":
            return self._own_memory(trial)
        if trial.sort in _COLLECTIVES:
            settings = {
                "collective": _COLLECTIVES[trial.sort],
                "group": ",".join(trial.parts),
                "size": f"{trial.size} B",
                "algorithm": self.algorithm if trial.sort in ("all_reduce", "all_reduce_net") else "auto",
            }
            result, loads = self._run("collective", settings)
            links = self._loaded(loads) if self._stated and loads is not None else frozenset[str]()
            return Expected(trial, result.metrics["bus_bandwidth"], links)
        memory = self.machine.memory_near(trial.parts[0])
        ends = {
            "h2d": (memory, trial.parts[0]),
            "d2h": (trial.parts[0], memory),
            "h2d_all": (memory, ",".join(trial.parts)),
            "fio": (trial.parts[0], memory),
            "store": (trial.parts[0], memory),
            "d2d": (trial.parts[0], trial.parts[-1]),
            "ib": (trial.parts[0], trial.parts[-1]),
        }[trial.sort]
        result = self._run("transfer", {"from": ends[0], "to": ends[1]})[0]
        links = (
            frozenset(c.rpartition(":")[0] for flow in result.flows for c in flow.via) if self._stated else frozenset()
        )
        estimate = result.metrics["rate"]
        return Expected(trial, estimate, links) if estimate.value > 0 else None

    def _loaded(self, loads: ChannelLoads) -> frozenset[str]:
        net = self.network.net
        return frozenset(net.link_paths(np.unique(np.flatnonzero(loads.load) >> 1)))

    def _run(self, kind: str, settings: dict[str, str]) -> tuple[WorkloadResult, ChannelLoads | None]:
        spec = WorkloadSpec(id="acceptance", kind=kind, settings=settings)
        return run_workload(self.network, spec, False, None, None, explained=False)

    def _product(self, trial: Trial) -> Expected | None:
        """Matrix products in the format that gpu-burn uses on tensor cores."""
        part = np.array([self.network.net.index_of(trial.parts[0])])
        found = accelerator_of(self.network, part, "acceptance")[0]
        name = next((f for f in ("tf32", "fp32") if found.flops.get(f)), None)
        if name is None:
            return None
        best = share(generation(found.generation).best, name)
        peak = float(found.flops[name])
        estimate = Estimate(peak * best.value, peak * best.low, peak * best.high, "FLOP/s", (best.source,), name)
        return Expected(trial, estimate, frozenset())

    def _own_memory(self, trial: Trial) -> Expected | None:
        """A triad over the memory of an accelerator."""
        peak = number(self.network, self.network.net.index_of(trial.parts[0]), "memory_bandwidth")
        if not peak:
            return None
        c = MEMORY_SHARE
        estimate = Estimate(peak * c.value, peak * c.low, peak * c.high, "B/s", (c.source,), "triad")
        return Expected(trial, estimate, frozenset())


def expected(design: Design, trials: Sequence[Trial] | None = None) -> list[Expected]:
    """The acceptance sheet of a design: trials with what to expect.

    Raises
    ------
    AnalysisError
        If it has no accelerators.
    """
    machine = Machine(design)
    promises = Promises(machine)
    found = (promises.of(trial) for trial in (sheet(machine) if trials is None else trials))
    return [one for one in found if one is not None]


def same_sort(rows: Sequence[Judged]) -> list[list[Judged]]:
    """Results by what is measured in the same way: tests of one sort that the drawing promises the same of."""
    found: dict[tuple[str, int], list[Judged]] = {}
    for row in rows:
        level = round(math.log(row.expected.estimate.value) / _EQUAL)
        found.setdefault((row.expected.trial.sort, level), []).append(row)
    return list(found.values())


def spread_of(estimate: Estimate) -> float:
    """Standard deviation of the logarithm of an estimate, by its 80 % band."""
    if not 0 < estimate.low <= estimate.value <= estimate.high:
        return 0.0
    return math.log(estimate.high / estimate.low) / (2 * BAND_QUANTILE)


def scaled(found: Expected, factor: float) -> Expected:
    """What to expect at a share of the promise."""
    e = found.estimate
    return replace(found, estimate=replace(e, value=e.value * factor, low=e.low * factor, high=e.high * factor))


def host_links(network: Network, part: str) -> list[int]:
    """Host links at a part."""
    net = network.net
    number = net.index_of(part)
    at = (net.link_a == number) | (net.link_b == number)
    return np.flatnonzero(at & (network.domain == HOST) & (net.link_a != net.link_b)).tolist()

"""What a workload still does without some parts or links: the account of a failure that all answers share.

After a failure a workload goes on in the best way that is left. It may use all that still works, or leave out more than
failed: a job whose server lost one NIC runs without that rail everywhere, or without that server, where that is faster.
So the loss of more never costs less than the loss of a part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.simulation.rerouting import where_its_data_is
from designer.analysis.study import run_workload
from designer.catalog.parttype import Capability
from designer.design.address import split_path
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.design.edits.parts import RemoveParts
from designer.engine.account.worth import share_of_work, worth_of
from designer.engine.machines.placement import place_vms
from designer.engine.network import Network, build_network
from designer.engine.results import ChannelLoads, WorkloadResult
from designer.engine.routes.damage import Damage, best_way, damage, idle, remains
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError, DesignerError, NothingNamed
from designer.findings import Severity
from designer.memo import forget
from designer.progress import Cancel, Watch
from designer.workload.kind import task_of
from designer.workload.program.tasks import Collective

Int = npt.NDArray[np.int64]

#: of designs of more parts what holds them back after a failure is not found out
EXPLAINED_LIMIT: Final = 20_000
#: objects that each function keeps answers about between failures of a large design
_KEPT_LIMIT: Final = 1


@dataclass(frozen=True, slots=True, eq=False)
class After:
    """What a failure leaves; of the network it leaves only what is stated, since many failures are kept in mind.

    Parameters
    ----------
    result
        The workload, its rows left out; None where it cannot run, and `why`.
    stranded
        Accelerators that work and are of no use.
    accelerators
        How many the workload still has to choose from.
    ranks
        How many take part in a collective; 0 for other workloads, whose throughput counts them.
    refused
        Machines that have no place.
    broken
        Promises and limits that do not hold.
    """

    result: WorkloadResult | None
    stranded: Int
    why: str
    accelerators: int
    refused: frozenset[str]
    broken: frozenset[str]
    ranks: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """How a workload goes on after a failure.

    Parameters
    ----------
    share
        Of the throughput that is left.
    leaves_out
        Path of what is left out in addition to what failed; empty for nothing.
    """

    after: After
    share: float
    leaves_out: str = ""


#: what people call the parts that a selector of a workload names
_CALLED: Final[Mapping[str, str]] = {
    "gpus": "all GPUs",
    "accelerators": "all accelerators",
    "nics": "all NICs",
    "cpus": "all processors",
    "dpus": "all DPUs",
    "memory": "all memory",
    "storage": "all storage",
    "storage_systems": "all storage systems",
    "drives": "all drives",
    "servers": "all servers",
    "sensors": "all sensors",
    "clients": "all clients",
}


def _failure_reason(error: AnalysisError) -> str:
    """Why a workload that ran before a failure cannot run after it."""
    if not isinstance(error, NothingNamed):
        return error.text
    taken = _CALLED.get(error.selector, f"every part that {error.selector!r} names")
    return f"the failure takes {taken} of the workload"


class Survival:
    """A workload on a network, asked again and again what is left of it without some parts or links.

    Parameters
    ----------
    cancelled
        True to stop.

    Raises
    ------
    AnalysisError
        If the workload cannot run on the whole network.
    Cancelled
        If `cancelled` says so.
    """

    def __init__(self, network: Network, spec: WorkloadSpec, cancelled: Cancel | None = None) -> None:
        self.network, self.spec, self._cancelled = network, spec, cancelled
        self.whole, self.loads = run_workload(network, spec, False, None, cancelled)
        #: true for a large design: what holds it back after a failure is not stated
        self.brief = self.network.net.n_parts > EXPLAINED_LIMIT
        self.metric = worth_of(self.whole)
        self._asked = where_its_data_is(self.network, spec)
        self._known: dict[tuple[object, bytes], After] = {}
        self._best: dict[object, tuple[float, Damage, str]] = {}
        self._ranks = self._taking_part(self.network)

    def answer(self, network: Network) -> tuple[WorkloadResult, ChannelLoads | None]:
        """The workload on a network."""
        Watch(cancelled=self._cancelled).check()
        try:
            return self._run(network, self._asked)
        except AnalysisError:
            if self.spec.kind != "serving" or not self._asked.settings.get("replicas"):
                raise
        # fewer replicas than asked for are left: as many as there is room for
        fewer = self._asked.model_copy(update={"settings": {**self._asked.settings, "replicas": 0}})
        return self._run(network, fewer)

    def _run(self, network: Network, spec: WorkloadSpec) -> tuple[WorkloadResult, ChannelLoads | None]:
        # promises are judged by bands; what is left of the throughput is a ratio of values
        return run_workload(
            network,
            spec,
            False,
            None,
            self._cancelled,
            explained=not self.brief,
            banded=bool(network.design.assertions),
        )

    @cached_property
    def _broken_before(self) -> frozenset[str]:
        return self._limits(self.network, self.whole)

    @cached_property
    def _refused_before(self) -> frozenset[str]:
        return frozenset(place_vms(self.network).refused) if self.network.design.vms else frozenset()

    def after(self, parts: Int, links: Sequence[int] = ()) -> After:
        """What is left without parts and links; what leaves the same behind is worked out once."""
        return self._what_is_left(damage(self.network, parts, links))

    def _what_is_left(self, found: Damage) -> After:
        if not self.network.design.vms and idle(self.network, found, self.loads):
            return self._remember_answer(self.network, self.whole, found.stranded)
        key = (found.key, found.deleted.tobytes() if self.network.design.vms else b"")
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._state_after(found)
            if self.brief:
                # what is known of a large network that a failure left is of no use to the next failure
                forget(_KEPT_LIMIT)
        return replace(known, stranded=found.stranded)

    def share(self, after: After) -> float:
        """What is left of the throughput; of a collective, of what its ranks move together."""
        if after.result is None:
            return 0.0
        return share_of_work(self.whole, after.result, self._ranks, after.ranks)

    def _taking_part(self, network: Network) -> int:
        """Ranks of a collective; 0 for other workloads."""
        place = f"workloads.{self.spec.id}"
        task = task_of(self.spec.kind, self.spec.settings, place, Collective)
        return len(resolve(network, task.group, place)) if task is not None else 0

    def best(self, parts: Int, links: Sequence[int] = ()) -> Way:
        """How the workload goes on without parts and links: as they are, or with more left out where that is better."""
        if self.network.design.vms:
            # machines restart where they find a place, which no job chooses
            own = self.after(parts, links)
            return Way(own, self.share(own))
        share, found, leaves_out = best_way(self.network, parts, links, self._share_left, self._best)
        return Way(self._what_is_left(found), share, leaves_out)

    def _share_left(self, found: Damage) -> float:
        return self.share(self._what_is_left(found))

    def _state_after(self, found: Damage) -> After:
        after = self._network(found)
        try:
            return self._remember_answer(after, self.answer(after)[0], found.stranded)
        except AnalysisError as error:
            why = _failure_reason(error)
        cut = np.setdiff1d(found.stranded, found.parts)
        if len(cut):
            # what is cut off is no longer asked to take part
            try:
                after = remains(self.network, np.union1d(found.parts, cut), found.links)
                return self._remember_answer(after, self.answer(after)[0], found.stranded)
            except AnalysisError as error:
                why = _failure_reason(error)
        return self._remember_answer(after, None, found.stranded, why)

    def _remember_answer(self, network: Network, result: WorkloadResult | None, stranded: Int, why: str = "") -> After:
        """What is kept in mind of an answer."""
        same = network is self.network
        broken: frozenset[str] = frozenset()
        if result is not None:
            broken = self._broken_before if same else self._limits(network, result)
            # rows are read from the network, which would stay with them
            result = replace(result, flows=(), curves={}, tables={})
        refused = (
            frozenset(place_vms(network).refused) if self.network.design.vms and not same else self._refused_before
        )
        ranks = self._taking_part(network) if result is not None and self._ranks else 0
        return After(result, stranded, why, int(network.has(Capability.ACCELERATE).sum()), refused, broken, ranks)

    def _network(self, found: Damage) -> Network:
        if self.network.design.vms and len(found.deleted) and not found.links:
            parent, gone = self.network.net.parent, set(found.deleted.tolist())
            outer = [p for p in found.deleted.tolist() if int(parent[p]) not in gone]
            try:
                return _network_without(self.network, [self.network.net.path(p) for p in outer])
            except DesignerError:
                pass
        return found.after or remains(self.network, found.parts, found.links)

    def _limits(self, network: Network, result: WorkloadResult) -> frozenset[str]:
        """Errors of the answer; classes below add what else must hold."""
        return frozenset(f.code for f in result.findings if f.severity is Severity.ERROR)


def without(design: Design, path: str) -> Design:
    """The design with one part deleted and no assertions; a member of a group becomes an exception of it.

    Raises
    ------
    DesignerError
        If something else in the design needs it.
    """
    within, part = split_path(path)
    bare = with_changes(design, assertions=[]) if design.assertions else design
    return RemoveParts((part,), within=within).apply(bare)


def _network_without(network: Network, paths: Sequence[str]) -> Network:
    """The network of the design with parts deleted from the document, so that its virtual machines let go of them.

    Raises
    ------
    DesignerError
        If something else in the design needs them.
    """
    design = network.design
    for path in paths:
        design = without(design, path)
    return build_network(design)

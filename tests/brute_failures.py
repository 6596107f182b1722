"""Failures the slow way: the part or link deleted from the document, the whole analysed again."""

from __future__ import annotations

import random

import networkx as nx
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from designer.analysis.study import run_workload
from designer.analysis.study.survival import without
from designer.decisions.failures_survey import FEED, LINK, survive
from designer.design.address import split_path
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.design.edits.links import ChangeLinks, RemoveLinks
from designer.engine.account.worth import share_of
from designer.engine.network import Network, build_network
from designer.engine.network.capacities import HOST
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError, DocumentError
from designer.workload.kind import workload_kinds


def without_link(design: Design, path: str) -> Design:
    """The design with one link of a drawn bundle less."""
    within, link_id = split_path(path)
    block = design
    for group, member in within:
        block = block.groups[group].member(member or 0)
    count = block.links[link_id].count
    if count > 1:
        return ChangeLinks((link_id,), {"count": count - 1}, within=within).apply(design)
    return RemoveLinks((link_id,), within=within).apply(design)


def seen(network: Network) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which parts have a way to a processor over host links."""
    net = network.net
    inner = np.flatnonzero(network.domain == HOST)
    ways = coo_array((np.ones(len(inner)), (net.link_a[inner], net.link_b[inner])), (net.n_parts, net.n_parts))
    piece = connected_components(ways, directed=False)[1]
    with_cpu = np.zeros(net.n_parts, dtype=bool)
    with_cpu[piece[network.parts_of_kind("cpu")]] = True
    return with_cpu[piece]


def unseen(whole: Network, left: Network) -> list[str]:
    """Paths of devices that had a way to a processor over host links and have none."""
    before = seen(whole)
    paths = [left.net.path(int(n)) for n in np.flatnonzero(~seen(left))]
    return sorted(path for path in paths if before[whole.net.index_of(path)])


def left_by_deletion(design: Design, workload: str, kind: str, path: str, whole: WorkloadResult) -> float | None:
    """What is left of the throughput; None where the document cannot do without it."""
    bare = with_changes(design, assertions=[])
    try:
        cut = without_link(bare, path) if kind == LINK else without(bare, path)
        for hidden in unseen(build_network(bare), build_network(cut)):
            cut = without(cut, hidden)
    except DocumentError:
        return None
    spec = bare.workloads[workload]
    if spec.kind == "serving":  # loaded before anything failed
        spec = spec.model_copy(update={"settings": {**spec.settings, "storage": ""}})
    elif reads_storage(spec) and _stores(bare) and not _stores(cut):
        return 0.0
    try:
        after = run_workload(build_network(cut), spec, False, banded=False)[0]
    except AnalysisError:
        # the larger of the pieces goes on alone
        for gpu in apart(build_network(cut)):
            cut = without(cut, gpu)
        try:
            after = run_workload(build_network(cut), spec, False, banded=False)[0]
        except AnalysisError:
            return 0.0
    return share_of(whole, after)


def reads_storage(spec: WorkloadSpec) -> bool:
    """Whether the workload names storage, which drives are not once there was a system of it."""
    selectors = (s for s in workload_kinds()[spec.kind].settings if s.dimension == "selector")
    return any("storage" in str(spec.settings.get(s.name, s.default)).split(",") for s in selectors)


def _stores(design: Design) -> bool:
    return bool(build_network(design).parts_of_kind("storage").size)


def apart(network: Network) -> list[str]:
    """Paths of the accelerators that do not hang together with most of the others, GPUs not counting as a way."""
    net, graph = network.net, nx.Graph()
    gpus = set(network.parts_of_kind("gpu").tolist())
    ends = list(zip(net.link_a.tolist(), net.link_b.tolist(), strict=True))
    graph.add_nodes_from(n for n in range(net.n_parts) if n not in gpus)
    graph.add_edges_from((a, b) for a, b in ends if a not in gpus and b not in gpus)
    cpus = set(network.parts_of_kind("cpu").tolist())
    pieces = [one for one in nx.connected_components(graph) if one & cpus]
    near = [{g for a, b in ends for g in (a, b) if g in gpus and ({a, b} - {g}) & one} for one in pieces]
    kept = max(near, key=len, default=gpus)
    return [net.path(g) for g in sorted(gpus - kept)]


def compare(
    design: Design, workload: str, sample: int = 0, seed: int = 0, close: float = 1e-6
) -> tuple[int, list[str]]:
    """How many failures were compared, and those that differ.

    Parameters
    ----------
    sample
        So many classes of failures that are equivalent, drawn at random, and one member of each; 0 for all of all.
    close
        Shares that differ by less are the same.
    """
    network = build_network(design)
    spec = design.workloads[workload]
    whole = run_workload(network, spec, False, banded=False)[0]
    compared, wrong = 0, list[str]()
    draw = random.Random(seed)
    losses = list(survive(design, workload).losses)
    if sample:
        draw.shuffle(losses)
    for loss in losses:
        if loss.kind == FEED:
            continue  # the other feed carries its rack: nothing is deleted
        if sample and compared >= sample:
            break
        members = [draw.choice(loss.members.tolist())] if sample else loss.members.tolist()
        for number in members:
            path = network.net.link_path(number) if loss.kind == LINK else network.net.path(number)
            if loss.kind == LINK and path.endswith("]"):
                continue  # one link of a wiring cannot be deleted from a document
            right = left_by_deletion(design, workload, loss.kind, path, whole)
            if right is None:
                continue
            compared += 1
            # a collective counts the ranks that take part, which a bandwidth of the design without them does not
            lost = (loss.gpus_lost + loss.gpus_stranded) / max(1, len(network.parts_of_kind("gpu")))
            ranks_left = min(1.0, 1 / right) * (1 - lost) if spec.kind == "collective" and right > 0 else 1.0
            # who leaves out more than what failed does so because it costs less than the deletion alone
            low = loss.share + close < right * ranks_left
            if low or (loss.share - right > close and not loss.leaves_out):
                wrong.append(f"{loss.kind} {path}: {loss.share:.6f}, by deletion {right:.6f}")
    return compared, wrong

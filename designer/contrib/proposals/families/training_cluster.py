"""Training clusters: servers of a template, a leaf-spine or rail-optimised fabric, storage or drives that feed them."""

from __future__ import annotations

from typing import Any, Final

from designer.contrib.proposals.families._cluster import (
    ALONE,
    DRIVES,
    cluster,
    networks_for,
    server_of,
    with_settings,
)
from designer.contrib.proposals.family import Asked, Chosen, Family, whole_number
from designer.contrib.proposals.pareto import Choice
from designer.design.document import Design
from designer.errors import FormatError
from designer.families.training.preparation import shape_of
from designer.workload.shape import TransformerShape

_SERVERS: Final = ("dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "mi300x-platform")
_NODES: Final = ("1", "2", "4", "8", "16", "32")
_NETWORKS: Final = (ALONE, "leaf-spine 1:1", "leaf-spine 4:1", "rail-optimized 1:1")
_STORAGE: Final = (DRIVES, "storage/generic/nfs-nconnect", "storage/generic/lustre-ndr")
#: ways to spread a transformer over accelerators, with the settings they mean
_LAYOUTS: Final[dict[str, dict[str, Any]]] = {
    "sharded": {"sharding": "parameters", "recompute": "selective"},
    "tensor 8": {"tensor": 8, "sharding": "optimizer", "recompute": "selective", "sequence_parallel": True},
    "tensor 8, pipeline 4": {
        "tensor": 8,
        "pipeline": 4,
        "sharding": "optimizer",
        "recompute": "selective",
        "sequence_parallel": True,
    },
}
#: added to the name of a layout whose activations are all kept, where memory has room for them: quicker than selective
_KEPT: Final = ", nothing recomputed"
#: a goal that says any of these has its layout
_OWN: Final = frozenset({"tensor", "pipeline", "sharding", "context", "expert"})
_GIVEN: Final = "as given"


def following(asked: Asked, chosen: Chosen) -> Choice | None:
    """Server, how many, network, layout, storage."""
    if "server" not in chosen:
        return asked.choice("server", "Server", _SERVERS)
    if "nodes" not in chosen:
        return asked.choice("nodes", "Servers", _NODES)
    if "network" not in chosen:
        offered = asked.given.get("network") or _NETWORKS
        return Choice("network", "Network", networks_for(whole_number(chosen, "nodes"), offered))
    if "layout" not in chosen:
        return asked.choice("layout", "Layout", _layouts(asked))
    if "storage" not in chosen:
        return asked.choice("storage", "Data from", _STORAGE if asked.goal.settings.get("dataset") else (ALONE,))
    return None


def _layouts(asked: Asked) -> tuple[str, ...]:
    settings = asked.goal.settings
    model = str(settings.get("model", "llama-2-7b"))
    if _OWN & settings.keys() or not isinstance(shape_of(model, "model"), TransformerShape):
        return (_GIVEN,)
    # without a batch of its own a pipeline would have one microbatch to pass on
    names = tuple(_LAYOUTS) if settings.get("global_batch") else ("sharded",)
    kept = () if "recompute" in settings else tuple(name + _KEPT for name in names)
    # what the goal itself says comes first, so that nothing worse than that is proposed
    return (_GIVEN, *kept, *names)


def _settings_of(asked: Asked, layout: str) -> dict[str, Any]:
    """What a layout sets; what the goal itself says stays.

    Raises
    ------
    FormatError
        If there is no such layout.
    """
    if layout == _GIVEN:
        # the other layouts are what else may fit
        return {name: "none" for name in ("sharding", "recompute") if name not in asked.goal.settings}
    settings = _LAYOUTS.get(layout.removesuffix(_KEPT))
    if settings is None:
        remedy = f"use {', '.join((_GIVEN, *_LAYOUTS, *(name + _KEPT for name in _LAYOUTS)))}"
        raise FormatError(f"{layout[:40]!r} is no layout", place="layout", remedy=remedy)
    stated = settings | {"recompute": "none"} if layout.endswith(_KEPT) else settings
    return {name: value for name, value in stated.items() if name not in asked.goal.settings}


def make(asked: Asked, chosen: Chosen) -> Design:
    """The cluster.

    Raises
    ------
    FormatError
        If the choices do not fit each other.
    """
    nodes, layout, storage = whole_number(chosen, "nodes"), chosen["layout"], chosen["storage"]
    settings = _settings_of(asked, layout)
    if asked.goal.settings.get("dataset"):
        settings["source"] = {DRIVES: "drives", ALONE: "memory"}.get(storage, "storage")
    title = f"{nodes} × {chosen['server']}, {chosen['network']}, {storage.rpartition('/')[2]}"
    goal = with_settings(asked.goal, settings)
    return cluster(chosen["server"], nodes, chosen["network"], storage, goal, title)


def server(asked: Asked, name: str) -> Design:
    """One server."""
    del asked
    return server_of(name).design


FAMILY = Family(
    "training-cluster",
    "Servers on a fabric, with storage",
    ("training",),
    following,
    make,
    server,
    ("server", "nodes", "network", "storage", "layout"),
)

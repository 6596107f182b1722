"""Serving clusters: servers of a template that all read prompts and answer, or some of which only read prompts."""

from __future__ import annotations

from dataclasses import replace
from math import floor
from typing import Any, Final

from designer.contrib.proposals.families._cluster import (
    ALONE,
    cluster,
    networks_for,
    server_of,
    with_settings,
)
from designer.contrib.proposals.family import Asked, Chosen, Family, whole_number
from designer.contrib.proposals.pareto import Choice
from designer.design.document import Design
from designer.errors import FormatError

_SERVERS: Final = ("dell-r750xa", "serving-l40s-4", "dell-r760xa", "dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200")
_NODES: Final = ("1", "2", "3", "4", "6", "8", "12", "16")
_TENSOR: Final = ("1", "2", "4", "8")
TOGETHER: Final = "together"
#: a load so low that no request meets another
_SELDOM: Final = "0.0001 1/s"
#: settings with which one server need not be the quickest: accelerators chosen by hand, and prompts found by room
_OWN: Final = ("group", "prompt_group", "reuse", "trace")
#: share of the servers that only read prompts
_SPLITS: Final = {"1:3": 0.25, "1:1": 0.5, "3:1": 0.75}


def following(asked: Asked, chosen: Chosen) -> Choice | None:
    """Server, how many, who reads prompts, network, width of a replica."""
    if "server" not in chosen:
        return asked.choice("server", "Server", _SERVERS)
    if "nodes" not in chosen:
        return asked.choice("nodes", "Servers", _NODES)
    if "split" not in chosen:
        nodes = whole_number(chosen, "nodes")
        usual = asked.given.get("split") or (TOGETHER, *_SPLITS)
        stated = "prompt_group" in asked.goal.settings
        kept = tuple(s for s in usual if s == TOGETHER or (not stated and _prompts(nodes, s)))
        return Choice("split", "Prompts to answers", kept or (TOGETHER,))
    if "network" not in chosen:
        offered = asked.given.get("network") or (ALONE, "leaf-spine 1:1")
        return Choice("network", "Network", networks_for(whole_number(chosen, "nodes"), offered))
    if "tensor" not in chosen:
        usual = (str(asked.goal.settings["tensor"]),) if asked.goal.settings.get("tensor") else _TENSOR
        return asked.choice("tensor", "Accelerators of a replica", usual)
    return None


def _prompts(nodes: int, split: str) -> int:
    """Servers that only read prompts; 0 where the share makes none, or leaves none to answer."""
    share = _SPLITS.get(split)
    if share is None:
        raise FormatError(f"{split[:40]!r} is no split", place="split", remedy=f"use {TOGETHER}, {', '.join(_SPLITS)}")
    count = nodes * share
    return floor(count) if count == floor(count) and 0 < count < nodes else 0


def make(asked: Asked, chosen: Chosen) -> Design:
    """The cluster.

    Raises
    ------
    FormatError
        If the choices do not fit each other.
    """
    nodes, tensor = whole_number(chosen, "nodes"), whole_number(chosen, "tensor")
    if tensor > server_of(chosen["server"]).gpus:
        raise FormatError(
            f"a server has no {tensor} accelerators", place="tensor", remedy="keep a replica inside one server"
        )
    settings: dict[str, Any] = {"tensor": tensor}
    words = ""
    if chosen["split"] != TOGETHER:
        first = _prompts(nodes, chosen["split"])
        settings["prompt_group"] = f"servers[0-{first - 1}]/gpu*"
        settings["group"] = f"servers[{first}-{nodes - 1}]/gpu*"
        settings["prompt_tensor"] = tensor
        words = f", {first} for prompts"
    storage = str(asked.goal.settings.get("storage") or "")
    kept = storage if storage.startswith("storage/") else ALONE
    if kept != ALONE:
        settings["storage"] = "storage"
    title = f"{nodes} × {chosen['server']}{words}, tensor {tensor}, {chosen['network']}"
    return cluster(chosen["server"], nodes, chosen["network"], kept, with_settings(asked.goal, settings), title)


def server(asked: Asked, name: str) -> Design:
    """One server."""
    del asked
    return server_of(name).design


def unhurried(asked: Asked, chosen: Chosen) -> tuple[tuple[Asked, Chosen], ...]:
    """One server with replicas of each width, asked so seldom that no request meets another.

    More servers, and servers that only read prompts, shorten queues and nothing else: a request that meets no other
    has its answer no later.
    """
    settings = asked.goal.settings
    if "server" not in chosen or any(settings.get(name) for name in _OWN):
        return ()
    goal = with_settings(asked.goal, {"rate": _SELDOM})
    alone = replace(asked, goal=goal)
    wanted = chosen.get("tensor")
    usual = (str(settings["tensor"]),) if settings.get("tensor") else asked.given.get("tensor") or _TENSOR
    return tuple(
        (alone, {"server": chosen["server"], "nodes": "1", "split": TOGETHER, "network": ALONE, "tensor": tensor})
        for tensor in ((wanted,) if wanted else usual)
        if tensor.isdecimal() and int(tensor) <= server_of(chosen["server"]).gpus
    )


FAMILY = Family(
    "serving-cluster",
    "Servers that serve, together or apart for prompts and answers",
    ("serving",),
    following,
    make,
    server,
    ("server", "nodes", "split", "network", "tensor"),
    unhurried,
)

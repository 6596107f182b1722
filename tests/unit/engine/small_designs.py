"""Small designs written as lines of text, and what the engine says about them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from designer.analysis.study import analyze
from designer.design.document import Block, Design, Link, Part, Policy, WorkloadSpec
from designer.engine.flows import check
from designer.engine.network import Network, build_network
from designer.engine.results import Analysis, WorkloadResult
from designer.engine.routes import route
from designer.engine.routes.legs import Legs, Routes
from designer.engine.transfers import TransferAnswer, evaluate_transfer
from designer.workload.program import Move

KINDS = {
    "cpu": "cpu",
    "numa": "numa",
    "mem": "memory",
    "psw": "pcie_switch",
    "gpu": "gpu",
    "nic": "nic",
    "nvsw": "nvswitch",
    "sw": "switch",
    "leaf": "switch",
    "spine": "switch",
    "core": "switch",
    "store": "storage",
    "ssd": "drive",
}
LINES = re.compile(r"(\S+) (\S+): (\w+)(?: (\d+)\*)?(?: (\d)x(\d+))?(?: ([\d.]+ \S+))?$")
BUS = "memory_bus 300 GB/s"


def block(lines: Sequence[str], **values: dict[str, object]) -> Block:
    """``a b: kind [count*] [generation×lanes] [rate]`` per line; `values` are overrides by part id."""
    parts: dict[str, Part] = {}
    links: list[Link] = []
    for line in lines:
        found = LINES.match(line)
        assert found, line
        a, b, kind, count, generation, lanes, rate = found.groups()
        for end in (a, b):
            stem = re.match(r"[a-z]+", end)
            assert stem
            overrides = {k: {"value": v} for k, v in values.get(end, {}).items()}
            parts.setdefault(end, Part.model_validate({"id": end, "kind": KINDS[stem[0]], "overrides": overrides}))
        speed = {"generation": generation and int(generation), "lanes": lanes and int(lanes)}
        links.append(
            Link(
                id=f"{a}--{b}" if f"{a}--{b}" not in {link.id for link in links} else f"{a}--{b}#{len(links)}",
                a=a,
                b=b,
                kind=kind,
                count=int(count or 1),
                bandwidth_per_direction=rate,
                **speed,
            )
        )
    return Block.model_validate({"parts": list(parts.values()), "links": links})


def draw(*lines: str, policy: Policy | None = None, values: dict[str, dict[str, object]] | None = None) -> Design:
    """A design of the given lines."""
    return Design.model_validate(
        {"name": "drawn", **dict(block(lines, **(values or {}))), "policy": policy or Policy()}
    )


def transfer(design: Design, source: str, target: str, **settings: object) -> TransferAnswer:
    """A transfer on a design; the allocation behind it is certified."""
    return evaluate_transfer(build_network(design), Move(source, target, **settings), "t")  # type: ignore[arg-type]


def rates(design: Design, source: str, target: str, **settings: object) -> dict[str, float]:
    """Rate of every flow by ``from->to`` [B/s]."""
    return {f.id: f.rate for f in transfer(design, source, target, **settings).flows}


def way(design: Design, source: str, target: str) -> list[str]:
    """Channels from one part to another, in order."""
    return list(transfer(design, source, target, pairing="pairs").flows[0].via)


def shares(design: Design, source: str, target: str) -> dict[str, float]:
    """Share of the traffic from one part to another that each channel carries."""
    network = build_network(design)
    routes = paths(network, [(source, target)])
    found: dict[str, float] = {}
    for channel, share in zip(routes.channel.tolist(), routes.share.tolist(), strict=True):
        found[network.channel_id(channel)] = found.get(network.channel_id(channel), 0.0) + share
    return found


def paths(network: Network, pairs: Sequence[tuple[str, str]]) -> Routes:
    """Routes between pairs of parts, one flow per pair."""
    source = np.array([network.net.index_of(a) for a, _ in pairs])
    target = np.array([network.net.index_of(b) for _, b in pairs])
    return route(network, Legs.of(source, target))


def study(design: Design, kind: str, **settings: object) -> tuple[Analysis, WorkloadResult]:
    """A workload run through the one entry point."""
    spec = WorkloadSpec.model_validate({"id": "w", "kind": kind, "settings": settings})
    found = analyze(Design.model_validate({**dict(design), "workloads": [spec]}))
    return found, found.workloads[0]


def server(socket_link: str = "upi 3* 32 GB/s") -> list[str]:
    """Two sockets; on each a memory and a PCIe switch with two GPUs and a NIC below."""
    lines = [f"cpu0 cpu1: {socket_link}"]
    for s in range(2):
        lines += [f"cpu{s} mem{s}: {BUS}", f"cpu{s} psw{s}: pcie 5x16", f"psw{s} nic{s}: pcie 5x16"]
        lines += [f"psw{s} gpu{g}: pcie 5x16" for g in (2 * s, 2 * s + 1)]
    return lines


__all__ = ["block", "check", "draw", "paths", "rates", "server", "shares", "study", "transfer", "way"]

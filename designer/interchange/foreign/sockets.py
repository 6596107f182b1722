"""CPU sockets of a machine that is read from a dump: which NUMA domains are one socket, and which sockets are joined.

Files state at most how far NUMA domains are from each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import Final

from designer.catalog.parttype import link_kinds
from designer.design.document import LinkValues
from designer.interchange.foreign.cpus import CpuModel, NumaHint, sockets_of
from designer.interchange.foreign.devices import Device, assumption
from designer.interchange.foreign.machine import MachineDrawing
from designer.plain_text import counted
from designer.sources import Status

#: more sockets than this are joined in a ring, not each with each
_MESH: Final = 8


def group_into_sockets(
    machine: MachineDrawing,
    server: str,
    domains: Mapping[str, NumaHint],
) -> list[str]:
    """Put the NUMA domains (part id to hint) into sockets, which the file does not tell; ids of the new CPUs."""
    chosen = sockets_of(list(domains.values()))
    by_socket: dict[int, list[str]] = {}
    for numa, socket in zip(domains, chosen, strict=True):
        by_socket.setdefault(socket, []).append(numa)
    cpus: list[str] = []
    for _, numas in sorted(by_socket.items()):
        model = domains[numas[0]].model
        device = Device(model.title, model.type) if model.title else None
        cpus.append(machine.add("cpu", parent=server, device=device, attributes={"derived": "yes"}))
        note_cpu(machine, model, model.title, cpus[-1])
        for numa in numas:
            join_on_die(machine, cpus[-1], numa)
    if domains:
        machine.note(
            "IMP-DERIVED-SOCKETS",
            f"sockets are not in the file: {counted(len(domains), 'NUMA domain was', 'NUMA domains were')} put into"
            f" {counted(len(cpus), 'socket')}",
            *cpus,
            remedy="move NUMA domains to another CPU where the machine differs",
        )
        join_sockets(machine, cpus, next(iter(domains.values())).model)
    return cpus


def join_on_die(machine: MachineDrawing, cpu: str, numa: str) -> None:
    """Join a NUMA domain to the socket it is part of."""
    machine.link(
        cpu,
        numa,
        LinkValues(
            kind="infinity_fabric",
            bandwidth_per_direction=str(assumption("on_die").value),
            status=Status.ASSUMED,
            note="on the die",
        ),
    )


def join_sockets(
    machine: MachineDrawing, cpus: list[str], model: CpuModel, distances: Mapping[tuple[str, str], float] | None = None
) -> None:
    """Links between sockets: as a table of distances allows, else each with each, a ring where there are many.

    The links a CPU has are shared evenly among the sockets it is joined with.
    """
    pairs = nearest_pairs(cpus, distances or {})
    peers = Counter(cpu for pair in pairs for cpu in pair)
    rate = model.socket_rate or link_kinds()[model.socket_link].default_rate
    links = model.socket_links if model.socket_rate else int(str(assumption("socket_links").value))
    for a, b in pairs:
        count = max(links // max(peers[a], peers[b]), 1)
        link_id = machine.link(
            a,
            b,
            LinkValues(
                kind=model.socket_link,
                count=count,
                bandwidth_per_direction=rate,
                status=Status.ASSUMED,
                note="links of the CPU" if model.socket_rate else "usual for such links",
            ),
        )
        spelled = f"{count} x {rate}" if count > 1 else rate
        machine.note(
            "IMP-ASSUMED-SOCKET-LINK",
            f"the links between sockets are not in the file: {spelled} per direction is assumed",
            link_id,
            remedy="set the bandwidth of the links between CPUs",
        )
    if distances and len(pairs) < len(cpus) * (len(cpus) - 1) // 2:
        machine.note(
            "IMP-SOCKET-DISTANCES",
            "which sockets are joined follows from the latencies between their NUMA nodes: the nearest are",
            *cpus,
            remedy="draw the links between CPUs as the board has them",
        )


def note_cpu(machine: MachineDrawing, model: CpuModel, title: str, cpu: str) -> None:
    """Report a processor whose part type is a guess, or that has none."""
    if model.guess:
        text = f"these CPUs are of the {model.guess}"
    elif model.type or not (title or model.title):
        return
    else:
        text = f"these CPUs ({title or model.title}) have no part type: cores, lanes and socket links are unknown"
    machine.note("IMP-CPU-TYPE", text, cpu, remedy="choose a part type for them")


def nearest_pairs(cpus: list[str], distances: Mapping[tuple[str, str], float]) -> list[tuple[str, str]]:
    """Which sockets are joined: each with its nearest, and farther ones where groups would hang apart without.

    Where every socket is equally far from every other one, or the file does not say, that is each with each, a ring
    where there are many.
    """
    usual = list(combinations(cpus, 2)) if len(cpus) <= _MESH else list(zip(cpus, [*cpus[1:], cpus[0]], strict=True))
    if len(set(distances.values())) < 2:
        return usual
    at = {(a, b): distances.get((a, b) if a < b else (b, a)) for a, b in combinations(cpus, 2)}
    known = sorted({d for d in at.values() if d is not None})
    if any(d is None for d in at.values()):
        return usual
    group = {cpu: number for number, cpu in enumerate(cpus)}
    pairs: list[tuple[str, str]] = []
    for distance in known:
        new = [pair for pair, far in at.items() if far == distance and (not pairs or group[pair[0]] != group[pair[1]])]
        if pairs:
            new = _abreast(new, group)
        pairs += new
        for a, b in new:
            old, kept = group[b], group[a]
            if old != kept:
                group = {cpu: kept if number == old else number for cpu, number in group.items()}
        if len(set(group.values())) == 1:
            break
    return pairs


def _abreast(pairs: list[tuple[str, str]], group: Mapping[str, int]) -> list[tuple[str, str]]:
    """Of groups equally far from each other as a whole: the first with the first, the second with the second."""
    members: dict[int, list[str]] = {}
    for cpu, number in group.items():
        members.setdefault(number, []).append(cpu)
    between: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for a, b in pairs:
        between.setdefault((group[a], group[b]), []).append((a, b))
    kept: list[tuple[str, str]] = []
    for (one, other), found in between.items():
        whole = len(found) == len(members[one]) * len(members[other])
        kept += list(zip(members[one], members[other], strict=False)) if whole else found
    return kept

"""Processors as dumps number or name them, and how NUMA domains make up sockets.

Dumps state neither sockets nor memory speeds nor socket links. What a processor has is said by its part's own file, or
for families the catalog does not offer by ``assets/recognition/unlisted``; memory with all channels filled.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Final

from designer.catalog.loader import load_catalog, unlisted_products
from designer.catalog.parttype import PartType, link_kinds
from designer.catalog.recognition import Recognition, by_cpuid, by_pattern
from designer.fields import amount
from designer.units import write

#: kinds of link between sockets, by the names parts give what their socket links speak
_SOCKET_LINKS: Final = ("upi", "infinity_fabric", "x_bus")
#: cores of a socket of unknown family, when its NUMA domains are counted
_USUAL_CORES: Final = 64


@dataclass(frozen=True, slots=True)
class CpuModel:
    """A processor family.

    Parameters
    ----------
    id
        Of the part or unlisted product that describes it.
    title
        The family, empty where it is unknown.
    type
        Id of the part type; empty where the catalog has none.
    cores
        The most cores of one socket; 0 where unknown.
    memory
        Memory bandwidth of one socket with all channels filled, spelled.
    socket_link
        Kind of the link between sockets.
    socket_links
        How many such links one socket has; 1 where unknown.
    socket_rate
        Raw rate of one socket link per direction, spelled; empty where unknown.
    one_domain
        True if each socket is one NUMA domain, whatever its number.
    guess
        What of it was guessed, for people; empty where it is known.
    """

    id: str
    title: str
    type: str
    cores: int
    memory: str
    socket_link: str
    socket_links: int = 1
    socket_rate: str = ""
    one_domain: bool = False
    guess: str = ""


@lru_cache(maxsize=1024)
def processor(id: str) -> CpuModel:
    """The processor family that a part, or a product the catalog does not list, describes.

    Raises
    ------
    CatalogError
        If there is neither.
    """
    listed = id in load_catalog()
    catalog = load_catalog() if listed else unlisted_products()
    recognition = catalog.recognitions.get(id, Recognition())
    part = load_catalog().get(recognition.taken_for) if recognition.taken_for else catalog.get(id)
    kind, links, rate = _socket_link(part)
    return CpuModel(
        id=id,
        title=recognition.family,
        type=part.id if listed or recognition.taken_for else "",
        cores=recognition.most_cores,
        memory=_text(part, "memory_bandwidth"),
        socket_link=kind,
        socket_links=links,
        socket_rate=rate,
        one_domain=recognition.one_domain,
        guess=recognition.guess,
    )


def _socket_link(part: PartType) -> tuple[str, int, str]:
    """Kind, number and spelled rate per direction of the links between sockets of this CPU."""
    spoken = _text(part, "socket_link_type")
    kind = next((k for k in _SOCKET_LINKS if any(n in spoken for n in link_kinds()[k].names)), "")
    chip = _text(part, "c2c_bandwidth_per_direction")
    if not kind and chip:
        return "c2c", 1, chip
    links = part.number("socket_links") or 1
    return kind or "upi", int(links), _text(part, "socket_link_bandwidth_per_direction")


def _text(part: PartType, name: str) -> str:
    quantity = part.values.get(name)
    return "" if quantity is None else str(quantity.value)


def unknown_processor(pcie_generation: int = 0) -> CpuModel:
    """A processor that is not named, next to accelerators of a PCIe generation (0 where unknown)."""
    return processor("cpu/generic/unknown-gen5" if pcie_generation >= 5 else "cpu/generic/unknown")


def processor_for(compute_capability: str) -> CpuModel | None:
    """The processor that shares a chip-to-chip link with GPUs of a compute capability such as "9.0"."""
    for id, recognition in load_catalog().recognitions.items():
        if id.startswith("cpu/") and compute_capability in recognition.beside:
            return processor(id)
    return None


def cpu_model(vendor: str, family: str, model: str, arch: str = "", name: str = "") -> CpuModel:
    """The processor family of these CPUID values, or of its name where they are missing or represent several.

    AMD families are printed as base or as display family.
    """
    maker = vendor.strip().lower()
    if not maker or not by_cpuid(_processors(), maker, 0, 0):
        maker = "ibm" if arch.startswith("ppc") else "arm" if arch.startswith(("arm", "aarch")) else maker
    numbered = by_cpuid(_processors(), maker, _number(family), _number(model)) if maker else None
    named = by_pattern(_processors(), " ".join(name.split()), "cpu")
    sure = numbered is not None and not _is_vague(numbered, maker) and not _processors()[numbered].taken_for
    chosen = numbered if sure else named or numbered
    return processor(chosen) if chosen else unknown_processor()


def _is_vague(id: str, maker: str) -> bool:
    """True if only the maker of a processor is known, though it has several families."""
    return by_cpuid(_processors(), maker, 0, 1 << 16) == id


@cache
def _processors() -> dict[str, Recognition]:
    """What processors are recognised by: those of the catalog, then those it does not list."""
    found = {**load_catalog().recognitions, **unlisted_products().recognitions}
    return {id: recognition for id, recognition in found.items() if id.startswith("cpu/")}


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text.strip(), re.ASCII) else 0


@dataclass(frozen=True, slots=True)
class NumaHint:
    """What a dump says about one NUMA domain.

    Parameters
    ----------
    number
        Its id as the operating system gives it, −1 where unknown.
    cpus
        Numbers of its logical CPUs as a bit mask, 0 where unknown.
    width
        How many logical CPUs the mask could name, 0 where unknown.
    own_socket
        True if it is known to be a socket of its own.
    """

    number: int
    cpus: int = 0
    width: int = 0
    own_socket: bool = False
    model: CpuModel = field(default_factory=unknown_processor)


def sockets_of(domains: Sequence[NumaHint]) -> list[int]:
    """Which socket each NUMA domain belongs to, by the usual ways of cutting sockets (NPS1/2/4, SNC2).

    The number of domains of the whole machine is the highest id plus one, or what the CPU masks leave room for; domains
    without devices are often missing from a dump. It is a guess, good for stating which traffic crosses sockets.
    """
    if not domains:
        return []
    model = domains[0].model
    numbers = [d.number for d in domains]
    if any(n < 0 for n in numbers) or len(set(numbers)) < len(numbers):
        return [0] * len(domains) if len(set(numbers)) == 1 else list(range(len(domains)))
    if all(d.own_socket for d in domains) or model.one_domain:
        order = {n: place for place, n in enumerate(sorted(numbers))}
        return [order[n] for n in numbers]
    per_socket = _per_socket(_domains_in_machine(domains), domains)
    groups = {group: place for place, group in enumerate(sorted({n // per_socket for n in numbers}))}
    return [groups[n // per_socket] for n in numbers]


def memory_share(domains: Sequence[NumaHint]) -> str:
    """Memory bandwidth of one of these NUMA domains with all channels filled, spelled; sockets as `sockets_of` says."""
    chosen, numbers = sockets_of(domains), [d.number for d in domains]
    model = domains[0].model
    together = max(Counter(chosen).values())
    if together > 1 and min(numbers) >= 0:
        together = _per_socket(_domains_in_machine(domains), domains)
    return write(amount(model.memory, "rate") / together, "rate")


def _domains_in_machine(domains: Sequence[NumaHint]) -> int:
    highest = max(d.number for d in domains) + 1
    sizes = [d.cpus.bit_count() for d in domains if d.cpus]
    seen = max((d.cpus.bit_length() for d in domains), default=0)
    room = seen // max(sizes) if sizes else 0
    # Masks are padded to whole words, so only CPUs that are named count as room.
    total = max(highest, room if room in (1, 2, 4, 8) else 0, len(domains))
    return next((power for power in (1, 2, 4, 8, 16, 32, 64) if power >= total), total)


def _per_socket(total: int, domains: Sequence[NumaHint]) -> int:
    """Domains of one socket when the machine has `total`: two sockets, unless the cores show that one is enough."""
    model = domains[0].model
    if total <= 2:
        return 1
    if model.socket_link == "infinity_fabric" and total == 4:
        cores = max((_cores(d) for d in domains), default=0) * total
        return 4 if 0 < cores <= (model.cores or _USUAL_CORES) // 2 else 2
    return max(total // 2, 1)


def _cores(domain: NumaHint) -> int:
    """Cores of a domain: half its CPUs where the mask has two equal runs, which are the halves of each core."""
    runs = [len(run) for run in re.findall("1+", f"{domain.cpus:b}")] if domain.cpus else []
    total = sum(runs)
    return total // 2 if len(runs) == 2 and runs[0] == runs[1] else total

"""Builds the design of a network out of what a dump says: switches, servers with their NICs, and the cables between.

Keys are what the file distinguishes nodes by (a GUID, a name); ids are counted as in every import and names stay names.
What such a file cannot know (what is inside the servers, the rate of a cable) is noted as a gap on what it is about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from designer.catalog.loader import load_catalog
from designer.design.document import LinkValues
from designer.design.gaps import CONTENTS, SPEED, UNKNOWN
from designer.errors import CatalogError
from designer.interchange.foreign.devices import Device
from designer.interchange.foreign.finishing import finish
from designer.interchange.foreign.importer import Imported
from designer.interchange.foreign.machine import MachineDrawing
from designer.sources import Status
from designer.units import format_quantity, write

#: what switches call themselves, and the part type that is the same silicon with the same ports
_SWITCHES: Final = (
    (r"QM97\d\d", "switch/nvidia/qm9700"),
    (r"QM87\d\d", "switch/nvidia/qm8700"),
    (r"SB77\d\d|SB78\d\d", "switch/nvidia/sb7800"),
    (r"Q3[24]\d\d", "switch/nvidia/q3400"),
    (r"SN5600", "switch/nvidia/sn5600"),
    (r"SN5400", "switch/nvidia/sn5400"),
    (r"SN4700", "switch/nvidia/sn4700"),
    (r"SN4600", "switch/nvidia/sn4600c"),
    (r"SN3700", "switch/nvidia/sn3700"),
    (r"SN2700", "switch/nvidia/sn2700"),
)
_MODELS: Final = tuple((re.compile(rf"(?<![A-Z0-9])M?({p})(?![0-9])"), part_type) for p, part_type in _SWITCHES)
#: the last word of what an adapter calls itself, where the words before it are its host
_ADAPTER: Final = re.compile(
    r"(?P<host>\S.*?)\s+(?P<adapter>(?:mlx|bnxt|irdma|qedr|hfi1?|opap|efa|ibp|ibs|rdma|roce)[\w.-]{1,40}|HCA-\d{1,4})\Z"
)
#: the four generic names that say nothing of a host
_NOBODY: Final = frozenset({"localhost", "ubuntu", "debian", "none"})


def host_of(description: str) -> tuple[str, str]:
    """Host and adapter in the description of an InfiniBand node; no host where it names none."""
    found = _ADAPTER.match(description.strip())
    return ("", description.strip()) if found is None else (found["host"], found["adapter"])


class FabricDrawing:
    """A network being put together.

    Parameters
    ----------
    kind
        The kind of links it has where the file does not say for each.
    """

    def __init__(self, file: str, title: str, key: str, kind: str = "infiniband") -> None:
        self.machine = MachineDrawing(file, title, key)
        self.kind = kind
        self.nodes: dict[str, str] = {}
        self._hosts: dict[str, str] = {}
        self._rates: dict[str, float] = {}

    def note(self, code: str, text: str, *where: str, remedy: str = "") -> None:
        """Report a finding, as severe as is usual for its code."""
        self.machine.note(code, text, *where, remedy=remedy)

    def switch(
        self, key: str, name: str = "", attributes: Mapping[str, str] | None = None, *, ports: int = 0, kind: str = ""
    ) -> str:
        """The switch known by `key`; made where it is new."""
        known = self.nodes.get(key)
        if known is not None:
            return known
        stated = dict(attributes or {})
        device = _model(f"{name} {stated.get('model', '')}")
        made = self.machine.add(kind or "switch", name=name, device=device, attributes=stated)
        self.nodes[key] = made
        part = self.machine.parts[made]
        if device is not None and part.type:
            self.note(
                "IMP-SWITCH-TYPE",
                "the type of these switches follows from the model in their names",
                made,
                remedy="choose another type where that is wrong",
            )
        elif ports:
            overrides = {**part.overrides, "ports": self.machine.fact(ports)}
            self.machine.parts[made] = part.model_copy(update={"overrides": overrides})
        return made

    def host(self, key: str, name: str = "", attributes: Mapping[str, str] | None = None) -> str:
        """The server known by `key`; made where it is new. What is inside is not known."""
        known = self._hosts.get(key)
        if known is None:
            stated = {UNKNOWN: CONTENTS, **(attributes or {})}
            known = self._hosts[key] = self.machine.add("server", name=name, attributes=stated)
        return known

    def nic(self, key: str, host: str, name: str = "", attributes: Mapping[str, str] | None = None) -> str:
        """The NIC known by `key`; made where it is new."""
        known = self.nodes.get(key)
        if known is None:
            known = self.nodes[key] = self.machine.add("nic", parent=host, name=name, attributes=attributes)
        return known

    def named_host(self, description: str, fallback: str) -> str:
        """The server an adapter's description names, or one of its own where it names none."""
        host, _ = host_of(description)
        if host and host.lower() not in _NOBODY:
            return self.host(f"name {host}", host)
        made = self.host(f"node {fallback}", description or fallback)
        self.note(
            "IMP-HOST",
            "these adapters do not name their server: each was given one of its own",
            made,
            remedy="put adapters of one machine into one server",
        )
        return made

    def join(
        self,
        a: str,
        b: str,
        rate: float | None = None,
        *,
        ports: tuple[str, str] = ("", ""),
        count: int = 1,
        kind: str = "",
        attributes: Mapping[str, str] | None = None,
        latency: str = "",
    ) -> str | None:
        """A cable of `rate` per direction [B/s], None where it is not known; its id, or None for a cable to itself."""
        if a == b:
            self.note("IMP-LOOP", "cables from a part to itself were left out", a)
            return None
        stated = {**({"latency": latency} if latency else {}), **(attributes or {})}
        used = kind or self.kind
        if rate is None:
            values = LinkValues(kind=used, count=count, status=Status.ASSUMED)
            stated[UNKNOWN] = SPEED
        else:
            spelled = write(rate, "rate")
            values = LinkValues(kind=used, count=count, bandwidth_per_direction=spelled, status=Status.PRIMARY)
        made = self.machine.link(a, b, values, stated, ports=ports)
        if rate is None:
            self.note(
                "IMP-ASSUMED-RATE",
                "the rate of these links is not in the file: the usual one of their kind is assumed",
                made,
                remedy="set the bandwidth per direction of the links",
            )
        else:
            self._rates[made] = rate
        return made

    def _slow_links(self) -> None:
        """Report cables slower than most cables between such parts: a bad cable trains down."""
        parts = self.machine.parts
        between: dict[tuple[str, str], dict[str, float]] = {}
        for link_id, rate in self._rates.items():
            link = self.machine.links[link_id]
            low, high = sorted((parts[link.a].kind, parts[link.b].kind))
            between.setdefault((low, high), {})[link_id] = rate
        for rates in between.values():
            usual, times = Counter(rates.values()).most_common(1)[0]
            slow = [link_id for link_id, rate in rates.items() if rate < usual]
            if slow and 2 * times > len(rates):
                self.note(
                    "IMP-SLOW-LINK",
                    f"slower than the {format_quantity(usual, 'rate')} of most links between such parts",
                    *slow,
                    remedy="check the cable and both ports",
                )

    def finish(self, title: str = "", description: str = "") -> Imported:
        """The design and all findings."""
        self._slow_links()
        if self._hosts:
            self.note(
                "IMP-CONTENTS",
                "the file describes the network alone: what is inside the servers (GPUs, PCIe) is not in the design",
                remedy="give the servers their contents, or import a dump of one of them",
            )
        return finish(self.machine, title or self.summary(), description)

    def summary(self) -> str:
        """What there is, in words."""
        counts = ((len(self.machine.of_kind(k)), one, many) for k, one, many in _COUNTED)
        return ", ".join(f"{n:,} {one if n == 1 else many}" for n, one, many in counts if n)


_COUNTED: Final = (
    ("server", "server", "servers"),
    ("gpu", "GPU", "GPUs"),
    ("nic", "NIC", "NICs"),
    ("nvswitch", "NVSwitch", "NVSwitches"),
    ("switch", "switch", "switches"),
    ("storage", "storage", "storages"),
)


def _model(text: str) -> Device | None:
    for pattern, part_type in _MODELS:
        found = pattern.search(text)
        if found is not None:
            try:
                known = load_catalog().get(part_type)
            except CatalogError:
                return None
            return Device(known.title, part_type)
    return None

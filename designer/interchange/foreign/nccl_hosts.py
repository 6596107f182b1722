"""One machine of an NCCL topology file: what was made of its elements so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from designer.interchange.foreign.cpus import NumaHint
from designer.interchange.foreign.xml import Element


@dataclass(slots=True)
class Host:
    """One machine of the file: GPUs and switches by bus id, and interfaces without a place."""

    server: str
    domains: dict[str, NumaHint] = field(default_factory=dict[str, NumaHint])
    parts: dict[str, str] = field(default_factory=dict[str, str])
    gpus: dict[str, str] = field(default_factory=dict[str, str])
    named_nets: set[str] = field(default_factory=set[str])
    loose: dict[str, tuple[str, Element]] = field(default_factory=dict[str, tuple[str, Element]])
    repeated: int = 0
    numbers: set[int] = field(default_factory=set[int])
    ports: set[tuple[str, str] | None] = field(default_factory=set[tuple[str, str] | None])

    def has_port(self, net: Element) -> bool:
        """True if an interface is a port that is drawn already."""
        return _port(net) in self.ports

    def is_new_port(self, net: Element) -> bool:
        """True if an interface is a port not met yet, by GUID and port number; small GUIDs are those of sockets."""
        port = _port(net)
        if port is None:
            return True
        new = port not in self.ports
        self.ports.add(port)
        return new


def _port(net: Element) -> tuple[str, str] | None:
    """GUID and number of the port of an interface; None where they say nothing."""
    guid, port = net.get("guid").lower().removeprefix("0x").lstrip("0"), net.get("port")
    return (guid, port) if len(guid) > 4 and port else None

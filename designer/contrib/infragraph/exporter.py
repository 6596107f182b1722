"""InfraGraph documents: each kind of server or switch is a device, its copies are instances, cables are edges.

Bundles of links are one edge with the bandwidth of all, cables of switches one edge a port. Descriptions carry the part
types, what a bundle is made of and the names of instances, so that a document of this program reads back as it was.
Sources: keysight/infragraph 3.1.0, docs/openapi.yaml (MIT).
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from designer import atomic
from designer.catalog.partkind import Domain
from designer.catalog.parttype import link_kinds, part_kinds
from designer.design.document import Design, Link, Wiring
from designer.design.elaborate import Netlist, elaborate
from designer.design.ids import Numberer
from designer.design.name_pattern import safe as safe_name
from designer.design.naming import node_names
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.foreign.hostlist import compress, expand
from designer.interchange.network_view import one_line
from designer.units import write as spelled

#: documents of more parts or links than this are of no use to anyone
_MOST: Final = 400_000
#: what InfraGraph calls the kinds of parts; all others are custom
_CHOICE: Final = {
    "cpu": "cpu",
    "numa": "cpu",
    "gpu": "xpu",
    "nic": "nic",
    "dpu": "nic",
    "memory": "memory",
    "nvswitch": "switch",
    "pcie_switch": "switch",
    "switch": "switch",
}
#: parts that only hold others
_FRAMES: Final = ("server", "rack")
#: the component of a switch its cables end at
PORT: Final = "port"
_INSIDE: Final = "inside"


@dataclass(frozen=True, slots=True)
class _Home:
    """A server or another outermost part: its parts, its links inside, and the ports its cables take."""

    parts: tuple[int, ...]
    links: tuple[int, ...]
    ports: int


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the document as JSON.

    Raises
    ------
    ExchangeError
        If the design holds nothing that this format can say.
    """
    del options
    net = elaborate(design)
    if max(net.n_parts, net.n_links) > _MOST:
        raise ExchangeError(
            f"the design elaborates to {net.n_parts:,} parts and {net.n_links:,} links",
            remedy=f"InfraGraph is written up to {_MOST:,} of each: use fewer replicas",
        )
    if not net.n_parts:
        raise ExchangeError("the design has no parts", remedy="draw some first")
    text = json.dumps(_Document(design, net).made(), indent=1, ensure_ascii=False)
    return atomic.write(path, (text + "\n").encode("utf-8"))


class _Document:
    """Devices, instances and edges of a flat design."""

    def __init__(self, design: Design, net: Netlist) -> None:
        self.design, self.net = design, net
        self.kinds = [net.part_defs[d].kind for d in net.part_def.tolist()]
        self.home = self._homes()
        self.outside = [
            link
            for link, (a, b) in enumerate(zip(net.link_a.tolist(), net.link_b.tolist(), strict=True))
            if self.home[a] != self.home[b]
        ]
        self.names = Numberer(())
        self.links: dict[str, dict[str, Any]] = {}

    def made(self) -> dict[str, Any]:
        """The whole document."""
        homes = self._contents()
        equal: dict[Hashable, list[int]] = {}
        for number, home in homes.items():
            equal.setdefault(self._signature(home), []).append(number)
        devices: list[dict[str, Any]] = []
        instances: list[dict[str, Any]] = []
        place: dict[int, tuple[str, int]] = {}
        component: dict[int, str] = {}
        called = node_names(self.net, homes)
        for members in equal.values():
            first = homes[members[0]]
            path = self.net.path(members[0])
            title = one_line(self.net.part(members[0]).label)
            name = self.names.take(safe(path.split("[")[0].split("/")[0]))
            device = f"{name}-device"
            components, names = self._components(members[0], first)
            for number in members:
                component |= {p: names[k] for k, p in enumerate(homes[number].parts)}
            devices.append(self._device(device, title, components, first, component))
            own = [called[number] for number in members]
            listed = compress(own)
            if expand(listed) != own:
                listed = ",".join(own)
            instances.append({"name": name, "device": device, "count": len(members), "description": listed})
            place |= {number: (name, at) for at, number in enumerate(members)}
        edges = self._edges(homes, place, component)
        return {
            "name": safe(self.design.name),
            "description": one_line(self.design.title or self.design.name),
            "devices": devices,
            "links": list(self.links.values()),
            "instances": instances,
            "edges": edges,
        }

    def _homes(self) -> list[int]:
        """The server each part is in, else the outermost part that holds it."""
        parent = self.net.parent.tolist()
        home: list[int] = []
        for part in range(len(parent)):
            at = part
            while self.kinds[at] != "server" and parent[at] >= 0 and self.kinds[parent[at]] != "rack":
                at = parent[at]
            home.append(at)
        return home

    def _contents(self) -> dict[int, _Home]:
        parts: defaultdict[int, list[int]] = defaultdict(list)
        for part, home in enumerate(self.home):
            if self.kinds[part] not in _FRAMES:
                parts[home].append(part)
        inside: defaultdict[int, list[int]] = defaultdict(list)
        ports: Counter[int] = Counter()
        far = set(self.outside)
        for link, (a, b) in enumerate(zip(self.net.link_a.tolist(), self.net.link_b.tolist(), strict=True)):
            if link not in far:
                inside[self.home[a]].append(link)
                continue
            for end in (a, b):
                if self._has_ports(end):
                    ports[self.home[end]] += self.net.link(link).count
        return {h: _Home(tuple(p), tuple(inside[h]), ports[h]) for h, p in parts.items()}

    def _has_ports(self, part: int) -> bool:
        return self.kinds[part] == "switch" and self.home[part] == part

    def _signature(self, home: _Home) -> Hashable:
        """Equal for homes that are the same device."""
        at = {part: k for k, part in enumerate(home.parts)}
        net = self.net
        parts = tuple((self.kinds[p], net.part(p).type) for p in home.parts)
        links = tuple((at[int(net.link_a[i])], at[int(net.link_b[i])], _bundle(net.link(i))) for i in home.links)
        return parts, links, home.ports

    def _components(self, number: int, home: _Home) -> tuple[list[dict[str, Any]], list[str]]:
        """The components of a device, and for each of its parts how edges call it."""
        groups: dict[tuple[str, str], list[int]] = {}
        for k, part in enumerate(home.parts):
            groups.setdefault((self.kinds[part], self.net.part(part).type), []).append(k)
        taken = Numberer(())
        names = [""] * len(home.parts)
        components: list[dict[str, Any]] = []
        for (kind, type_id), places in groups.items():
            name = taken.take("asic" if self._has_ports(number) and kind == "switch" else safe(kind))
            components.append(_component(name, kind, type_id or part_kinds()[kind].title, len(places)))
            for at, k in enumerate(places):
                names[k] = f"{name}[{at}]"
        if home.ports:
            components.append({"name": PORT, "count": home.ports, "choice": "port", "port": {}})
        return components, names

    def _device(
        self, name: str, title: str, components: list[dict[str, Any]], home: _Home, called: dict[int, str]
    ) -> dict[str, Any]:
        links: dict[str, dict[str, Any]] = {}
        edges: list[dict[str, Any]] = []
        for number in home.links:
            link = self.net.link(number)
            stated = _link(link)
            links[stated["name"]] = stated
            a, b = called[int(self.net.link_a[number])], called[int(self.net.link_b[number])]
            edges.append(_edge({"component": a}, {"component": b}, stated["name"]))
        if home.ports:
            links[_INSIDE] = {"name": _INSIDE, "description": "ports of the switch"}
            ports = {"component": f"{PORT}[0:{home.ports}]"}
            edges.append(_edge(ports, {"component": called[home.parts[0]]}, _INSIDE, "many2many"))
        return {
            "name": name,
            "description": title,
            "components": components,
            "links": list(links.values()),
            "edges": edges,
        }

    def _edges(
        self, homes: dict[int, _Home], place: dict[int, tuple[str, int]], called: dict[int, str]
    ) -> list[dict[str, Any]]:
        used: Counter[int] = Counter()
        edges: list[dict[str, Any]] = []
        for number in self.outside:
            link = self.net.link(number)
            ends = (int(self.net.link_a[number]), int(self.net.link_b[number]))
            if any(self.home[end] not in homes or end not in called for end in ends):
                continue  # a link that ends at a server itself: it has no component for it
            ported = [self._has_ports(end) for end in ends]
            stated = _link(link, each=any(ported))
            self.links[stated["name"]] = stated
            singles: list[list[dict[str, str]]] = []
            for end, has_ports in zip(ends, ported, strict=True):
                instance = "{}[{}]".format(*place[self.home[end]])
                first = used[end]
                used[end] += link.count if has_ports else 0
                last = f"{PORT}[{first}:{first + link.count}]" if link.count > 1 else f"{PORT}[{first}]"
                singles.append([{"instance": instance, "component": last if has_ports else called[end]}])
            scheme = "one2one" if all(ported) or not any(ported) or link.count == 1 else "many2many"
            edges.append(_edge(singles[0][0], singles[1][0], stated["name"], scheme))
        return edges


def safe(text: str) -> str:
    """A name as InfraGraph allows it: without dots, which part names of nested devices."""
    return safe_name(text).replace(".", "-")


def _component(name: str, kind: str, description: str, count: int) -> dict[str, Any]:
    choice = _CHOICE.get(kind, "custom")
    inner = {"type": kind} if choice == "custom" else {}
    return {"name": name, "description": one_line(description), "count": count, "choice": choice, choice: inner}


def _bundle(link: Link | Wiring) -> tuple[str, int, float]:
    return link.kind, link.count, raw_rate(link)[0]


def _link(link: Link | Wiring, each: bool = False) -> dict[str, Any]:
    """A kind of bundle as InfraGraph writes it; `each` for one cable of it."""
    kind, count, rate = _bundle(link)
    count = 1 if each else count
    title = link_kinds()[kind].title
    text = f"{count} x {spelled(rate, 'rate')} {kind}"
    bandwidth = (
        {"choice": "gigabits_per_second", "gigabits_per_second": count * rate * 8 / 1e9}
        if link_kinds()[kind].domain is Domain.NETWORK
        else {"choice": "gigabytes_per_second", "gigabytes_per_second": count * rate / 1e9}
    )
    name = f"{kind}-{count}x{rate * 8 / 1e9:.9g}Gbps"
    return {
        "name": safe(name),
        "description": f"{text} ({title})",
        "physical": {"bandwidth": bandwidth},
    }


def _edge(one: dict[str, str], other: dict[str, str], link: str, scheme: str = "one2one") -> dict[str, Any]:
    return {"ep1": one, "ep2": other, "scheme": scheme, "link": link}


EXPORTER = Exporter("infragraph", ".infragraph.json", "InfraGraph document", write)

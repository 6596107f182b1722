"""InfraGraph documents: devices of components, their instances, and edges between indexed endpoints.

Ports, slots and whatever else only passes traffic on is part of what it belongs to. A device with processors is a
server, one of nothing but switch chips and ports a switch; what a component's name leaves open its links decide.
Sources: keysight/infragraph 3.1.0, docs/openapi.yaml and infragraph_service.py (MIT).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any, Final

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import link_kinds, part_kinds
from designer.design.document import LinkValues
from designer.errors import ExchangeError
from designer.fields import amount
from designer.interchange.foreign.devices import Device
from designer.interchange.foreign.finishing import finish
from designer.interchange.foreign.hostlist import expand
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.json_text import parse_json
from designer.interchange.foreign.machine import MachineDrawing
from designer.interchange.foreign.pcie import GENERATIONS, join_pcie
from designer.interchange.foreign.rates import number
from designer.interchange.foreign.yaml_text import items, mapping, parse_yaml, text_of
from designer.plain_text import counted
from designer.sources import Status
from designer.units import write

_TITLE: Final = "an InfraGraph document"
#: documents that unfold to more components or edges than this are refused
_MOST: Final = 400_000
_DEEPEST: Final = 8
_ENDPOINT: Final = re.compile(r"([^\[\]]{1,200})(?:\[([^\[\]]{0,60})\])?")
_NAMES: Final = re.compile(r"[\w.,\[\]-]{1,20000}", re.ASCII)
_OWN: Final = re.compile(r"(\d{1,6}) x (\S+ \S+?) (\w+) \(")
_KIND: Final = {"cpu": "cpu", "xpu": "gpu", "nic": "nic", "memory": "memory"}
#: words of names and descriptions, and the kind of switch or link they tell
_SWITCHES: Final = (("nvswitch", r"nv\W?(?:l|link|switch|sw)|nvl"), ("pcie_switch", r"pci|plx|pex"))
_LINKS: Final = (
    ("c2c", r"c2c"),
    ("nvlink", r"nv\W?link|nvl"),
    ("xgmi", r"xgmi"),
    ("infinity_fabric", r"infinity"),
    ("upi", r"\b[uq]pi"),
    ("pcie", r"pci"),
    ("memory_bus", r"memory|dram|ddr"),
    ("infiniband", r"infiniband|\bib\b|[hnx]dr\b"),
    ("ethernet", r"ethernet|\d+g?be\b|roce"),
)
_UNITS: Final = {"gigabits_per_second": 1e9 / 8, "gigabytes_per_second": 1e9}
#: what passes traffic on without being a part
_THROUGH: Final = "through"


@dataclass(slots=True)
class _Device:
    name: str
    components: dict[str, dict[str, Any]]
    links: dict[str, dict[str, Any]]
    edges: list[dict[str, Any]]


@dataclass(slots=True)
class _Node:
    """A component of an instance: what it is, where it is, what the document calls it."""

    kind: str
    text: str
    server: str
    device: str
    type: str = ""
    into: str = ""


@dataclass(slots=True)
class _Graph:
    """Everything unfolded, edges with what their link states."""

    nodes: dict[str, _Node] = field(default_factory=dict[str, _Node])
    edges: list[tuple[str, str, str, dict[str, Any]]] = field(
        default_factory=list[tuple[str, str, str, dict[str, Any]]]
    )


def _sniff(head: str) -> float:
    both = re.search(r"[\"']?instances[\"']?\s*:", head) and re.search(r"[\"']?devices[\"']?\s*:", head)
    if both and re.search(r"[\"']?components[\"']?\s*:", head):
        return 0.95
    devices = re.search(r"[\"']?devices[\"']?\s*:", head) and re.search(r"[\"']?components[\"']?\s*:", head)
    return 0.85 if devices and re.search(r"[\"']?choice[\"']?\s*:", head) else 0.0


def _read(text: str, file: str) -> Imported:
    top = mapping(parse_json(text, file) if text.lstrip()[:1] == "{" else parse_yaml(text, file))
    devices = {d.name: d for d in (_device(mapping(one)) for one in items(top.get("devices"))) if d.name}
    instances = [mapping(one) for one in items(top.get("instances"))]
    if not devices or not instances:
        raise ExchangeError(
            "it has no devices with instances", file=file, remedy="give the whole infrastructure, devices and instances"
        )
    reader = _Reader(MachineDrawing(file, _TITLE, "infragraph"), devices)
    for place, one in enumerate(instances):
        reader.instance(one, f"instances[{place}]")
    reader.fabric(items(top.get("edges")), {text_of(x.get("name")): x for x in map(mapping, items(top.get("links")))})
    return reader.finish(text_of(top.get("description")))


def _device(stated: dict[str, Any]) -> _Device:
    return _Device(
        text_of(stated.get("name")),
        {text_of(c.get("name")): c for c in map(mapping, items(stated.get("components"))) if text_of(c.get("name"))},
        {text_of(x.get("name")): x for x in map(mapping, items(stated.get("links")))},
        [mapping(edge) for edge in items(stated.get("edges"))],
    )


class _Reader:
    """Unfolds a document and draws it."""

    def __init__(self, machine: MachineDrawing, devices: dict[str, _Device]) -> None:
        self.machine, self.devices = machine, devices
        self.counts: dict[str, tuple[str, int]] = {}
        self.graph = _Graph()
        #: names of instances that the document lists, by instance
        self.titles: dict[str, str] = {}
        self.loose = 0

    # -- unfolding ---------------------------------------------------------------------------------------------------

    def instance(self, stated: dict[str, Any], place: str) -> None:
        """All copies of a device."""
        name, device = text_of(stated.get("name")), text_of(stated.get("device"))
        count = self._count(stated.get("count"), place)
        if device not in self.devices:
            raise ExchangeError(
                f"it is of the device {device[:60]!r}, which is not in the document",
                file=self.machine.file,
                place=place,
                remedy="add the device",
            )
        if count * self._size(device) > _MOST:
            raise ExchangeError(
                f"{count:,} of it unfold to more than {_MOST:,} components",
                file=self.machine.file,
                place=place,
                remedy="use fewer",
            )
        self.counts[name] = (device, count)
        server = self._is_server(device)
        listed = _copy_names(text_of(stated.get("description")), count)
        for index in range(count):
            path = f"{name}.{index}"
            if listed:
                self.titles[path] = listed[index]
            self._unfold(path, device, path if server else "", 0)

    def _count(self, value: object, place: str) -> int:
        count = number(str(value)) if value not in (None, "") else 1.0
        if count is None or not 0 <= count <= _MOST or count != int(count):
            raise ExchangeError(
                f"{str(value)[:40]!r} is no count", file=self.machine.file, place=place, remedy=f"use up to {_MOST:,}"
            )
        return int(count)

    def _size(self, device: str, depth: int = 0) -> int:
        """Components of a device, those of devices in it counted, as far as anybody cares."""
        total = 0
        for name, component in self.devices[device].components.items():
            nested = text_of(component.get("choice")) == "device" and name in self.devices and depth < _DEEPEST
            each = self._size(name, depth + 1) if nested else 1
            total = min(total + each * self._count(component.get("count"), f"{device}.{name}"), 2 * _MOST)
        return max(total, 1)

    def _is_switch(self, device: str) -> bool:
        """True if a device is ports and the chips behind them, which some call processors."""
        choices = {text_of(c.get("choice")) for c in self.devices[device].components.values()}
        return "port" in choices and not choices & {"xpu", "nic", "memory", "device"}

    def _is_server(self, device: str, depth: int = 0) -> bool:
        choices = {text_of(c.get("choice")) for c in self.devices[device].components.values()}
        if choices & {"cpu", "xpu"} and not self._is_switch(device):
            return True
        nested = [n for n, c in self.devices[device].components.items() if text_of(c.get("choice")) == "device"]
        return depth < _DEEPEST and any(self._is_server(n, depth + 1) for n in nested if n in self.devices)

    def _unfold(self, path: str, device: str, server: str, depth: int, whole: str = "") -> None:
        """Components of one copy of a device; `whole` is the part that a nested device is as a whole."""
        stated = self.devices[device]
        for name, component in stated.components.items():
            for index in range(self._count(component.get("count"), f"{device}.{name}")):
                here = f"{path}.{name}.{index}"
                if len(self.graph.nodes) >= _MOST:
                    raise ExchangeError(
                        f"it unfolds to more than {_MOST:,} components", file=self.machine.file, remedy="use fewer"
                    )
                if text_of(component.get("choice")) != "device":
                    node = self._node(component, name, server, device)
                    node.into = whole
                    self.graph.nodes[here] = node
                elif name in self.devices and depth < _DEEPEST:
                    self._nested_device(here, name, component, server, depth, whole)
        for edge in stated.edges:
            self._edges(edge, (path, device), (path, device), stated.links)

    def _nested_device(
        self, here: str, name: str, component: dict[str, Any], server: str, depth: int, whole: str
    ) -> None:
        """A device inside another: a card, if no processor is in it."""
        if not whole and not self._is_server(name):
            text = f"{name} {text_of(component.get('description'))}"
            kinds = [text_of(c.get("choice")) for c in self.devices[name].components.values()]
            card = "nic" if "nic" in kinds or re.search(r"nic|cx\d|connectx|bluefield|thor|port", text, re.I) else ""
            if card or "port" in kinds:
                self.graph.nodes[here] = _Node(card or "nic", text, server, name)
                whole = here
        self._unfold(here, name, server, depth + 1, whole)

    def _node(self, component: dict[str, Any], name: str, server: str, device: str) -> _Node:
        choice, description = text_of(component.get("choice")), text_of(component.get("description"))
        text = f"{name} {description}".lower()
        type_id = description if description in load_catalog() else ""
        if type_id:
            return _Node(type_id.split("/")[0], text, server, device, type_id)
        kind = _KIND.get(choice, "")
        if choice == "cpu" and self._is_switch(device):
            kind = "switch"
        elif choice == "switch":
            known = name.split("-")[0]
            stated = next((kind for kind, words in _SWITCHES if re.search(words, text)), "switch" if not server else "")
            kind = known if known in part_kinds() else stated
        elif choice == "custom":
            own = text_of(mapping(component.get("custom")).get("type"))
            kind = own if own in part_kinds() else _THROUGH
        elif choice == "cpu" and name.split("-")[0] == "numa":
            kind = "numa"
        return _Node(kind or (_THROUGH if choice == "port" else "pcie_switch"), text, server, device)

    def _edges(
        self,
        edge: dict[str, Any],
        one: tuple[str, str],
        other: tuple[str, str],
        links: dict[str, dict[str, Any]],
        ends: tuple[str, str] | None = None,
    ) -> None:
        a, b = ends or (_endpoint(mapping(edge.get("ep1"))), _endpoint(mapping(edge.get("ep2"))))
        here, there = list(self._expand(*one, a)), list(self._expand(*other, b))
        scheme, name = text_of(edge.get("scheme")) or "one2one", text_of(edge.get("link"))
        pairs = product(here, there) if scheme == "many2many" else zip(here, there, strict=False)
        if scheme == "ring":
            pairs = zip(here, [*here[1:], here[0]], strict=True) if len(here) > 2 else pairwise(here)
        if not here or not there:
            self.loose += 1
        for x, y in pairs:
            if len(self.graph.edges) >= _MOST:
                raise ExchangeError(
                    f"it unfolds to more than {_MOST:,} edges", file=self.machine.file, remedy="use fewer"
                )
            if x != y:
                self.graph.edges.append((x, y, name, links.get(name, {})))

    def _expand(self, path: str, device: str, endpoint: str) -> Iterator[str]:
        """All components of one copy of a device that an endpoint such as ``card[0:2].port[0]`` names."""
        first, _, rest = endpoint.partition(".")
        found = _ENDPOINT.fullmatch(first.strip())
        component = self.devices[device].components.get(found[1]) if found is not None else None
        if found is None or component is None:
            return
        for index in _indices(found[2], self._count(component.get("count"), f"{device}.{found[1]}")):
            here = f"{path}.{found[1]}.{index}"
            if not rest:
                yield here
            elif found[1] in self.devices:
                yield from self._expand(here, found[1], rest)

    def fabric(self, edges: list[Any], links: dict[str, dict[str, Any]]) -> None:
        """Edges between instances."""
        for edge in map(mapping, edges):
            sides: list[list[tuple[str, str]]] = []
            ends: list[str] = []
            for end in (mapping(edge.get("ep1")), mapping(edge.get("ep2"))):
                found = _ENDPOINT.fullmatch(text_of(end.get("instance")))
                device, count = self.counts.get(found[1], ("", 0)) if found is not None else ("", 0)
                copies = _indices(found[2], count) if found is not None else []
                sides.append([(f"{found[1]}.{i}", device) for i in copies] if found is not None else [])
                ends.append(text_of(end.get("component")))
            self._add_edges(edge, sides, (ends[0], ends[1]), links)

    def _add_edges(
        self,
        edge: dict[str, Any],
        sides: list[list[tuple[str, str]]],
        ends: tuple[str, str],
        links: dict[str, dict[str, Any]],
    ) -> None:
        here = [x for path, device in sides[0] for x in self._expand(path, device, ends[0])]
        there = [y for path, device in sides[1] for y in self._expand(path, device, ends[1])]
        if not here or not there:
            self.loose += 1
            return
        name = text_of(edge.get("link"))
        many = text_of(edge.get("scheme")) == "many2many"
        if many and len(here) * len(there) > _MOST:
            raise ExchangeError(f"it unfolds to more than {_MOST:,} edges", file=self.machine.file, remedy="use fewer")
        for x, y in product(here, there) if many else zip(here, there, strict=False):
            if x != y:
                self.graph.edges.append((x, y, name, links.get(name, {})))

    # -- drawing -----------------------------------------------------------------------------------------------------

    def finish(self, description: str) -> Imported:
        """The design: what passes traffic on joined to its part, links by what they say or join."""
        into = self._merge_components()
        ids = self._parts(into)
        bundles: Counter[tuple[str, str, str]] = Counter()
        stated: dict[tuple[str, str, str], dict[str, Any]] = {}
        for x, y, name, link in self.graph.edges:
            a, b = ids.get(into.get(x, x)), ids.get(into.get(y, y))
            if a is None or b is None:
                self.loose += 1
            elif a != b:
                key = (min(a, b), max(a, b), name)
                bundles[key] += 1
                stated[key] = link
        by_id = {part: node for path, part in ids.items() if (node := self.graph.nodes.get(path)) is not None}
        for (a, b, name), count in bundles.items():
            self._link(a, b, name, count, stated[a, b, name], by_id)
        if self.loose:
            self.machine.note("IMP-EDGES", f"{counted(self.loose, 'edge')} to nothing that is a part: left out")
        return finish(self.machine, description=description[:2000])

    def _merge_components(self) -> dict[str, str]:
        """For every component the part it belongs to: cards swallow what is in them, ports go to their chip."""
        nodes = self.graph.nodes
        into = {path: node.into for path, node in nodes.items() if node.into}
        near: defaultdict[str, list[str]] = defaultdict(list)
        for x, y, _, _ in self.graph.edges:
            near[x].append(y)
            near[y].append(x)

        def rank(path: str) -> tuple[bool, bool]:
            node = nodes.get(path)
            return (node is None or node.kind == _THROUGH, node is None or "switch" not in node.kind)

        todo = [path for path, node in nodes.items() if node.kind == _THROUGH and path not in into]
        for _ in range(_DEEPEST):
            left: list[str] = []
            for path in todo:
                own = path.rsplit(".", 2)[0]
                best = sorted(
                    (p for p in near[path] if p in nodes), key=lambda p: (p.rsplit(".", 2)[0] != own, *rank(p))
                )
                target = next((into.get(p, p) for p in best if nodes[into.get(p, p)].kind != _THROUGH), None)
                if target is None:
                    left.append(path)
                else:
                    into[path] = target
            if len(left) == len(todo):
                break
            todo = left
        return into

    def _parts(self, into: dict[str, str]) -> dict[str, str]:
        machine, ids, servers = self.machine, dict[str, str](), dict[str, str]()
        for path, node in self.graph.nodes.items():
            if path in into or node.kind == _THROUGH:
                continue
            if node.server and node.server not in servers:
                title = self.titles.get(node.server, node.server)
                servers[node.server] = machine.add("server", name=title, attributes={"device": node.device})
            name = self.titles.get(".".join(path.split(".")[:2]), path) if not node.server else ""
            title = part_kinds()[node.kind].title
            device = Device(load_catalog().get(node.type).title or title, node.type) if node.type else None
            parent = servers.get(node.server)
            ids[path] = machine.add(node.kind, parent=parent, name=name, device=device, attributes={"component": path})
        return ids

    def _link(self, a: str, b: str, name: str, count: int, stated: dict[str, Any], nodes: dict[str, _Node]) -> None:
        description = text_of(stated.get("description"))
        own = _OWN.match(description)
        if own is not None and own[3] in link_kinds():
            values = LinkValues(
                kind=own[3],
                count=min(int(own[1]) * count, 100_000) or 1,
                bandwidth_per_direction=write(amount(own[2], "rate"), "rate"),
                status=Status.PRIMARY,
            )
            self.machine.link(a, b, values)
            return
        kinds = {nodes[a].kind, nodes[b].kind}
        kind = next((k for k, words in _LINKS if re.search(words, f"{name} {description}".lower())), _usual(kinds))
        rate, generation = _bandwidth(mapping(mapping(stated.get("physical")).get("bandwidth")))
        if generation and kind == "pcie":
            join_pcie(self.machine, a, b, LinkValues(kind=kind, generation=generation, lanes=16, status=Status.ASSUMED))
            return
        status = Status.PRIMARY if rate else Status.ASSUMED
        spelled = write(rate, "rate") if rate else None
        link = self.machine.link(
            a, b, LinkValues(kind=kind, count=count, bandwidth_per_direction=spelled, status=status)
        )
        if not rate:
            usual = link_kinds()[kind].default_rate
            text = f"the speed of these {link_kinds()[kind].title} links is not in the file: {usual} is assumed"
            self.machine.note("IMP-ASSUMED-LINK", text, link, remedy="set the bandwidth of the links")


def _usual(kinds: set[str]) -> str:
    """The kind of link that such parts are joined by."""
    if "memory" in kinds:
        return "memory_bus"
    if kinds == {"cpu"}:
        return "upi"
    if "nvswitch" in kinds or kinds == {"gpu"}:
        return "nvlink"
    return "ethernet" if kinds & {"switch"} or kinds == {"nic"} else "pcie"


def _bandwidth(stated: dict[str, Any]) -> tuple[float, int]:
    """Rate of a link [B/s], or the PCIe generation its transfer rate is of; zeros where neither is given."""
    for unit, factor in _UNITS.items():
        value = number(str(stated.get(unit, "")))
        if value:
            return value * factor, 0
    return 0.0, GENERATIONS.get(number(str(stated.get("gigatransfers_per_second", ""))) or 0.0, 0)


def _endpoint(stated: dict[str, Any]) -> str:
    device, component = text_of(stated.get("device")), text_of(stated.get("component"))
    return f"{device}.{component}" if device else component


def _copy_names(description: str, count: int) -> list[str]:
    """The names of all copies of an instance, where its description is the list of them: ``servers-[0-31]``."""
    if not _NAMES.fullmatch(description):
        return []
    try:
        names = expand(description)
    except ExchangeError:
        return []
    return names if len(names) == count == len(set(names)) else []


def _indices(text: str | None, count: int) -> list[int]:
    """The members an index or slice in Python's notation names; all of them where there is none."""
    if not text:
        return list(range(count))
    bounds = text.split(":")
    if len(bounds) > 3 or not all(re.fullmatch(r"\s*(-?\d{1,9})?\s*", bound, re.ASCII) for bound in bounds):
        return []
    numbers = [int(bound) if bound.strip() else None for bound in bounds]
    if len(numbers) == 1:
        at = numbers[0]
        return [at % count] if at is not None and count and -count <= at < count else []
    if len(numbers) == 3 and numbers[2] == 0:
        return []
    return list(range(*slice(*numbers).indices(count)))


IMPORTER = Importer("infragraph", "InfraGraph document", (".infragraph.json", ".json", ".yaml"), _sniff, _read)

"""SimGrid platforms: hosts, routers, disks, links and routes, and clusters in the shapes SimGrid knows.

A link of SimGrid is a resource that routes share, not a cable between two points. One that a single route consists of
is drawn as a cable; any other as a switch that can pass as much as the link, joined in the order of the routes.
Sources: SimGrid documentation 4.1, platform description and its example platforms (LGPL-2.1).

A platform of SimGrid: servers and storage are hosts, switches routers; routes are the shortest.

SimGrid takes one route between two nodes, so that all cables between them are one split-duplex link with the rate of
all; a property lists the cables. A host's speed is not what such a platform is for: it is 1 Gf, as the file says.
Latencies are those of the link kinds.
Sources: SimGrid documentation 4.1, platform description; simgrid.dtd.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import combinations, pairwise
from math import prod
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

from designer import atomic
from designer.catalog.parttype import link_kinds
from designer.design.document import Design
from designer.errors import ExchangeError
from designer.fields import Quantity
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.foreign.fabric import FabricDrawing
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.rates import flops, rate, seconds
from designer.interchange.foreign.xml import Element, parse_xml
from designer.interchange.network_view import Cable, network_view
from designer.units import write as spelled

_MOST: Final = 20_000
_MOST_LINKS: Final = 200_000
#: elements with hosts or storage of older platforms
_UNREAD: Final = ("peer", "storage", "storage_type", "include")
_CABLE: Final = re.compile(r"(\d{1,6}) x (\S{1,40}) (\w{1,40})", re.ASCII)
#: rates are written with twelve digits
_ROUNDED: Final = 1e-9


def _sniff(head: str) -> float:
    return 0.95 if re.search(r"<platform\s{1,20}version\s{0,4}=|simgrid\.dtd", head) else 0.0


def _read(text: str, file: str) -> Imported:
    root = parse_xml(text, file, ("platform",)).root
    if root.tag != "platform":
        raise ExchangeError(f"its root is <{root.tag}>", file=file, remedy="give a platform of SimGrid")
    return _Reader(file).run(root)


def _cables(text: str, total: float) -> list[tuple[int, float, str]]:
    """The cables in ``2 x 5e10Bps infiniband; 1 x 1e9Bps ethernet``; none where they are not `total` [B/s] together."""
    found: list[tuple[int, float, str]] = []
    for piece in filter(None, (one.strip() for one in text.split(";"))):
        match = _CABLE.fullmatch(piece)
        each = rate(match[2]) if match is not None else None
        if match is None or each is None or match[3] not in link_kinds() or not 0 < int(match[1]) <= _MOST:
            return []
        found.append((int(match[1]), each, match[3]))
    return found if abs(sum(count * each for count, each, _ in found) - total) <= _ROUNDED * total else []


class _Reader:
    """One platform."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.fabric = FabricDrawing(file, "a SimGrid platform", "simgrid", "fabric")
        #: what a route may name: hosts as their NIC, routers, gateways of clusters
        self.ends: dict[str, str] = {}
        self.links: dict[str, tuple[float, str, str, int]] = {}
        #: the cables a link is made of, where a property lists them: count, rate [B/s], kind
        self.cables: dict[str, list[tuple[int, float, str]]] = {}
        self.routes: list[tuple[str, str, tuple[str, ...], int]] = []
        self.one_way: set[int] = set()
        self.zones: list[Element] = []
        self.unread: Counter[str] = Counter()
        #: links that join a host to the router of its zone
        self.host_links: set[str] = set()
        self.joined: set[frozenset[str]] = set()
        self.count = 0

    def run(self, root: Element) -> Imported:
        """All elements, then the routes between them."""
        for element in root.walk():
            self._element(element)
        for zone in self.zones:
            self._cluster_zone(zone)
        if self.unread:
            what = ", ".join(f"{count} <{tag}>" for tag, count in self.unread.items())
            self.fabric.note("IMP-KIND", f"elements that are not read were left out: {what}")
        if not self.ends:
            raise ExchangeError("it has no host", file=self.file, remedy="give a platform with hosts or clusters")
        self._check_routes()
        self._draw_routes()
        return self.fabric.finish()

    def _refuse(self, text: str, line: int, remedy: str = "check the file with SimGrid") -> ExchangeError:
        return ExchangeError(text, file=self.file, place=f"line {line}", remedy=remedy)

    def _element(self, element: Element) -> None:
        if element.tag == "host":
            self._host(element)
        elif element.tag == "router":
            name = self._new(element.get("id"), element.line)
            self.ends[name] = self.fabric.switch(f"router {name}", name, {"role": "router"})
        elif element.tag == "link":
            name = element.get("id")
            known = self._rate(element.get("bandwidth"), element.line)
            if name in self.links:
                raise self._refuse(f"there are two links {name[:60]!r}", element.line)
            self.links[name] = (known, self._delay(element.get("latency")), element.get("sharing_policy"), element.line)
            listed = next((p.get("value") for p in element.all("prop") if p.get("id") == "cables"), "")
            self.cables[name] = _cables(listed, known)
        elif element.tag in ("route", "zoneRoute", "ASroute"):
            which = ("src", "dst") if element.tag == "route" else ("gw_src", "gw_dst")
            through = tuple(link.get("id") for link in element.all("link_ctn"))
            if element.get("symmetrical").upper() == "NO":
                self.one_way.add(element.line)
            self.routes.append((element.get(which[0]), element.get(which[1]), through, element.line))
        elif element.tag == "cluster":
            self._cluster(element)
        elif element.tag in ("zone", "AS") and element.all("cabinet", "host_link"):
            self.zones.append(element)
        elif element.tag in _UNREAD:
            self.unread[element.tag] += 1

    def _new(self, name: str, line: int) -> str:
        if not name or name in self.ends:
            raise self._refuse(f"there are two of {name[:60]!r}" if name else "something has no id", line)
        if len(self.ends) >= _MOST:
            raise self._refuse(f"it has more than {_MOST:,} hosts and routers", line, "use a smaller platform")
        return name

    def _rate(self, text: str, line: int) -> float:
        known = rate(text)
        if known is None:
            raise self._refuse(f"{text[:40]!r} is no bandwidth", line, "write it with a unit: 125MBps")
        return known

    @staticmethod
    def _delay(text: str) -> str:
        value = seconds(text)
        return spelled(value, "duration") if value else ""

    def _server(self, name: str, speed: str, line: int) -> str:
        """A host and the NIC it is joined by."""
        name = self._new(name, line)
        known = flops(speed.split(",")[0])
        server = self.fabric.host(name, name, {"speed": spelled(known, "flops")} if known else None)
        self.ends[name] = self.fabric.nic(f"nic of {name}", server)
        return server

    def _host(self, element: Element) -> None:
        if any((p.get("id"), p.get("value")) == ("role", "storage") for p in element.all("prop")):
            name = self._new(element.get("id"), element.line)
            self.ends[name] = self.fabric.switch(f"storage {name}", name, kind="storage")
            return
        server = self._server(element.get("id"), element.get("speed") or element.get("power"), element.line)
        machine = self.fabric.machine
        for disk in element.all("disk"):
            values: dict[str, Quantity] = {}
            for name, field in (("read_bw", "read_bandwidth"), ("write_bw", "write_bandwidth")):
                values[field] = machine.fact(spelled(self._rate(disk.get(name), disk.line), "rate"))
            about = {p.get("id"): p.get("value") for p in disk.all("prop")}
            machine.add("drive", parent=server, name=disk.get("id"), attributes=about, overrides=values)

    # -- routes ----------------------------------------------------------------------------------------------------

    def _check_routes(self) -> None:
        """What SimGrid itself refuses: unknown names, and two routes between the same two ends."""
        seen: dict[tuple[str, str], int] = {}
        for src, dst, through, line in self.routes:
            for end in (src, dst):
                if end not in self.ends:
                    raise self._refuse(f"a route names {end[:60]!r}, which is not there", line)
            for link in through:
                if link not in self.links:
                    raise self._refuse(f"a route names the link {link[:60]!r}, which is not there", line)
            ways = [(src, dst)] if line in self.one_way else [(src, dst), (dst, src)]
            for pair in ways:
                if pair in seen and src != dst:
                    raise self._refuse(
                        f"a second route between {src[:40]!r} and {dst[:40]!r}, one is on line {seen[pair]}",
                        line,
                        'write symmetrical="NO" on both, or keep one of them',
                    )
            seen |= dict.fromkeys(ways, line)

    def _draw_routes(self) -> None:  # noqa: C901, PLR0912
        between: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
        for src, dst, through, _ in self.routes:
            for link in through:
                between[link].add(frozenset((src, dst)))
        uses = {link: len(ends) for link, ends in between.items()}
        direct = {through[0] for *_, through, _ in self.routes if len(through) == 1 and uses[through[0]] == 1}
        shared: dict[str, str] = {}
        for name, (known, delay, policy, _) in self.links.items():
            if name not in direct and name not in self.host_links:
                stated = {"role": "link", "latency": delay, "sharing_policy": policy}
                stated = {k: v for k, v in stated.items() if v}
                part = self.fabric.switch(f"link {name}", f"link {name}", stated)
                self._capacity(part, known)
                shared[name] = part
        for src, dst, through, _ in self.routes:
            stops = [(self.ends[src], None), *((shared[link], link) for link in through if link in shared)]
            stops.append((self.ends[dst], None))
            if len(through) == 1 and through[0] in direct:
                if frozenset((self.ends[src], self.ends[dst])) in self.joined:
                    continue
                known, delay, _, _ = self.links[through[0]]
                cables = self.cables[through[0]]
                for count, each, kind in cables:
                    stated = {"link": through[0]}
                    self.fabric.join(
                        self.ends[src], self.ends[dst], each, count=count, kind=kind, latency=delay, attributes=stated
                    )
                if cables:
                    self.joined.add(frozenset((self.ends[src], self.ends[dst])))
                else:
                    self._join(self.ends[src], self.ends[dst], known, delay, through[0])
                continue
            for (a, first), (b, second) in pairwise(stops):
                known = min((self.links[link][0] for link in (first, second) if link is not None), default=None)
                if known is not None:
                    self._join(a, b, known, "", "")
        if shared:
            self.fabric.note(
                "IMP-SHARED-LINKS",
                "links that several routes share, or that follow each other, are drawn as switches that pass as much: "
                "SimGrid does not say where they meet",
                *shared.values(),
                remedy="draw the switches of the real network",
            )

    def _capacity(self, switch: str, known: float) -> None:
        machine = self.fabric.machine
        part = machine.parts[switch]
        value = machine.fact(spelled(known, "rate"), "all traffic of the link together")
        machine.parts[switch] = part.model_copy(
            update={"overrides": {**part.overrides, "bandwidth_per_direction": value}}
        )

    def _join(self, a: str, b: str, known: float, delay: str, name: str) -> None:
        key = frozenset((a, b))
        if key in self.joined and not name:
            return
        self.joined.add(key)
        self.count += 1
        if self.count > _MOST_LINKS:
            raise ExchangeError(f"it has more than {_MOST_LINKS:,} links", file=self.file, remedy="use a smaller one")
        self.fabric.join(a, b, known, latency=delay, attributes={"link": name} if name else None)

    # -- clusters ----------------------------------------------------------------------------------------------------

    def _cluster(self, element: Element) -> None:
        line, known = element.line, self._rate(element.get("bw"), element.line)
        numbers = self._radical(element.get("radical"), line)
        names = [f"{element.get('prefix')}{n}{element.get('suffix')}" for n in numbers]
        for name in names:
            self._server(name, element.get("speed"), line)
        shape = element.get("topology").upper() or "FLAT"
        delay = self._delay(element.get("lat"))
        draw = {"FLAT": self._flat, "FAT_TREE": self._fat_tree, "TORUS": self._torus, "DRAGONFLY": self._dragonfly}
        if shape not in draw:
            raise self._refuse(f"a cluster of shape {shape[:40]!r}", line, f"read are {', '.join(draw)}")
        draw[shape](element, names, known, delay)

    def _cluster_zone(self, zone: Element) -> None:
        """Cabinets of hosts, or hosts with links of their own, on one router; a backbone limits what it passes."""
        name = zone.get("id")
        routers = zone.all("router")
        if routers:
            gateway = self.ends[routers[0].get("id")]
        else:
            called = self._new(f"{name}_router", zone.line)
            gateway = self.ends[called] = self.fabric.switch(f"router {called}", called, {"role": "router"})
        for backbone in zone.all("backbone"):
            self._capacity(gateway, self._rate(backbone.get("bandwidth"), backbone.line))
        for cabinet in zone.all("cabinet"):
            known, delay = self._rate(cabinet.get("bw"), cabinet.line), self._delay(cabinet.get("lat"))
            for number in self._radical(cabinet.get("radical"), cabinet.line):
                host = f"{cabinet.get('prefix')}{number}{cabinet.get('suffix')}"
                server = self._server(host, cabinet.get("speed"), cabinet.line)
                part = self.fabric.machine.parts[server]
                stated = {**part.attributes, "cabinet": cabinet.get("id")}
                self.fabric.machine.parts[server] = part.model_copy(update={"attributes": stated})
                self._join(self.ends[host], gateway, known, delay, f"{host}_link")
        for joined in zone.all("host_link"):
            host = joined.get("id")
            # a split-duplex link is named with its direction
            ways = [joined.get(way).removesuffix(f"_{way.upper()}") for way in ("up", "down")]
            named = [way if way in self.links else joined.get(at) for way, at in zip(ways, ("up", "down"), strict=True)]
            if host not in self.ends or any(way not in self.links for way in named):
                raise self._refuse(f"<host_link> of {host[:60]!r} names a host or link that is not there", joined.line)
            self.host_links |= set(named)
            slower = min((self.links[way] for way in named), key=lambda link: link[0])
            self._join(self.ends[host], gateway, slower[0], slower[1], named[0])

    def _radical(self, text: str, line: int) -> list[int]:
        numbers: list[int] = []
        for piece in text.split(","):
            found = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9}))?\s*", piece, re.ASCII)
            low, high = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
            if high < low or high - low >= _MOST or len(numbers) > _MOST:
                raise self._refuse(f"the radical {text[:40]!r}", line, f"write 0-15,20, up to {_MOST:,} hosts")
            numbers += range(low, high + 1)
        return numbers

    def _flat(self, element: Element, names: list[str], known: float, delay: str) -> None:
        """All hosts on one router; a backbone is what the router can pass."""
        cluster = element.get("id")
        gateway = element.get("router_id") or f"{element.get('prefix')}{cluster}_router{element.get('suffix')}"
        gateway = self._new(gateway, element.line)
        self.ends[gateway] = self.fabric.switch(f"router {gateway}", gateway, {"role": "router", "cluster": cluster})
        if element.get("bb_bw"):
            self._capacity(self.ends[gateway], self._rate(element.get("bb_bw"), element.line))
        for name in names:
            self._join(self.ends[name], self.ends[gateway], known, delay, f"{name}_link")

    def _switches(self, cluster: str, what: str, count: int, line: int) -> list[str]:
        if count > _MOST or count < 1:
            raise self._refuse(f"the cluster has {count:,} switches", line)
        return [self.fabric.switch(f"{cluster} {what} {i}", f"{cluster} {what} {i}") for i in range(count)]

    def _numbers(self, text: str, line: int) -> list[int]:
        words = [w.strip() for w in text.split(",")]
        if not all(w.isascii() and w.isdigit() and 0 < len(w) < 7 and int(w) > 0 for w in words):
            raise self._refuse(f"the parameters {text[:60]!r}", line, "give topo_parameters as SimGrid documents them")
        return [int(w) for w in words]

    def _parameters(self, element: Element, fields: int) -> list[list[int]]:
        found = [self._numbers(p, element.line) for p in element.get("topo_parameters").split(";")]
        if len(found) != fields:
            raise self._refuse(f"the cluster has {len(found)} parameters, its shape takes {fields}", element.line)
        return found

    def _require_count(self, total: int, names: list[str], line: int) -> None:
        if total != len(names):
            raise self._refuse(f"the parameters make {total:,} hosts, the radical {len(names):,}", line)

    def _fat_tree(self, element: Element, names: list[str], known: float, delay: str) -> None:
        """Levels, switches down and up of each, and parallel cables: a subtree meets all switches of its tree above."""
        levels, down, up, parallel = self._parameters(element, 4)
        depth = levels[0]
        if {len(down), len(up), len(parallel)} != {depth}:
            raise self._refuse(f"the parameters name {depth} levels and give others", element.line)
        self._require_count(prod(down), names, element.line)
        below = [self.ends[name] for name in names]
        cluster = element.get("id")
        for level in range(depth):
            above = prod(up[: level + 1]) * prod(down[level + 1 :])
            made = self._switches(cluster, f"level {level + 1} switch", above, element.line)
            # nodes of one subtree below are consecutive; each meets `up` switches of its subtree above
            width, share = prod(up[:level]), prod(up[: level + 1])
            for n, end in enumerate(below):
                tree, place = divmod(n, width)
                for k in range(up[level]):
                    self.count += 1
                    target = made[tree // down[level] * share + k * width + place]
                    self.fabric.join(end, target, known, count=parallel[level], latency=delay)
                if self.count > _MOST_LINKS:
                    raise self._refuse(f"it has more than {_MOST_LINKS:,} links", element.line)
            below = made

    def _torus(self, element: Element, names: list[str], known: float, delay: str) -> None:
        """A router for each host, joined to its neighbours in every dimension."""
        (shape,) = self._parameters(element, 1)
        self._require_count(prod(shape), names, element.line)
        routers = self._switches(element.get("id"), "router", len(names), element.line)
        for name, router in zip(names, routers, strict=True):
            self._join(self.ends[name], router, known, delay, f"{name} to its router")
        stride = 1
        for size in shape:
            for n, router in enumerate(routers):
                at = n // stride % size
                if size > 2 or (size == 2 and at == 0):
                    self._join(router, routers[n + ((at + 1) % size - at) * stride], known, delay, f"{n} along {size}")
            stride *= size

    def _dragonfly(self, element: Element, names: list[str], known: float, delay: str) -> None:
        """Groups of chassis of routers: all to all in a chassis, across chassis in a column, and between groups."""
        found = self._parameters(element, 4)
        groups, chassis, routers, nodes = (p[0] for p in found)
        blue, black, green = (p[1] if len(p) > 1 else 1 for p in found[:3])
        self._require_count(groups * chassis * routers * nodes, names, element.line)
        made = self._switches(element.get("id"), "router", groups * chassis * routers, element.line)
        for n, name in enumerate(names):
            self._join(self.ends[name], made[n // nodes], known, delay, f"{name} to its router")
        at: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for g in range(groups):
            base = g * chassis * routers
            for c in range(chassis):
                row = range(base + c * routers, base + (c + 1) * routers)
                at["green"] += [(a, b, green) for a, b in combinations(row, 2)]
            for r in range(routers):
                column = range(base + r, base + chassis * routers, routers)
                at["black"] += [(a, b, black) for a, b in combinations(column, 2)]
        per_group = chassis * routers
        at["blue"] = [
            (a * per_group + b % per_group, b * per_group + a % per_group, blue)
            for a, b in combinations(range(groups), 2)
        ]
        for colour, pairs in at.items():
            for a, b, count in pairs:
                self.count += 1
                if self.count > _MOST_LINKS:
                    raise self._refuse(f"it has more than {_MOST_LINKS:,} links", element.line)
                self.fabric.join(made[a], made[b], known, count=count, latency=delay, attributes={"colour": colour})


IMPORTER = Importer("simgrid", "SimGrid platform", (".xml",), _sniff, _read)

#: properties that say what SimGrid has no place for
ROLE: Final = "role"
STORAGE: Final = "storage"
CABLES: Final = "cables"


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the platform."""
    del options
    view = network_view(design)
    lines = [
        "<?xml version='1.0'?>",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        "<!-- speed of hosts: 1 Gf, not known; bandwidth: all cables between two nodes together -->",
        '<platform version="4.1">',
        '  <zone id="world" routing="Dijkstra">',
    ]
    for node in view.nodes:
        if node.switch:
            lines.append(f"    <router id={quoteattr(node.name)}/>")
        elif node.storage:
            lines.append(
                f'    <host id={quoteattr(node.name)} speed="1Gf"><prop id="{ROLE}" value="{STORAGE}"/></host>'
            )
        else:
            lines.append(f'    <host id={quoteattr(node.name)} speed="1Gf"/>')
    bundles: dict[tuple[int, int], list[Cable]] = {}
    for cable in view.cables:
        bundles.setdefault((min(cable.a, cable.b), max(cable.a, cable.b)), []).append(cable)
    for n, cables in enumerate(bundles.values()):
        latency = max(link_kinds()[cable.kind].latency.value for cable in cables) * 1e9
        bandwidth = f"{sum(cable.rate * cable.count for cable in cables):.12g}Bps"
        equal = Counter[tuple[float, str]]()
        for cable in cables:
            equal[cable.rate, cable.kind] += cable.count
        made_of = "; ".join(f"{count} x {rate:.12g}Bps {kind}" for (rate, kind), count in equal.items())
        lines.append(
            f'    <link id="cable{n}" bandwidth="{bandwidth}" latency="{latency:.6g}ns" sharing_policy="SPLITDUPLEX">'
            f'<prop id="{CABLES}" value="{made_of}"/></link>'
        )
    for n, (one, other) in enumerate(bundles):
        for a, b, way in ((one, other, "UP"), (other, one, "DOWN")):
            src, dst = quoteattr(view.nodes[a].name), quoteattr(view.nodes[b].name)
            lines.append(
                f'    <route src={src} dst={dst} symmetrical="NO"><link_ctn id="cable{n}" direction="{way}"/></route>'
            )
    lines += ["  </zone>", "</platform>"]
    return atomic.write(path, ("\n".join(lines) + "\n").encode("utf-8"))


EXPORTER = Exporter("simgrid", ".simgrid.xml", "SimGrid platform", write)

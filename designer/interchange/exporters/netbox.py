"""Device types and cables for NetBox."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from designer import atomic
from designer.design.document import Design, Part
from designer.design.elaborate import elaborate
from designer.design.selectors import natural_key
from designer.errors import ExchangeError
from designer.interchange.exporters._exporter import Exporter, ExportOptions, without_formula
from designer.interchange.foreign.rates import LANE_RATES
from designer.interchange.network_view import interface_name, network_view, one_line
from designer.units import parse

_COLUMNS = (
    "side_a_device",
    "side_a_type",
    "side_a_name",
    "side_b_device",
    "side_b_type",
    "side_b_name",
    "status",
    "label",
)


_INTERFACE = "dcim.interface"


def write_cables(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write every cable."""
    del options
    view = network_view(design)
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow(_COLUMNS)
    for number, cable in enumerate(view.singles(), start=1):
        ends = [(view.nodes[end].name, port) for end, port in ((cable.a, cable.a_port), (cable.b, cable.b_port))]
        row = [cell for name, port in ends for cell in (name, _INTERFACE, interface_name(port))]
        sheet.writerow([without_formula(cell) for cell in (*row, "planned", f"{cable.kind} {number}")])
    return atomic.write(path, out.getvalue().encode("utf-8", "replace"))


#: slugs of Ethernet ports by rate [Gb/s]; of those that take modules the usual one
_ETHERNET: Final = {
    1: "1000base-t",
    10: "10gbase-x-sfpp",
    25: "25gbase-x-sfp28",
    40: "40gbase-x-qsfpp",
    50: "50gbase-x-sfp56",
    100: "100gbase-x-qsfp28",
    200: "200gbase-x-qsfp56",
    400: "400gbase-x-osfp",
    800: "800gbase-x-osfp",
}


_MOST_PORTS: Final = 4096


_LANES: Final = 4


_KINDS: Final = ("switch", "server", "storage")


def write_types(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write one document for each type, those of switches first.

    Raises
    ------
    ExchangeError
        If the design has no switches, servers or storage.
    """
    del options
    documents = _documents(design)
    if not documents:
        raise ExchangeError("the design has no switches, servers or storage", remedy="NetBox describes those")
    notes: list[str] = []
    texts = [yaml.safe_dump(one, sort_keys=False, allow_unicode=True, width=100) for one in documents]
    if len(texts) > 1:
        notes.append(f"{len(texts)} device types, separated by ---: NetBox takes them all at once")
    return (*atomic.write(path, "---\n".join(texts).encode("utf-8", "replace")), *notes)


def _documents(design: Design) -> list[dict[str, Any]]:
    net = elaborate(design)
    cabled = _cabled_interfaces(design)
    first: dict[str, Part] = {}
    ports: dict[str, dict[str, tuple[str, int]]] = {}
    for kind in _KINDS:
        for definition, part in enumerate(net.part_defs):
            if part.kind != kind or (kind == "storage" and definition not in cabled):
                continue
            key = part.type or f"{kind} {part.label}"
            first.setdefault(key, part)
            ports[key] = cabled.get(definition, {}) | ports.get(key, {})
    return [_device_type(design, part, ports[key]) for key, part in first.items()]


def _cabled_interfaces(design: Design) -> dict[int, dict[str, tuple[str, int]]]:
    """Network and rate [Gb/s] of each cabled interface, by its name, that switches or servers of a definition have."""
    net = elaborate(design)
    try:
        view = network_view(design)
    except ExchangeError:
        return {}
    found: dict[int, dict[str, tuple[str, int]]] = {}
    for cable in view.singles():
        for end, port in ((cable.a, cable.a_port), (cable.b, cable.b_port)):
            ports = found.setdefault(int(net.part_def[view.nodes[end].part]), {})
            if len(ports) < _MOST_PORTS:
                ports.setdefault(interface_name(port), (cable.kind, round(cable.rate * 8 / 1e9)))
    return found


def _device_type(design: Design, part: Part, cabled: Mapping[str, tuple[str, int]]) -> dict[str, Any]:
    part_type = design.part_types.get(part.type)
    vendor = (part_type.vendor if part_type is not None else "") or "Unknown"
    stated = design.quantity(part, "vendor_model")
    title = str(stated.value) if stated is not None else part_type.title if part_type is not None else part.label
    model = one_line(title.removeprefix(f"{vendor} "))[:100] or part.kind
    height = design.quantity(part, "height")
    whole = height is not None and isinstance(height.value, int)
    document: dict[str, Any] = {
        "manufacturer": one_line(vendor)[:100],
        "model": model,
        "slug": _slug(f"{vendor}-{model}"),
        "u_height": height.value if height is not None and whole else 1,
        "is_full_depth": True,
    }
    comments: list[str] = []
    if not whole:
        comments.append("the height is not known: 1 U is put in")
    if part_type is None:
        comments.append("the type of this part is not in the catalog")
    power = _power(design, part)
    supplies = _supplies(part)
    if supplies:
        share = {"maximum_draw": math.ceil(power / supplies)} if power else {}
        document["power-ports"] = [{"name": f"PSU{n}", **share} for n in range(1, supplies + 1)]
    if power:
        how = f"shared by {supplies} power supplies" if supplies else "the number of power supplies is not known"
        comments.append(f"the largest draw of the machine is {power} W, {how}")
    interfaces = _interfaces(design, part, cabled)
    if interfaces:
        document["interfaces"] = interfaces
    if comments:
        document["comments"] = " ".join(f"{one[:1].upper()}{one[1:]}." for one in comments)
    return document


def _interfaces(design: Design, part: Part, cabled: Mapping[str, tuple[str, int]]) -> list[dict[str, Any]]:
    """Interfaces by the names that cables have, and all others that the type has."""
    ports, rate = design.quantity(part, "ports"), design.quantity(part, "port_bandwidth_per_direction")
    technology = design.quantity(part, "technology")
    rows = {name: _slug_of(network, gigabits) for name, (network, gigabits) in cabled.items()}
    if ports is not None and isinstance(ports.value, int) and rate is not None and ports.value <= _MOST_PORTS:
        gigabits = round(parse(rate.value, "rate") * 8 / 1e9)
        network = "infiniband" if technology is not None and "InfiniBand" in str(technology.value) else "ethernet"
        slug = _slug_of(network, gigabits)
        rows = dict.fromkeys(rows, slug)
        free = (name for n in range(1, 2 * _MOST_PORTS) if (name := interface_name(str(n))) not in cabled)
        rows |= {next(free): slug for _ in range(ports.value - len(rows))}
    return [{"name": name, "type": slug} for name, slug in sorted(rows.items(), key=lambda row: natural_key(row[0]))]


def _slug_of(network: str, gigabits: int) -> str:
    if network == "infiniband":
        lane = {round(rate * _LANES / 1e9): name for name, rate in LANE_RATES.items()}
        return f"infiniband-{lane[gigabits].lower()}" if gigabits in lane else "other"
    return _ETHERNET.get(gigabits, "other")


def _power(design: Design, part: Part) -> int:
    stated = design.quantity(part, "power_max")
    return round(parse(stated.value, "power")) if stated is not None else 0


def _supplies(part: Part) -> int:
    """Power supplies that a device type the part was imported from lists; 0 where nothing counts them."""
    listed = part.attributes.get("power-ports", "")
    return int(listed) if listed.isascii() and listed.isdigit() and len(listed) < 3 else 0


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:100] or "unknown"


EXPORTERS: Final = (
    Exporter("netbox-cables", ".cables.csv", "NetBox cables", write_cables),
    Exporter("netbox-type", ".netbox.yaml", "NetBox device types", write_types),
)

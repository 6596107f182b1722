"""Device and module types of NetBox: chassis, ports, watts and bays, and nothing of what is inside a chassis.

Records of the public library are written by hand and some are wrong, so what is read is a template of ports: rates
are as the interface types say, bays are listed and never filled.
Sources: netbox-community/devicetype-library, schema/devicetype.json and moduletype.json (CC0).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from designer.design.gaps import CONTENTS, UNKNOWN
from designer.errors import ExchangeError
from designer.fields import Quantity
from designer.interchange.foreign.devices import Device
from designer.interchange.foreign.finishing import finish
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.machine import MachineDrawing, type_for
from designer.interchange.foreign.rates import VIRTUAL, interface, number
from designer.interchange.foreign.yaml_text import items, mapping, parse_yaml, text_of
from designer.plain_text import counted
from designer.sources import Status
from designer.units import write

_MOST_PORTS: Final = 4096
_SERVER: Final = re.compile(
    r"\b(?:dgx|hgx|poweredge|superserver|proliant|server|workstation|sys-|as-\d)", re.IGNORECASE
)
_SWITCH: Final = re.compile(r"\b(?:switch|nexus|spectrum|quantum|arista|qm\d|sn\d|sb\d|dcs-|n9k)", re.IGNORECASE)
_INSIDE: Final = re.compile(r"\b(?:gpu|cpu|dimm|drive|riser)", re.IGNORECASE)
#: a chassis with so many equal data ports and nothing inside is a switch
_MANY: Final = 12
_LISTS: Final = (
    "console-ports",
    "console-server-ports",
    "power-ports",
    "power-outlets",
    "interfaces",
    "front-ports",
    "rear-ports",
    "module-bays",
    "device-bays",
    "inventory-items",
)


def _sniff(head: str) -> float:
    keys = {m[1] for m in re.finditer(r"^([a-z_-]{3,24})\s*:", head, re.MULTILINE)}
    if {"manufacturer", "model"} <= keys:
        return 0.95 if keys & {"slug", "u_height", "interfaces", "module-bays", "part_number"} else 0.6
    return 0.0


def _read(text: str, file: str) -> Imported:
    top = parse_yaml(text, file)
    if not isinstance(top, dict) or not text_of(top.get("model")):
        raise ExchangeError("it names no model", file=file, remedy="give one device type or module type of NetBox")
    return _Reader(top, file).run()


class _Reader:
    """One type."""

    def __init__(self, top: Mapping[str, Any], file: str) -> None:
        self.top = top
        self.machine = MachineDrawing(file, "a NetBox type", "netbox")
        self.model = text_of(top.get("model"))
        self.maker = text_of(top.get("manufacturer"))
        self.ports = [mapping(p) for p in items(top.get("interfaces"))]
        if len(self.ports) > _MOST_PORTS:
            raise ExchangeError(f"it has more than {_MOST_PORTS} interfaces", file=file, remedy="check the file")

    def run(self) -> Imported:
        """The part, or the server and its NICs."""
        data = [p for p in self.ports if not _management(p) and text_of(p.get("type")) not in VIRTUAL]
        stated = self._attributes()
        if "slug" not in self.top and "u_height" not in self.top:
            self._nic(data, stated)
        elif self._is_switch(data):
            self._switch(data, stated)
        else:
            self._server(data, stated)
        self._note_findings()
        return finish(self.machine, f"{self.maker} {self.model}".strip())

    def _is_switch(self, data: list[dict[str, Any]]) -> bool:
        name = f"{self.maker} {self.model} {text_of(self.top.get('slug'))}"
        bays = " ".join(text_of(mapping(b).get("name")) for b in items(self.top.get("module-bays")))
        if _SERVER.search(name) or _INSIDE.search(bays):
            return False
        usual = Counter(text_of(p.get("type")) for p in data).most_common(1)
        return bool(_SWITCH.search(name)) or bool(usual and usual[0][1] >= _MANY)

    def _attributes(self) -> dict[str, str]:
        """What a part has no field for, counts of ports and bays first."""
        stated = {
            "manufacturer": self.maker,
            "model": self.model,
            "part_number": text_of(self.top.get("part_number")),
            "airflow": text_of(self.top.get("airflow")),
            "slug": text_of(self.top.get("slug")),
        }
        weight = text_of(self.top.get("weight"))
        stated["weight"] = f"{weight} {text_of(self.top.get('weight_unit'))}".strip() if weight else ""
        stated["interfaces"] = str(len(self.ports))
        for slug, count in Counter(text_of(p.get("type")) for p in self.ports).items():
            stated[f"interfaces.{slug}"] = str(count)
        stated["mgmt_only"] = str(sum(_management(p) for p in self.ports))
        for name in _LISTS:
            if name != "interfaces" and items(self.top.get(name)):
                stated[name] = str(len(items(self.top.get(name))))
        for bay in map(mapping, items(self.top.get("module-bays"))):
            stated[f"bay {text_of(bay.get('name'))}"] = text_of(bay.get("description")) or text_of(bay.get("position"))
        return {name: value for name, value in stated.items() if value}

    def _watts(self) -> dict[str, Quantity]:
        """What the supplies may draw together: above the truth where one of them is a spare."""
        draws = [number(text_of(mapping(p).get("maximum_draw"))) for p in items(self.top.get("power-ports"))]
        known = [d for d in draws if d]
        if not known:
            return {}
        note = f"{len(known)} supplies together; less where some are spares"
        fact = self.machine.fact(write(sum(known), "power"), note, Status.UNVERIFIED)
        return {"power_max": fact}

    def _height(self) -> dict[str, Quantity]:
        height = number(text_of(self.top.get("u_height")))
        if not height:
            return {}
        if height != int(height):
            text = f"a height of {height:g} units: parts are counted in whole units, rounded up"
            self.machine.note("IMP-HEIGHT", text)
        return {"height": self.machine.fact(int(-(-height // 1)))}

    def _device(self, kind: str) -> Device | None:
        found = type_for(kind, self.model) or type_for(kind, f"{kind}/{self.maker}/{self.model}".lower())
        return Device(f"{self.maker} {self.model}", found.id) if found is not None else None

    def _switch(self, data: list[dict[str, Any]], stated: dict[str, str]) -> None:
        values: dict[str, Quantity] = {**self._height(), **self._watts()}
        usual = Counter(text_of(p.get("type")) for p in data).most_common(1)
        if usual:
            slug, count = usual[0]
            rate = interface(slug)[1]
            values["ports"] = self.machine.fact(count)
            if rate:
                values["port_bandwidth_per_direction"] = self.machine.fact(write(rate, "rate"))
            others = len(data) - count
            if others:
                what = counted(others, "data port of another type", "data ports of other types")
                text = f"{what} than {slug} {'is' if others == 1 else 'are'} kept in the attributes, not as ports"
                self.machine.note("IMP-PORT-TYPES", text, "switch0")
        device = self._device("switch")
        self.machine.add("switch", name=self.model, device=device, attributes=stated, overrides=values)

    def _server(self, data: list[dict[str, Any]], stated: dict[str, str]) -> None:
        values = {**self._height(), **self._watts()}
        values["vendor_model"] = self.machine.fact(f"{self.maker} {self.model}".strip())
        stated = {UNKNOWN: CONTENTS, **stated}
        server = self.machine.add("server", name=self.model, attributes=stated, overrides=values)
        for port in data:
            self._port(port, server)

    def _port(self, port: dict[str, Any], server: str) -> None:
        slug = text_of(port.get("type"))
        rate = interface(slug)[1]
        values: dict[str, Quantity] = {"ports": self.machine.fact(1)}
        if rate:
            values["port_bandwidth_per_direction"] = self.machine.fact(write(rate, "rate"))
        attributes = {"interface_type": slug, "description": text_of(port.get("description"))}
        kept = {k: v for k, v in attributes.items() if v}
        self.machine.add("nic", parent=server, name=text_of(port.get("name")), attributes=kept, overrides=values)

    def _nic(self, data: list[dict[str, Any]], stated: dict[str, str]) -> None:
        """A module with ports is a NIC; one without is no part of a design."""
        if not data:
            raise ExchangeError(
                "a module type without ports is no part of a design",
                file=self.machine.file,
                remedy="import a device type, or a module type with interfaces",
            )
        rates = [interface(text_of(p.get("type")))[1] or 0.0 for p in data]
        values: dict[str, Quantity] = {"ports": self.machine.fact(len(data))}
        if min(rates) == max(rates) > 0:
            values["port_bandwidth_per_direction"] = self.machine.fact(write(rates[0], "rate"))
        self.machine.add("nic", name=self.model, device=self._device("nic"), attributes=stated, overrides=values)

    def _note_findings(self) -> None:
        note = self.machine.note
        note(
            "IMP-TEMPLATE",
            "a record of this library is written by hand and may be wrong: check ports "
            "and watts against the vendor's sheet",
        )
        for name in _LISTS:
            names = Counter(text_of(mapping(one).get("name")) for one in items(self.top.get(name)))
            twice = [n for n, times in names.items() if times > 1 and n]
            if twice:
                text = f"{name} lists {', '.join(twice[:3])} more than once: the record is wrong somewhere"
                note("IMP-TWICE", text)
        supplies = len(items(self.top.get("power-ports")))
        bays = [b for b in items(self.top.get("module-bays")) if re.search(r"psu|power", _name(b), re.IGNORECASE)]
        if supplies and bays and supplies != len(bays):
            text = f"{counted(supplies, 'power port')} but {counted(len(bays), 'bay')} for power supplies"
            text += ": the record is wrong somewhere"
            note("IMP-SUPPLIES", text)


def _name(bay: object) -> str:
    return text_of(mapping(bay).get("name"))


def _management(port: Mapping[str, Any]) -> bool:
    return text_of(port.get("mgmt_only")).lower() in ("true", "yes", "on", "1")


IMPORTER = Importer("netbox-type", "NetBox device or module type", (".yaml", ".yml"), _sniff, _read)

"""Cables of NetBox: a data dump with devices, interfaces and cables, or the CSV it imports cables from.

A cable to a patch panel is followed through its front and rear ports to the far end. Power and console cables and
circuits that leave the site are counted and left out: a design has no place for them.
Sources: netbox-community/netbox, dcim models and bulk import of cables; netbox-community/netbox-demo-data (MIT).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from designer.errors import ExchangeError
from designer.interchange.foreign.fabric import FabricDrawing
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.json_text import objects, parse_json, string
from designer.interchange.foreign.rates import interface, is_server
from designer.plain_text import counted
from designer.workload.text_files import csv_errors

_PANEL: Final = ("frontport", "rearport")
_MOST_HOPS: Final = 32
_MOST: Final = 200_000
#: one end of a cable: what it is and its number
_End = tuple[str, int]


def _sniff(head: str) -> float:
    if re.search(r"\A\s*side_a_device\s*,|\A[^\n]{0,200}\bside_a_name\b", head):
        return 0.95
    return 0.95 if re.search(r"\"model\"\s*:\s*\"dcim\.", head) else 0.0


def _read(text: str, file: str) -> Imported:
    if text.lstrip().startswith(("[", "{")):
        return _Dump(parse_json(text, file), file).run()
    return _from_csv(text, file)


class _Dump:
    """A data dump: records by model and number."""

    def __init__(self, content: object, file: str) -> None:
        self.file = file
        self.by: dict[str, dict[int, dict[str, Any]]] = {}
        for record in objects(content):
            model, number, fields = string(record.get("model")).lower(), record.get("pk"), record.get("fields")
            if isinstance(number, int) and isinstance(fields, dict):
                self.by.setdefault(model.removeprefix("dcim."), {})[number] = fields
        self.fabric = FabricDrawing(file, "a NetBox data dump", "netbox", "ethernet")
        self.drawn: dict[str, dict[int, str]] = {"switch": {}, "server": {}}

    def run(self) -> Imported:
        """All cables between interfaces, through panels where there are some."""
        ends = self._ends()
        if not ends:
            raise ExchangeError(
                "it has no cable with two ends", file=self.file, remedy="dump dcim.cable and dcim.cabletermination too"
            )
        self.partner: dict[_End, list[_End]] = {}
        for a, b in ends.values():
            for one in a:
                self.partner.setdefault(one, []).extend(b)
            for one in b:
                self.partner.setdefault(one, []).extend(a)
        left: Counter[str] = Counter()
        done: set[tuple[_End, _End]] = set()
        for cable, (a, b) in sorted(ends.items()):
            for one in a:
                for other in b:
                    self._cable(cable, one, other, left, done)
        total = sum(left.values())
        if total:
            what = ", ".join(f"{n} {name}" for name, n in left.most_common())
            self.fabric.note("IMP-OTHER-CABLES", f"{counted(total, 'cable was', 'cables were')} left out: {what}")
        return self.fabric.finish()

    def _ends(self) -> dict[int, tuple[list[_End], list[_End]]]:
        ends: dict[int, tuple[list[_End], list[_End]]] = {}
        for one in self.by.get("cabletermination", {}).values():
            kind, number, cable = one.get("termination_type"), one.get("termination_id"), one.get("cable")
            name = kind[-1] if isinstance(kind, list) and kind else string(kind)
            if not isinstance(number, int) or not isinstance(cable, int):
                continue
            sides = ends.setdefault(cable, ([], []))
            sides[0 if one.get("cable_end") == "A" else 1].append((string(name).rpartition(".")[2], number))
        # before 3.3 a cable carried its two ends itself
        for cable, one in self.by.get("cable", {}).items():
            if cable not in ends and isinstance(one.get("termination_a_id"), int):
                a, b = (
                    (string(one.get(f"termination_{s}_type", [""])[-1]), one.get(f"termination_{s}_id")) for s in "ab"
                )
                ends[cable] = ([(a[0], int(a[1] or 0))], [(b[0], int(b[1] or 0))])
        return {cable: sides for cable, sides in ends.items() if sides[0] and sides[1]}

    def _cable(self, cable: int, a: _End, b: _End, left: Counter[str], done: set[tuple[_End, _End]]) -> None:
        kinds = {a[0], b[0]}
        if "powerport" in kinds or "poweroutlet" in kinds or "powerfeed" in kinds:
            left["power cables"] += 1
            return
        if any(kind.startswith("console") for kind in kinds):
            left["console cables"] += 1
            return
        if "circuittermination" in kinds:
            left["circuits that leave the site"] += 1
            return
        if "interface" not in kinds:
            left["cables between panels, part of longer ones"] += 1
            return
        start, other = (a, b) if a[0] == "interface" else (b, a)
        far, via = self._follow(other)
        if far is None:
            left["cables that end at a panel"] += 1
            return
        key = (start, far) if start <= far else (far, start)
        if key not in done:
            done.add(key)
            self._join(cable, start, far, via)

    def _follow(self, end: _End) -> tuple[_End | None, list[str]]:
        """The interface behind an end, through the front and rear ports of panels."""
        via: list[str] = []
        for _ in range(_MOST_HOPS):
            if end[0] == "interface":
                return end, via
            if end[0] not in _PANEL:
                return None, via
            fields = self.by.get(end[0], {}).get(end[1], {})
            via.append(self._name(fields.get("device")))
            if end[0] == "frontport":
                through = [("rearport", fields.get("rear_port"))]
            else:
                fronts = self.by.get("frontport", {}).items()
                through = [("frontport", n) for n, front in fronts if front.get("rear_port") == end[1]]
            nexts = [p for kind, n in through if isinstance(n, int) for p in self.partner.get((kind, n), [])]
            if len(nexts) != 1:
                return None, via
            end = nexts[0]
        return None, via

    def _join(self, cable: int, a: _End, b: _End, via: list[str]) -> None:
        ports = [self.by.get("interface", {}).get(end[1], {}) for end in (a, b)]
        kinds = [interface(string(port.get("type"))) for port in ports]
        rates = [rate for _, rate in kinds if rate]
        about = self.by.get("cable", {}).get(cable, {})
        stated = {"cable": str(cable), "cable_type": string(about.get("type")), "label": string(about.get("label"))}
        length = string(about.get("length"))
        stated["length"] = f"{length} {string(about.get('length_unit'))}".strip() if length else ""
        stated["via"] = ", ".join(v for v in via if v)
        ends = [self._part(port, end[1]) for port, end in zip(ports, (a, b), strict=True)]
        self.fabric.join(
            ends[0],
            ends[1],
            min(rates) if rates else None,
            kind=kinds[0][0],
            ports=(string(ports[0].get("name")), string(ports[1].get("name"))),
            attributes={k: v for k, v in stated.items() if v},
        )

    def _record(self, model: str, number: object) -> dict[str, Any]:
        return self.by.get(model, {}).get(number, {}) if isinstance(number, int) else {}

    def _name(self, number: object) -> str:
        return string(self._record("device", number).get("name"))

    def _part(self, port: Mapping[str, Any], number: int) -> str:
        """The switch an interface belongs to, or the NIC it is in its server."""
        device = port.get("device")
        fields = self._record("device", device)
        role = self._record("devicerole", fields.get("device_role", fields.get("role")))
        model = self._record("devicetype", fields.get("device_type"))
        rack = self._record("rack", fields.get("rack"))
        site = self._record("site", fields.get("site"))
        stated = {
            "role": string(role.get("name")),
            "model": string(model.get("model")),
            "rack": string(rack.get("name")),
            "position": string(fields.get("position")),
            "site": string(site.get("name")),
        }
        stated = {k: v for k, v in stated.items() if v}
        name = string(fields.get("name")) or f"device {device}"
        if is_server(stated.get("role", "")):
            return self.fabric.nic(f"port {number}", self.fabric.host(name, name, stated), string(port.get("name")))
        return self.fabric.switch(name, name, stated)


def _from_csv(text: str, file: str) -> Imported:
    """The CSV that NetBox imports cables from."""
    rows = csv.DictReader(io.StringIO(text))
    fabric = FabricDrawing(file, "a NetBox cable list", "netbox", "ethernet")
    others = 0
    with csv_errors(lambda: rows.reader.line_num, file):
        for number, row in enumerate(rows, start=2):
            if number > _MOST:
                raise ExchangeError(f"it has more than {_MOST:,} cables", file=file, remedy="split the list")
            kinds = [(row.get(f"side_{s}_type") or "").strip().rpartition(".")[2] for s in "ab"]
            if kinds != ["interface", "interface"]:
                others += 1
                continue
            ends: list[str] = []
            for side in "ab":
                device, port = (
                    (row.get(f"side_{side}_device") or "").strip(),
                    (row.get(f"side_{side}_name") or "").strip(),
                )
                if not device or not port:
                    raise ExchangeError(
                        "a cable lacks a device or a port",
                        file=file,
                        place=f"line {number}",
                        remedy="fill in both ends",
                    )
                ends.append(_csv_part(fabric, device, port))
            stated = {k: (row.get(k) or "").strip() for k in ("type", "status", "label", "length", "length_unit")}
            fabric.join(
                ends[0],
                ends[1],
                ports=((row["side_a_name"] or "").strip(), (row["side_b_name"] or "").strip()),
                attributes={k: v for k, v in stated.items() if v},
            )
    if others:
        what = counted(
            others, "cable that does not join two interfaces was", "cables that do not join two interfaces were"
        )
        text = f"{what} left out"
        fabric.note("IMP-OTHER-CABLES", text)
    if not fabric.nodes:
        raise ExchangeError("it has no cable between two interfaces", file=file, remedy="check the columns side_a_type")
    fabric.note("IMP-ROLES", "a cable list does not say what a device is: servers were recognized by their names")
    return fabric.finish()


def _csv_part(fabric: FabricDrawing, device: str, port: str) -> str:
    if is_server(device):
        return fabric.nic(f"{device} {port}", fabric.host(device, device), port)
    return fabric.switch(device, device)


IMPORTER = Importer("netbox-cables", "NetBox cables", (".json", ".csv"), _sniff, _read)

"""Links of NVIDIA UFM: what ``GET /ufmRest/resources/links`` answers, an InfiniBand fabric cable by cable.

A switch describes its ports as ``name:port``, a host as its name and adapter. The rate of a cable is stated where UFM
was
asked for cable information or writes a speed; else it is assumed.
Sources: NVIDIA, UFM Enterprise REST API v6.20, Links; Mellanox/ufm_sdk_3.0, plugins that compare these links.
"""

from __future__ import annotations

import re
from typing import Any, Final

from designer.errors import ExchangeError
from designer.interchange.foreign.fabric import FabricDrawing, host_of
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.json_text import objects, parse_json, string
from designer.interchange.foreign.rates import LANE_RATES, rate_of
from designer.plain_text import counted

#: a switch and its port: ``leaf01:12``, ``leaf01:1/3/1``, ``director:L01/U1/4``
_SWITCH: Final = re.compile(r"(?P<name>.{1,200}):(?P<port>[A-Za-z]?\d{1,3}(?:/[A-Za-z]?\d{1,3}){0,3})\Z")
_AGGREGATION: Final = "Aggregation Node"
_SPEEDS: Final = ("speed", "active_speed", "link_speed")


def _sniff(head: str) -> float:
    return 0.95 if re.search(r"\"(?:source|destination)_port_node_description\"\s*:", head) else 0.0


def _read(text: str, file: str) -> Imported:
    content = parse_json(text, file)
    listed = content.get("links", [content]) if isinstance(content, dict) else content
    fabric = FabricDrawing(file, "links of UFM", "ufm")
    inner = lost = 0
    seen: set[frozenset[tuple[str, str]]] = set()
    for link in objects(listed):
        ends = [(_guid(link, side), string(link.get(f"{side}_port"))) for side in ("source", "destination")]
        names = [string(link.get(f"{side}_port_node_description")) for side in ("source", "destination")]
        if any(_AGGREGATION in name for name in names):
            inner += 1
            continue
        if not all(guid for guid, _ in ends):
            lost += 1
            continue
        if frozenset(ends) in seen:
            # UFM may list a cable from both of its ends
            continue
        seen.add(frozenset(ends))
        ids = [_part(fabric, link, side) for side in ("source", "destination")]
        severity = string(link.get("severity"))
        stated = {"severity": severity} if severity not in ("", "Info") else {}
        ports = (_port(link, "source"), _port(link, "destination"))
        fabric.join(ids[0], ids[1], _rate(link), ports=ports, attributes=stated)
    if not seen:
        raise ExchangeError(
            "it has no link with two ends", file=file, remedy="save the answer of GET /ufmRest/resources/links"
        )
    if inner:
        text = counted(
            inner,
            "link to an aggregation node (SHARP) is inside its switch",
            "links to aggregation nodes (SHARP) are inside their switches",
        )
        fabric.note("IMP-AGGREGATION", text)
    if lost:
        fabric.note(
            "IMP-ONE-END",
            counted(lost, "link names one end only and was left out", "links name one end only and were left out"),
        )
    return fabric.finish()


def _guid(link: dict[str, Any], side: str) -> str:
    return string(link.get(f"{side}_guid")).lower().removeprefix("0x")


def _port(link: dict[str, Any], side: str) -> str:
    return string(link.get(f"{side}_port_dname")) or string(link.get(f"{side}_port"))


def _part(fabric: FabricDrawing, link: dict[str, Any], side: str) -> str:
    guid = _guid(link, side)
    description = string(link.get(f"{side}_port_node_description")).strip()
    switch = _SWITCH.match(description)
    if switch is not None:
        return fabric.switch(guid, switch["name"].strip(), {"guid": guid})
    # a host may be with its adapter, or by its name alone
    adapter = host_of(description)[1] if host_of(description)[0] else description
    host = fabric.named_host(description, guid) if host_of(description)[0] else fabric.host(description, description)
    return fabric.nic(guid, host, adapter, {"guid": guid})


def _rate(link: dict[str, Any]) -> float | None:
    """Rate per direction [B/s], where width and generation are given."""
    cable = link.get("cable_info")
    for stated in (link, cable if isinstance(cable, dict) else {}):
        for name in _SPEEDS:
            generation = re.search(rf"\b({'|'.join(LANE_RATES)})\b", string(stated.get(name)).upper())
            if generation is not None:
                return rate_of(string(link.get("width")), generation[1])
    return None


IMPORTER = Importer("ufm", "links of NVIDIA UFM", (".json",), _sniff, _read)

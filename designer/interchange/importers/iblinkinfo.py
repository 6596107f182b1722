"""``iblinkinfo``: the state of every port of an InfiniBand subnet, links seen once from each end.

Output filtered with grep has lost its headings: nodes are then distinguished by their LID and named by the far end.
What the tool remarks about a link that trained below what both ends can is a finding.
Sources: infiniband-diags, man page of iblinkinfo.
"""

from __future__ import annotations

import re
from typing import Final

from designer.errors import ExchangeError
from designer.interchange.foreign.fabric import FabricDrawing, host_of
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.rates import rate_of
from designer.plain_text import counted

_PORT: Final = re.compile(
    r"\s*(?:(0x[0-9a-fA-F]{1,16})\s+)?(?:\"(?P<own>.{0,300}?)\"\s+)?(\d{1,5})\s+(\d{1,5})\[[^\]]{0,8}\]\s*"
    r"==\(\s*(?:(?P<width>\d{1,2}X)\s+(?P<speed>[\d.]{1,10}|[A-Z]{3}\d{0,3})\s*(?:Gbps)?)?\s*(?P<state>[^)]{0,60})\)==>"
    r"\s*(?:(?:0x[0-9a-fA-F]{1,16})\s+)?(?:(?P<lid>\d{1,5})\s+(?P<port>\d{1,5})\[[^\]]{0,8}\]\s*\"(?P<name>.*)\"|\[[^\]]{0,8}\]\s*\"?\"?)?"
    r"\s*(?:\(\s*(?P<remark>.*?)\s*\))?\s*\Z"
)
_HEADING: Final = re.compile(r"(CA|Switch|RT|Router)\s*:\s*(?:(0x[0-9a-fA-F]{1,16})\s+)?(.*?):?\s*\Z")


def _sniff(head: str) -> float:
    if re.search(r"^.{0,400}==\(\s*(?:\d+X\s|[^)\n]{0,40}Down)", head, re.MULTILINE):
        return 0.95
    return 0.0


def _read(text: str, file: str) -> Imported:
    return _Reader(file).run(text)


class _Reader:
    """Ports as printed, then the nodes they belong to."""

    def __init__(self, file: str) -> None:
        self.fabric = FabricDrawing(file, "the output of iblinkinfo", "iblinkinfo")
        self.file = file
        #: by LID: is it an adapter, what is it called
        self.adapter: dict[str, bool] = {}
        self.names: dict[str, str] = {}
        self.links: dict[tuple[tuple[str, str], tuple[str, str]], tuple[float | None, str]] = {}
        self.down = 0

    def run(self, text: str) -> Imported:
        """All lines."""
        heading: tuple[bool, str] | None = None
        for line in text.splitlines():
            found = _PORT.match(line) if "==(" in line else None
            if found is None:
                stated = _HEADING.match(line.strip())
                heading = (stated[1] == "CA", stated[3].strip()) if stated else heading
                continue
            self._port(found, heading)
        if not self.links and not self.down:
            raise ExchangeError("there is no port in it", file=self.file, remedy="save it: iblinkinfo > links.txt")
        return self._draw()

    def _port(self, found: re.Match[str], heading: tuple[bool, str] | None) -> None:
        lid, port = found[3], found[4]
        if heading is not None:
            self.adapter[lid], self.names[lid] = heading[0], heading[1] or self.names.get(lid, "")
        else:
            # without headings: the lines of adapters begin with the GUID of their port, those of switches do not
            self.adapter.setdefault(lid, found[1] is not None)
        if "down" in found["state"].lower() or found["lid"] is None:
            self.down += 1
            return
        other = found["lid"]
        if found["name"]:
            self.names.setdefault(other, found["name"].strip())
        rate = rate_of(found["width"], found["speed"]) if found["width"] and found["speed"] else None
        ends = sorted(((lid, port), (other, found["port"])))
        self.links.setdefault((ends[0], ends[1]), (rate, found["remark"] or ""))

    def _draw(self) -> Imported:
        ids: dict[str, str] = {}
        for (a, b), (rate, remark) in self.links.items():
            for lid, _ in (a, b):
                if lid not in ids:
                    ids[lid] = self._node(lid)
            made = self.fabric.join(
                ids[a[0]], ids[b[0]], rate, ports=(a[1], b[1]), attributes={"remark": remark} if remark else None
            )
            if remark and made is not None:
                self.fabric.note(
                    "IMP-DEGRADED",
                    f"iblinkinfo remarks about this link: {remark[:200]}",
                    made,
                    remedy="check the cable and both ports",
                )
        if self.down:
            self.fabric.note("IMP-DARK-PORTS", f"{counted(self.down, 'port is', 'ports are')} down")
        return self.fabric.finish()

    def _node(self, lid: str) -> str:
        name = self.names.get(lid, "")
        host, adapter = host_of(name)
        if self.adapter.get(lid, bool(host)):
            server = self.fabric.named_host(name, f"LID {lid}")
            return self.fabric.nic(f"lid {lid}", server, adapter, {"lid": lid})
        plain = name.removeprefix("MF0;").split(":")[0] if name.startswith("MF0;") else name
        return self.fabric.switch(f"lid {lid}", plain, {"lid": lid, "model": name.partition(":")[2]})


IMPORTER = Importer("iblinkinfo", "iblinkinfo", (".txt", ".out"), _sniff, _read)

"""The tables of ``rocm-smi --showtopo``: weight, hops and type of the way between each two GPUs, and their NUMA nodes.

One xGMI hop weighs 15 and hops are always stated as 1, so pairs of the least weight among xGMI pairs are joined and
those
that weigh more go through others. How many links join a pair, PCIe speeds and switches are not in these tables.
Sources: ROCm/rocm_smi_lib issue 108 and ROCm/rocm-systems issue 5763, pull request 7372; AMD, MI200 tuning guide.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import Final

from designer.errors import ExchangeError
from designer.interchange.foreign.accelerator_links import join_accelerators
from designer.interchange.foreign.cpus import NumaHint, memory_share, unknown_processor
from designer.interchange.foreign.finishing import finish
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.machine import MachineDrawing
from designer.interchange.foreign.matrix import clean
from designer.interchange.foreign.pcie import join_pcie, unknown_pcie
from designer.interchange.foreign.sockets import group_into_sockets
from designer.plain_text import counted
from designer.sources import Status

_TITLE: Final = re.compile(r"=+\s?(Weight|Hops|Link Type) between two GPUs\s?=+")
_ROW: Final = re.compile(r"GPU(\d{1,3})((?:[ \t]{1,40}[A-Za-z0-9/-]{1,12}){1,256})[ \t]*\Z", re.ASCII)
_NUMA: Final = re.compile(r"GPU ?\[?(\d{1,3})\]?[ \t]*: \(Topology\) Numa Node: (-?\d{1,4})", re.ASCII)
_MOST_LINES: Final = 20_000


def _sniff(head: str) -> float:
    return 0.95 if re.search(r"={3,40}[ ]?(?:Weight|Link Type) between two GPUs[ ]?=", head) else 0.0


def _read(text: str, file: str) -> Imported:
    lines = [line.strip() for line in clean(text)]
    if len(lines) > _MOST_LINES:
        raise ExchangeError("it is far larger than such a table", file=file, remedy="give only the output")
    tables: dict[str, dict[int, list[str]]] = {}
    nodes: dict[int, int] = {}
    at: dict[int, list[str]] | None = None
    for number, line in enumerate(lines, start=1):
        title = _TITLE.match(line)
        row = _ROW.match(line) if at is not None else None
        if title is not None:
            at = tables.setdefault(title[1], {})
        elif line.startswith("="):
            at = None
        elif row is not None and at is not None and not row[2].split()[0].startswith("GPU"):
            if int(row[1]) in at:
                raise ExchangeError(
                    f"GPU{row[1]} comes twice", file=file, place=f"line {number}", remedy="save each output by itself"
                )
            at[int(row[1])] = row[2].split()
        if (numa := _NUMA.match(line)) is not None:
            nodes[int(numa[1])] = int(numa[2])
    types = tables.get("Link Type", {})
    gpus = sorted(types)
    if not gpus:
        raise ExchangeError(
            "there is no table of link types", file=file, remedy="save it: rocm-smi --showtopo > topo.txt"
        )
    for name, table in tables.items():
        if sorted(table) != gpus or any(len(row) != len(gpus) for row in table.values()):
            raise ExchangeError(
                f"the table {name!r} is not square", file=file, remedy="save the whole output, rows unbroken"
            )
    return _draw(gpus, types, tables.get("Weight", {}), nodes, file)


def _draw(
    gpus: list[int], types: dict[int, list[str]], weights: dict[int, list[str]], nodes: dict[int, int], file: str
) -> Imported:
    machine = MachineDrawing(file, "the tables of rocm-smi --showtopo", "rocm-smi")
    server = machine.add("server")
    about = {g: {"numa": str(nodes[g])} if g in nodes else {} for g in gpus}
    ids = {g: machine.add("gpu", number=g, parent=server, attributes={"vendor": "0x1002", **about[g]}) for g in gpus}
    hints: dict[str, NumaHint] = {}
    homes: dict[int, str] = {}
    for node in sorted({max(0, nodes.get(g, 0)) for g in gpus}):
        homes[node] = machine.add("numa", number=node, parent=server, attributes={"derived": "yes"})
        hints[homes[node]] = NumaHint(node, 0, model=unknown_processor())
    group_into_sockets(machine, server, hints)
    share = memory_share(list(hints.values()))
    for node, home in homes.items():
        machine.memory(home, server, assumed=share, number=node)
    for g in gpus:
        join_pcie(machine, homes[max(0, nodes.get(g, 0))], ids[g], unknown_pcie(None))
    _xgmi(machine, gpus, ids, types, weights)
    machine.note(
        "IMP-CLASSES",
        "these tables give distances, no switches and no speeds: the tree is derived",
        remedy="import an RCCL or hwloc file of the same machine for the real tree",
    )
    return finish(machine)


def _xgmi(
    machine: MachineDrawing,
    gpus: list[int],
    ids: dict[int, str],
    types: dict[int, list[str]],
    weights: dict[int, list[str]],
) -> None:
    pairs = [(i, j) for i, j in combinations(range(len(gpus)), 2) if types[gpus[i]][j].upper() == "XGMI"]
    uneven = [(i, j) for i, j in combinations(range(len(gpus)), 2) if types[gpus[i]][j] != types[gpus[j]][i]]
    if uneven:
        where = {ids[gpus[n]] for pair in uneven for n in pair}
        text = "the type of link differs by the direction it is read in: the first one is used"
        machine.note("IMP-CONTRADICTION", text, *sorted(where))

    def weight(i: int, j: int) -> int:
        row = weights.get(gpus[i], [])
        return int(row[j]) if j < len(row) and row[j].isascii() and row[j].isdigit() else 0

    least = min((weight(i, j) for i, j in pairs), default=0)
    far = 0
    for i, j in pairs:
        if weight(i, j) > least:
            far += 1
            continue
        join_accelerators(machine, ids[gpus[i]], ids[gpus[j]], 1, None, "xgmi", Status.ASSUMED)
    if pairs:
        machine.note(
            "IMP-XGMI-COUNT",
            "how many xGMI links join a pair of GPUs is not in these tables: one",
            *ids.values(),
            remedy="set the number of links",
        )
    if far:
        pairs = counted(far, "pair of GPUs reaches", "pairs of GPUs reach")
        text = f"{pairs} each other by xGMI through others: no link of their own was drawn"
        machine.note("IMP-XGMI-FAR", text)


IMPORTER = Importer("rocm-smi-topo", "rocm-smi --showtopo", (".txt",), _sniff, _read)

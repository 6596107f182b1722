"""Formats that are recognised but not read, and other things people take for a dump: what to say about each."""

from __future__ import annotations

import re
from typing import Final

#: (pattern in the head of the text, what it is, what to do instead)
_TEXTS: Final = (
    (r'"format"\s*:\s*"designer-design"', "a design of this program", "open it instead of importing it"),
    (
        r"<graphs[\s>]",
        "an NCCL graph file (NCCL_GRAPH_FILE): rings and trees, not hardware",
        "dump the topology with NCCL_TOPO_DUMP_FILE and import that",
    ),
    (r"<platform\s+version=|simgrid\.dtd", "a SimGrid platform", ""),
    (r"<mxfile|<mxGraphModel", "a draw.io drawing", ""),
    (r"<svg[\s>]", "an SVG picture", "import the dump it was drawn from"),
    (r"<nvidia_smi_log", "the XML report of nvidia-smi -q", "use nvidia-smi topo -m, or an NCCL topology dump"),
    (r"<!doctype html|<html[\s>]", "a web page", "save the raw file instead of the page that shows it"),
    (
        r"^[ \t]*GPU\d+[ \t]+(?:X|OK|CNS|GNS|TNS|NS|DR|U)\b.*\b(?:OK|[CGT]?NS|DR)\b|^[ \t]*[CGT]NS[ \t]*=",
        "the matrix of nvidia-smi topo -p2p: what GPUs may do with each other, not how they are joined",
        "use nvidia-smi topo -m",
    ),
    (r"NVIDIA-SMI\s+\d+\.\d+|Driver Version:", "the status table of nvidia-smi", "use nvidia-smi topo -m"),
    (r"^GPU \d+: .*UUID: GPU-", "the list of nvidia-smi -L", "use nvidia-smi topo -m"),
    (r"={5,} ROCm System Management|ROCm SMI|^GPU\d.{0,200}(?:XGMI|PCIE)", "a table of rocm-smi", "use an RCCL dump"),
    (r"^-\[0000:|^-\+-\[[0-9a-f]{4}:", "the tree of lspci -tv", "use lstopo --of xml"),
    (
        r"^[0-9a-f]{2,4}:?[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f] .*: ",
        "a list of lspci",
        "save its tree: lspci -tvv, or use lstopo --of xml",
    ),
    (r"^Machine \(\d|^[ \t]*Package L#\d", "the text picture of lstopo", "write it with lstopo --of xml"),
    (r"^(?:Pack(?:age)?|Socket|NUMANode):\d+ .*(?:PU|Core):\d+", "a synthetic machine of hwloc", "use lstopo --of xml"),
    (r"^Architecture:.{0,200}$[\s\S]{0,400}^CPU\(s\):", "the report of lscpu", "use lstopo --of xml"),
    (r"^[ \t]*nodes_count\s*:|npus_count\s*:", "an ASTRA-sim network", ""),
    (r"^Nodes \d+\s*$[\s\S]{0,200}^Tiers \d+", "an htsim topology", ""),
    (r"\A\s*\d+ \d+ \d+ \d+ \d+ [A-Za-z]+\d*\s*$", "a SimAI topology", ""),
    (r"\A\s*\d+ \d+ \d+\s*$[\s\S]{0,4000}^\d+ \d+ \d+(?:\.\d+)?[GM]bps", "an ns-3 topology of ASTRA-sim", ""),
    (
        r"logical-dims|\"scheduling-policy\"",
        "a configuration of ASTRA-sim: how it computes, not hardware",
        "import its network file instead",
    ),
    (
        r"^(?:ENABLE_QCN|PACKET_PAYLOAD_SIZE|KMAX_MAP|CC_MODE)\s+\S",
        "the configuration of the ns-3 backend of SimAI: how it computes, not hardware",
        "import its topology file instead",
    ),
    (
        r"^(?:TP|DP|EP|PP)\s*:\s*$[\s\S]{0,300}^\s*allreduce,?\s*:",
        "bus bandwidths for SimAI: what collectives reach, not hardware",
        "import its topology file instead",
    ),
    (r"\"compounded_links\"", "a topology graph of NVIDIA NetQ", ""),
    (r"\"dcim\.\w+\"|\"model\"\s*:\s*\"dcim", "a data dump of NetBox", ""),
    (r"^manufacturer[ \t]*:[\s\S]{0,2000}^model[ \t]*:", "a device type of NetBox", ""),
    (r"^model[ \t]*:[\s\S]{0,2000}^manufacturer[ \t]*:", "a device type of NetBox", ""),
    (r"^side_a_device,", "a cable list of NetBox", ""),
    (r"vendid=0x|^Switch\s+\d+\s+\"S-|^(?:CA|SW)\s+\d+\s+\d+ 0x", "the output of ibnetdiscover", ""),
    (r"==\(\s*\d+X\s|^(?:CA|Switch): .*:$", "the output of iblinkinfo", ""),
    (r"^(?:SwitchName|BlockName|BlockSizes)=", "a Slurm topology", ""),
    (r"^[ \t]*(?:strict\s+)?(?:di)?graph\b[^{]{0,200}\{", "a Graphviz graph", ""),
    (r"\"(?:model_type|num_hidden_layers|n_layer)\"\s*:", "the config.json of a model", "use it in a workload"),
    (r"^switches\s*:|^blocks\s*:", "a cluster model of topograph", ""),
    (r"NCCL INFO (?:Bootstrap|Channel|Trees|NET/|comm)", "a log of NCCL", "import what NCCL_TOPO_DUMP_FILE writes"),
)
_COMPILED: Final = tuple((re.compile(p, re.MULTILINE | re.IGNORECASE), what, then) for p, what, then in _TEXTS)
_MAGIC: Final = (
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (b"PK\x03\x04", "a zip archive", "unpack it first"),
    (b"BZh", "a bzip2 archive", "unpack it first"),
    (b"\xfd7zXZ", "an xz archive", "unpack it first"),
    (b"(\xb5/\xfd", "a zstd archive", "unpack it first"),
    (b"\x89PNG", "a picture", "import the text it shows"),
    (b"\xff\xd8\xff", "a picture", "import the text it shows"),
    (b"GIF8", "a picture", "import the text it shows"),
    (b"%PDF", "a PDF document", "import the text it shows"),
    (b"\x7fELF", "a program", ""),
    (b"SQLite format 3", "a database", ""),
)


def looks_like(head: str) -> tuple[str, str] | None:
    """What a text beginning like this is, and what to do instead; None where it cannot be told."""
    for pattern, what, then in _COMPILED:
        if pattern.search(head):
            return what, then
    return None


def looks_like_bytes(head: bytes) -> tuple[str, str] | None:
    """What binary content beginning like this is, and what to do with it."""
    for magic, what, then in _MAGIC:
        if head.startswith(magic):
            return what, then
    return None

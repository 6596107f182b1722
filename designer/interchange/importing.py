"""The door for foreign files: reads bytes safely, finds the format by content, and says what a refused file is."""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from designer.design.document import Block, Design, Group, Part, with_changes
from designer.design.port_usage import Overfull, overfull
from designer.errors import DesignerError, DocumentError, ExchangeError
from designer.fields import Quantity
from designer.findings import Finding, Severity
from designer.interchange.foreign.importer import Imported, Importer
from designer.registry import discover, foreign_package
from designer.sources import Status

#: so many rounds: a part may have too few ports of several kinds
_ROUNDS: Final = 3
_PLACES: Final = 50


def believed(imported: Imported) -> Imported:
    """The import with as many ports and lanes at each part as the file shows links."""
    design, seen = imported.design, list[Overfull]()
    for _ in range(_ROUNDS):
        full = [one for one in overfull(design) if one.field and one.path in design.parts]
        if not full:
            break
        seen += full
        parts = dict(design.parts)
        for one in full:
            parts[one.path] = _with_count(parts[one.path], one)
        design = with_changes(design, parts=list(parts.values()))
    if not seen:
        return imported
    first = seen[0]
    text = (
        f"the file shows more than the catalog: {first.path} has {first.taken} {first.what}, its type {first.total}; "
        "what the file shows is believed"
    )
    places = tuple(dict.fromkeys(one.path for one in seen))[:_PLACES]
    remedy = "check the types of these parts"
    found = Finding("IMP-MORE-PORTS", Severity.WARNING, text, places, remedy)
    return Imported(design, (*imported.findings, found))


def _with_count(part: Part, full: Overfull) -> Part:
    quantity = Quantity(value=full.taken, status=Status.DERIVED)
    return with_changes(part, overrides={**part.overrides, full.field: quantity})


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
    (
        r"\"(?:model_type|num_hidden_layers|n_layer)\"\s*:",
        "the config.json of a model",
        "use it as a model: designer size DESIGN --with model=config.json",
    ),
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
    """What a text beginning like this is, and what to do instead; None where it cannot be reported."""
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


#: larger files are refused before they are read
MAX_BYTES: Final = 64 * 1024 * 1024
_HEAD: Final = 64 * 1024
_SURE: Final = 0.5
_UNNAMED: Final = "<input>"
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: encodings an XML declaration may name; others are not tried
_DECLARED: Final = frozenset(
    {
        "iso-8859-1",
        "iso-8859-15",
        "latin-1",
        "windows-1252",
        "cp1252",
        "us-ascii",
        "ascii",
        "koi8-r",
        "gb2312",
        "gbk",
        "gb18030",
        "big5",
        "shift_jis",
        "euc-jp",
        "euc-kr",
        "windows-1251",
    }
)


def importers() -> Mapping[str, Importer]:
    """All importers by name."""
    return discover("designer.interchange.importers", "IMPORTER", Importer, group="designer.importers")


def read_any(source: str | os.PathLike[str] | bytes, format: str | None = None) -> Imported:
    """The design in a foreign file, or in its bytes.

    Parameters
    ----------
    format
        Name of an importer; where missing the content decides.

    Raises
    ------
    ExchangeError
        If the file cannot be read, is not of a known format, or is damaged; with place and remedy.
    """
    if isinstance(source, bytes):
        return read_bytes(source, format)
    return read_bytes(_read_file(Path(source)), format, os.fspath(source))


def read_bytes(data: bytes, format: str | None = None, file: str = _UNNAMED) -> Imported:
    """The design in the bytes of a foreign file called `file`; raises as `read_any` does.

    More than ``MAX_BYTES`` are refused, so reading one byte more than that from a stream is enough.

    Raises
    ------
    ExchangeError
        If no importer knows the format, or the file is refused.
    """
    try:
        if len(data) > MAX_BYTES:
            raise _too_large(len(data))
        text, notes = decode(data)
        imported = believed(_read(_choose_importer(text, format), text, file))
    except ExchangeError as error:
        raise error.at(file=file) from None
    except (ValidationError, DocumentError) as error:
        reason = str(error).splitlines()[0]
        raise ExchangeError(
            f"what it describes is no valid design: {reason}",
            file=file,
            remedy="report this file, it should be readable",
        ) from error
    if not notes:
        return imported
    return Imported(imported.design, (*imported.findings, *notes))


def _read(importer: Importer, text: str, file: str) -> Imported:
    try:
        return importer.read(text, file)
    except (DesignerError, ValidationError):
        raise
    except Exception as error:
        package = foreign_package(importer.read)
        if not package:
            raise
        raise ExchangeError(
            f"the importer {importer.name!r} failed with {type(error).__name__}: {error}",
            remedy=f"update or uninstall the package {package}",
        ) from error


def _confidence(importer: Importer, head: str) -> float:
    """How sure an importer is; 0 where one of an installed package fails."""
    try:
        return importer.sniff(head)
    except Exception:
        if not foreign_package(importer.sniff):
            raise
        return 0.0


def _too_large(size: int) -> ExchangeError:
    return ExchangeError(
        f"it has {size / 1e6:.0f} MB, more than {MAX_BYTES // 1024**2} MiB",
        remedy="dumps of machines are far smaller; give the right file",
    )


def _read_file(path: Path) -> bytes:
    """The bytes of a regular file of bounded size."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            what = "a folder" if stat.S_ISDIR(status.st_mode) else "a device or pipe"
            raise ExchangeError(f"this is {what}, not a file", file=str(path), remedy="choose a file")
        if status.st_size > MAX_BYTES:
            raise _too_large(status.st_size)
        with path.open("rb") as handle:
            # One byte more than allowed shows a file that grows or lies about its size.
            data = handle.read(MAX_BYTES + 1)
    except DesignerError as error:
        raise error.at(file=str(path)) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ExchangeError(
            f"cannot be read: {reason}", file=str(path), remedy="check the name and its rights"
        ) from None
    return data


def decode(data: bytes) -> tuple[str, tuple[Finding, ...]]:
    """The text in `data` and remarks about its encoding.

    Raises
    ------
    ExchangeError
        If it is empty or binary.
    """
    if not data.strip():
        raise ExchangeError("the file is empty", remedy="make the dump again")
    magic = looks_like_bytes(data[:32])
    if magic is not None:
        what, then = magic
        raise ExchangeError(f"this is {what}", remedy=then or "choose a dump of a machine")
    for bom, name in _BOMS:
        if data.startswith(bom):
            return _decode(data[len(bom) :], name)
    wide = _detect_utf16(data[:64])
    if wide is not None:
        return _decode(data, wide)
    if b"\0" in data:
        raise ExchangeError(
            f"it is binary: a zero byte at position {data.index(0)}", remedy="choose the text the tool wrote"
        )
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        return _detect_encoding(data, error.start)


def _decode(data: bytes, name: str) -> tuple[str, tuple[Finding, ...]]:
    try:
        text = data.decode(name)
    except UnicodeDecodeError as error:
        raise ExchangeError(
            f"it begins as {name} but is damaged at byte {error.start}", remedy="save it again as UTF-8"
        ) from None
    if "\0" in text:
        raise ExchangeError("it is binary: it holds zero characters", remedy="choose the text the tool wrote")
    if not text.strip():
        raise ExchangeError("the file is empty", remedy="make the dump again")
    return text, ()


def _detect_utf16(head: bytes) -> str | None:
    """UTF-16 without a mark: every second byte of plain text is zero."""
    if len(head) >= 4 and len(head) % 2 == 0:
        if not any(head[1::2]) and all(head[0::2]):
            return "utf-16-le"
        if not any(head[0::2]) and all(head[1::2]):
            return "utf-16-be"
    return None


def _detect_encoding(data: bytes, at: int) -> tuple[str, tuple[Finding, ...]]:
    declared = re.search(rb"<\?xml[^>]{0,200}encoding\s*=\s*[\"']([A-Za-z0-9_-]{1,40})", data[:1000])
    name = declared[1].decode().lower() if declared else ""
    tried = [name] if name in _DECLARED else []
    for encoding in [*tried, "cp1252", "latin-1"]:
        try:
            text = data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
        if not tried or encoding != name:
            if sum(c < " " and c not in "\t\r\n\f\v\x1b" for c in text[:_HEAD]) > 8:
                raise ExchangeError("it is binary, not text", remedy="choose the text the tool wrote")
            remark = f"it is not UTF-8 (byte {at}); read as {encoding}"
            return text, (Finding("IMP-ENCODING", Severity.INFO, remark, (), "save it as UTF-8 if names look wrong"),)
        return text, ()
    raise ExchangeError("it is in no encoding that could be read", remedy="save it as UTF-8")


def _choose_importer(text: str, format: str | None) -> Importer:
    known = importers()
    if format is not None:
        if format not in known:
            raise ExchangeError(f"there is no import format {format!r}", remedy=f"use one of {', '.join(known)}")
        return known[format]
    head = text[:_HEAD]
    sure = {name: _confidence(importer, head) for name, importer in known.items()}
    best = max(sure, key=lambda name: sure[name])
    if sure[best] >= _SURE:
        return known[best]
    found = looks_like(head)
    titles = ", ".join(importer.title for importer in known.values())
    if found is not None:
        what, then = found
        raise ExchangeError(
            f"this looks like {what}; it cannot be imported", remedy=then or f"formats that can be imported: {titles}"
        )
    raise ExchangeError("its format is not recognised", remedy=f"formats that can be imported: {titles}")


#: last part of the attribute names that hold identifiers, lower case
_PRIVATE: Final = re.compile(
    r"guid|uuid|serial|hostname|host_hash|nodename|assettag|address|gid\d*|lid$|cgroup|processname|\bmac\b|wwn|nqn|\bip\b"
)
_IDENTIFIER: Final = re.compile(
    r"(?:[0-9a-f]{2}[:-]){5,}[0-9a-f]{2}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|"
    r"(?:[0-9a-f]{4}:){7}[0-9a-f]{4}|\b(?:0x)?[0-9a-f]{16}\b|en[ox](?:[0-9a-f]{12})|wlx[0-9a-f]{12}|"
    r"\b(?:\d{1,3}\.){3}\d{1,3}\b",
    re.IGNORECASE | re.ASCII,
)


def strip_identifiers(design: Design) -> Design:
    """The design without identifying attributes; ids, links and rates stay."""
    block = _strip_block(design)
    return with_design(design, block)


def with_design(design: Design, block: Block) -> Design:
    """`design` with the parts and groups of `block`."""
    fields = {name: getattr(design, name) for name in type(design).model_fields}
    return Design.model_validate({**fields, "parts": block.parts, "groups": block.groups})


def _strip_block(block: Block) -> Block:
    groups: dict[str, Group] = {}
    for group in block.groups.values():
        exceptions = {index: _strip_block(b) for index, b in group.exceptions.items()}
        groups[group.id] = with_changes(group, content=_strip_block(group.content), exceptions=exceptions)
    parts = {part.id: _part(part) for part in block.parts.values()}
    return Block(parts=parts, links=block.links, groups=groups, wirings=block.wirings)


def _part(part: Part) -> Part:
    name = "" if _IDENTIFIER.search(part.name) else part.name
    return with_changes(part, attributes=_attributes(part.attributes), name=name)


def _attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in attributes.items()
        if not _PRIVATE.search(name.lower().rsplit(".", 1)[-1])
        and not (_IDENTIFIER.search(value) and not _is_bus_id(value))
        and not _IDENTIFIER.search(name)
    }


def _is_bus_id(value: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]", value) is not None

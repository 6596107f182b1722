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

from designer.errors import DesignerError, DocumentError, ExchangeError
from designer.findings import Finding, Severity
from designer.interchange.foreign.budgets import believed
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.recognised import looks_like, looks_like_bytes
from designer.registry import discover, foreign_package

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
        imported = believed(_read(_chosen(text, format), text, file))
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


def _sureness(importer: Importer, head: str) -> float:
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
            return _decoded(data[len(bom) :], name)
    wide = _wide_encoding(data[:64])
    if wide is not None:
        return _decoded(data, wide)
    if b"\0" in data:
        raise ExchangeError(
            f"it is binary: a zero byte at position {data.index(0)}", remedy="choose the text the tool wrote"
        )
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        return _other_encoding(data, error.start)


def _decoded(data: bytes, name: str) -> tuple[str, tuple[Finding, ...]]:
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


def _wide_encoding(head: bytes) -> str | None:
    """UTF-16 without a mark: every second byte of plain text is zero."""
    if len(head) >= 4 and len(head) % 2 == 0:
        if not any(head[1::2]) and all(head[0::2]):
            return "utf-16-le"
        if not any(head[0::2]) and all(head[1::2]):
            return "utf-16-be"
    return None


def _other_encoding(data: bytes, at: int) -> tuple[str, tuple[Finding, ...]]:
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


def _chosen(text: str, format: str | None) -> Importer:
    known = importers()
    if format is not None:
        if format not in known:
            raise ExchangeError(f"there is no import format {format!r}", remedy=f"use one of {', '.join(known)}")
        return known[format]
    head = text[:_HEAD]
    sure = {name: _sureness(importer, head) for name, importer in known.items()}
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

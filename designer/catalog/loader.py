"""The catalog: part types read from files, one at a time and only when asked for.

A part type lives in ``<folder>/<kind>/<vendor>/<part>.toml``; its id is that path. The shipped folder is
``assets/catalog``; a user may add folders of their own, whose files win over shipped ones of the same id. Folders of
installed packages add part types and replace none. Values cite
their source by key: one of ``assets/sources``, or one that is in the file itself because nothing else uses it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Final, cast

from pydantic import ValidationError

from designer import resources
from designer.catalog.parttype import PartType, part_kinds
from designer.catalog.recognition import TABLE, Head, Recognition, alias_tables, by_cpuid, checked, read_head
from designer.catalog.sources import shipped_sources
from designer.errors import CatalogError
from designer.registry import extensions

#: words that state nothing about which part is meant
_NOISE: Final = re.compile(
    r"\(r\)|\(tm\)|®|™|\b(?:nvidia|mellanox|tesla|amd|instinct|geforce|intel|corporation|generation|technologies)\b|\b0x"
)
_OTHER: Final = re.compile(r"[^a-z0-9.+]+")
_TOKEN: Final = re.compile(r"[a-z]+|\d+(?:\.\d+)?")
#: section of the aliases file whose keys are regular expressions
PATTERNS: Final = "patterns"


def normal(name: str) -> str:
    """A name without case, punctuation and idle words: ``"NVIDIA A100-SXM4-80GB"`` → ``"a100sxm480gb"``."""
    return _OTHER.sub("", _NOISE.sub(" ", name.casefold()))


#: comparing takes the square of the length, and no name is longer
_LONGEST: Final = 200


def likeness(a: str, b: str) -> float:
    """How similar two names are, from 0 (not at all) to 1 (the same); letters and the tokens they form count
    equally."""
    first, second = normal(a[:_LONGEST]), normal(b[:_LONGEST])
    if not first or not second:
        return 0.0
    if first == second:
        return 1.0
    letters = SequenceMatcher(None, first, second, autojunk=False).ratio()
    left, right = set(_TOKEN.findall(first)), set(_TOKEN.findall(second))
    tokens = len(left & right) / len(left | right) if left | right else 0.0
    return (letters + tokens) / 2


class Aliases(Mapping[str, str]):
    """Alias → part id. Looked up without regard to case and punctuation, then by pattern.

    Parameters
    ----------
    tables
        Parsed alias files, the one that wins last: sections of ``name = id``, and ``[patterns]`` whose keys are
        regular expressions tried in their order.
    """

    def __init__(self, tables: Sequence[Mapping[str, object]] = ()) -> None:
        self._spelled: dict[str, str] = {}
        self._normal: dict[str, str] = {}
        self._patterns: list[tuple[re.Pattern[str], str]] = []
        for table in tables:
            for section, names in table.items():
                self._add(section, names)

    def _add(self, section: str, names: object) -> None:
        if not isinstance(names, dict):
            raise CatalogError(
                f"{section!r} is no section of names", place=section, remedy='write [names] "name" = "id"'
            )
        for name, id in cast("dict[str, object]", names).items():
            if not isinstance(id, str):
                raise CatalogError(f"{id!r} is no part id", place=f"{section}.{name}", remedy='write "name" = "id"')
            if section == PATTERNS:
                self._patterns.append((re.compile(name, re.IGNORECASE), id))
            else:
                self._spelled[name] = id
                self._normal[normal(name)] = id

    def __getitem__(self, name: str) -> str:
        found = self._spelled.get(name) or self._normal.get(normal(name))
        if found is None:
            found = next((id for pattern, id in self._patterns if pattern.search(name)), None)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._spelled)

    def __len__(self) -> int:
        return len(self._spelled)

    @property
    def patterns(self) -> tuple[tuple[str, str], ...]:
        """The patterns and the ids they represent, in the order they are tried."""
        return tuple((pattern.pattern, id) for pattern, id in self._patterns)


#: a part file beyond this size is a mistake, not a part [B]
LARGEST_FILE: Final = 1 << 20
ALIASES_FILE: Final = "aliases.toml"

_ID = re.compile(r"[a-z0-9_]+(/[a-zA-Z0-9_.+-]+)+")
_CPUID_NAME = re.compile(r"([A-Za-z]{3,20}) (\d{1,6}) (\d{1,6})", re.ASCII)
_UNION_TAGS: Final = frozenset({"str", "int", "bool"})


@dataclass(frozen=True, slots=True)
class PartEntry:
    """What a list of parts shows of one part type."""

    id: str
    kind: str
    title: str
    vendor: str


@dataclass(frozen=True, slots=True)
class _Indexed:
    """An entry with the texts that a search looks into, made once."""

    entry: PartEntry
    text: str
    tight: str
    exact: frozenset[str]
    last: str


class Catalog:
    """Part types by id, with search and aliases. Nothing is read before it is asked for.

    Parameters
    ----------
    extra
        Folders of the user's own part files, laid out like the shipped one; the last one wins.
    shipped
        The folder that comes with the program; ``assets/catalog`` when not given.
    """

    def __init__(self, extra: Path | Sequence[Path] = (), *, shipped: Path | None = None) -> None:
        self._extra = (extra,) if isinstance(extra, Path) else tuple(extra)
        self._shipped = shipped
        self._types: dict[str, PartType] = {}
        self._paths: Mapping[str, Path] | None = None
        self._entries: tuple[_Indexed, ...] | None = None
        self._aliases: Aliases | None = None
        self._heads: Mapping[str, Head] | None = None
        self._recognitions: Mapping[str, Recognition] | None = None

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders read, the one that wins first: the user's, the shipped one, those of installed packages."""
        if self._shipped is not None:
            return (*reversed(self._extra), self._shipped)
        installed = extensions("designer.catalogs", Path).values()
        return (*reversed(self._extra), resources.assets() / "catalog", *installed)

    def get(self, id: str) -> PartType:
        """The part type called `id`. Reads that one file, once.

        Raises
        ------
        CatalogError
            If there is no such part, or its file is wrong; with file, place and remedy.
        """
        found = self._types.get(id)
        if found is None:
            path = self._path(id)
            if path is None:
                raise self._unknown(id)
            found = self._types[id] = read_part_file(path, id)
        return found

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and (id in self._types or self._path(id) is not None)

    def ids(self, kind: str | None = None) -> tuple[str, ...]:
        """All ids, sorted, of one kind or of all. Read from the names of the files alone."""
        return tuple(i for i in self._files() if kind is None or i.startswith(kind + "/"))

    def all(self, kind: str | None = None) -> Iterator[PartType]:
        """Every part type, of one kind or of all, sorted by id. Reads every such file."""
        return (self.get(id) for id in self.ids(kind))

    def entries(self, kind: str | None = None) -> tuple[PartEntry, ...]:
        """Id, title and vendor of every part type, sorted by id. Reads the heads of the files once."""
        return tuple(i.entry for i in self._index() if kind is None or i.entry.kind == kind)

    def find(self, query: str, kind: str | None = None) -> tuple[PartEntry, ...]:
        """Part types whose id, title, vendor or aliases hold every word of `query`, the best match first.

        An empty query finds all.
        """
        words = query.casefold().split()
        whole = normal(query)
        exact = self.aliases.get(query)
        scored: list[tuple[int, str, PartEntry]] = []
        for indexed in self._index():
            entry = indexed.entry
            if kind is not None and entry.kind != kind:
                continue
            score = _score(indexed, words, whole)
            if entry.id == exact:
                score = 0
            if score is not None:
                scored.append((score, entry.id, entry))
        return tuple(entry for _, _, entry in sorted(scored, key=lambda s: s[:2]))

    @property
    def aliases(self) -> Aliases:
        """Names that people and dumps use for part types: PCI ids, marketing names, architecture numbers.

        They are in the parts' own files; a user's folder may add some for shipped parts in its ``aliases.toml``.
        """
        if self._aliases is None:
            files = self._files()
            tables: list[Mapping[str, object]] = []
            for folder in reversed(self.folders):
                own = ((id, r) for id, r in self.recognitions.items() if files[id].is_relative_to(folder))
                tables.append(alias_tables(own))
                if (folder / ALIASES_FILE).is_file():
                    tables.append(_table(folder / ALIASES_FILE))
            self._aliases = Aliases(tables)
        return self._aliases

    @property
    def recognitions(self) -> Mapping[str, Recognition]:
        """What each part is recognised by, sorted by id. Reads the heads of the files once."""
        if self._recognitions is None:
            self._recognitions = {id: head.recognition for id, head in self._read_heads().items()}
        return self._recognitions

    def resolve(self, name: str, kind: str | None = None) -> str | None:
        """The id meant by `name`: an id, an alias, or the last part of exactly one id; None if none is.

        With `kind` only part types of that kind count.
        """
        if name in self:
            return name if kind is None or name.startswith(kind + "/") else None
        found = self.aliases.get(name) or self._processor(name)
        if found is not None:
            return found if kind is None or found.startswith(kind + "/") else None
        wanted = normal(name)
        same = [id for id in self.ids(kind) if normal(id.rsplit("/", 1)[-1]) == wanted]
        return same[0] if wanted and len(same) == 1 else None

    def nearest(self, kind: str, name: str, count: int = 3) -> tuple[str, ...]:
        """Ids of the kind that look most like `name`, best first; for suggestions where a name is unknown."""
        names: dict[str, list[str]] = {id: [id.rsplit("/", 1)[-1]] for id in self.ids(kind)}
        for alias, id in self.aliases.items():
            if id in names:
                names[id].append(alias)
        target = name.rsplit("/", 1)[-1]
        ranked = sorted((-max(likeness(target, n) for n in known), id) for id, known in names.items())
        return tuple(id for score, id in ranked[:count] if score < 0)

    def _processor(self, name: str) -> str | None:
        """The CPU that a name such as ``GenuineIntel 6 106`` represents: vendor, family and model."""
        match = _CPUID_NAME.fullmatch(name)
        return by_cpuid(self.recognitions, match[1], int(match[2]), int(match[3])) if match else None

    def _files(self) -> Mapping[str, Path]:
        if self._paths is None:
            found: dict[str, Path] = {}
            for folder in reversed(self.folders):
                for path in folder.rglob("*.toml"):
                    id = path.relative_to(folder).with_suffix("").as_posix()
                    if "/" in id:
                        found[id] = path
            self._paths = dict(sorted(found.items()))
        return self._paths

    def _read_heads(self) -> Mapping[str, Head]:
        if self._heads is None:
            self._heads = {id: read_head(path) for id, path in self._files().items()}
        return self._heads

    def _path(self, id: str) -> Path | None:
        if not _ID.fullmatch(id) or any(part in (".", "..") for part in id.split("/")):
            return None
        for folder in self.folders:
            path = folder / f"{id}.toml"
            if path.is_file():
                return path
        return None

    def _unknown(self, id: str) -> CatalogError:
        kind = id.partition("/")[0]
        meant = self.resolve(id)
        near = (meant,) if meant else self.nearest(kind, id) if self.ids(kind) else ()
        kinds = sorted({i.partition("/")[0] for i in self.ids()})
        remedy = f"did you mean {' or '.join(near)}?" if near else f"ids begin with one of {', '.join(kinds)}"
        return CatalogError(f"the catalog has no part type {id!r}", remedy=remedy)

    def _index(self) -> tuple[_Indexed, ...]:
        if self._entries is None:
            known: dict[str, list[str]] = {}
            for alias, id in self.aliases.items():
                known.setdefault(id, []).append(alias)
            self._entries = tuple(_index_entry(id, head, known.get(id, ())) for id, head in self._read_heads().items())
        return self._entries


def read_part_file(path: Path, id: str | None = None) -> PartType:
    """The part type in one file; `id` is what its place says it must be called.

    Raises
    ------
    CatalogError
        If the file cannot be read, is no TOML, or breaks the rules of part types; with file, place and remedy.
    """
    data = _table(path)
    checked(data.pop(TABLE, None), path)
    try:
        part = PartType.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(p) for p in first["loc"] if p not in _UNION_TAGS)
        raise CatalogError(
            f"{first['msg']}",
            file=str(path),
            place=place or None,
            remedy='write quantities as text with unit ("80 GB"), counts as whole numbers; see other files of the kind',
        ) from None
    if id is not None and part.id != id:
        raise CatalogError(
            f"id {part.id!r} is not the path of the file", file=str(path), place="id", remedy=f'write id = "{id}"'
        )
    if part.kind != part.id.partition("/")[0]:
        raise CatalogError(
            f"kind {part.kind!r} is not the first part of id {part.id!r}",
            file=str(path),
            place="kind",
            remedy="make both the same",
        )
    if part.kind not in part_kinds():
        raise CatalogError(
            f"there is no part kind {part.kind!r}",
            file=str(path),
            place="kind",
            remedy=f"use one of {', '.join(part_kinds())}",
        )
    part = _with_cited_sources(part)
    for problem in part.problems():
        place, _, text = problem.partition(": ")
        raise CatalogError(
            text or problem, file=str(path), place=place if text else "values", remedy="correct the value in the file"
        )
    return part


def _with_cited_sources(part: PartType) -> PartType:
    """The part with the record of every source it cites, so that a design that takes it along is complete."""
    shipped = shipped_sources()
    keys = {q.source for q in part.values.values()} - part.sources.keys()
    cited = {key: shipped[key] for key in keys if key in shipped}
    if not cited:
        return part
    return part.model_copy(update={"sources": dict(sorted({**part.sources, **cited}.items()))})


def _table(path: Path) -> dict[str, object]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise CatalogError("the file is too large for a part", file=str(path), remedy="keep it below 1 MiB")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(f"cannot be read: {error}", file=str(path), remedy="save it as UTF-8 text") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, _, place = str(error).partition(" (at ")
        raise CatalogError(
            message, file=str(path), place=place.rstrip(")") or None, remedy="mend the TOML syntax there"
        ) from None


def _index_entry(id: str, head: Head, aliases: Sequence[str]) -> _Indexed:
    # A broken file still gets an entry, so that one bad file does not hide the others; get() reports what is wrong.
    entry = PartEntry(id, id.partition("/")[0], head.title or id, head.vendor)
    text = " ".join((entry.id, entry.title, entry.vendor, *aliases)).casefold()
    last = normal(id.rsplit("/", 1)[-1])
    return _Indexed(entry, text, normal(text), frozenset((last, normal(entry.title), normal(id))), last)


def _score(indexed: _Indexed, words: Sequence[str], whole: str) -> int | None:
    """How well an entry fits, smaller is better; None if it does not."""
    if whole and whole in indexed.exact:
        return 1
    if all(word in indexed.text for word in words):
        if whole and indexed.last.startswith(whole):
            return 2
        return 3 if all(re.search(rf"(?<![a-z0-9]){re.escape(word)}", indexed.text) for word in words) else 4
    return 5 if whole and whole in indexed.tight else None


@cache
def load_catalog() -> Catalog:
    """The shipped catalog; the same object every time, so that each file is read once."""
    return Catalog()


@cache
def unlisted_products() -> Catalog:
    """Products that dumps name and the catalog does not offer: what importers know of them."""
    return Catalog(shipped=resources.assets() / "recognition" / "unlisted")

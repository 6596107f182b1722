"""The palette: templates and parts one can drag into a design, by kind, searchable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from designer.catalog.loader import Catalog, PartEntry
from designer.catalog.parttype import PartKind, part_kinds
from designer.gui.viewmodels.ranking import SYNONYMS, TEMPLATE_WEIGHT, Words, ordered, template_words
from designer.gui.viewmodels.table import Branch
from designer.interchange.templates import Template
from designer.interchange.whole_servers import WholeServer, template_uses, whole_servers

PART_MIME = "application/x-designer-part"
TEMPLATE_MIME = "application/x-designer-template"
FAVOURITES, RECENT, TEMPLATES = "Favourites", "Recently used", "Templates"
#: what makes network parts of NVIDIA was called so before
_ONCE: Final = "Mellanox"
_NETWORK: Final = frozenset(("nic", "switch", "dpu"))
#: speeds of InfiniBand
_INFINIBAND: Final = frozenset(("fdr", "edr", "hdr", "ndr", "xdr"))


def tree(
    catalog: Catalog,
    templates: Sequence[Template],
    query: str = "",
    recent: Sequence[str] = (),
    favourites: Sequence[tuple[str, str]] = (),
) -> list[Branch]:
    """Branches of the palette; with a query only what matches, the best match first.

    Parameters
    ----------
    recent
        Part types used lately, newest first.
    favourites
        ``part`` or ``template``, and its id; those not known any more are left out.
    """
    query = query.strip()
    if query:
        return _found(catalog, templates, query)
    roots: list[Branch] = []
    servers = [_template(t) for t in templates]
    if servers:
        roots.append(Branch(TEMPLATES, str(len(servers)), None, "template", children=servers))
    entries = catalog.entries()
    whole = whole_servers()
    titles = {e.id: e for e in entries}
    used = [titles[i] for i in recent if i in titles]
    if used:
        roots.insert(0, Branch(RECENT, "", None, "part", children=[_part(e, whole) for e in used]))
    known = {("template", t.id): _template(t) for t in templates}
    known |= {("part", e.id): _part(e, whole) for e in entries}
    known |= {("part", k.name): _plain(k) for k in part_kinds().values()}
    marked = [known[key] for key in favourites if key in known]
    if marked:
        roots.insert(0, Branch(FAVOURITES, "", None, "part", children=marked))
    for kind in sorted(part_kinds().values(), key=lambda k: (k.order, k.name)):
        rows = [_part(e, whole) for e in entries if e.kind == kind.name] + [_plain(kind)]
        roots.append(Branch(kind.plural, str(len(rows)), None, kind.icon or kind.name, kind.help, children=rows))
    return roots


def _found(catalog: Catalog, templates: Sequence[Template], query: str) -> list[Branch]:
    """What matches, in the groups it belongs to: the group of the best match first."""
    kinds = part_kinds()
    whole = whole_servers()
    words = part_words(catalog)
    entries = [e for e in catalog.entries() if e.kind in kinds]
    rows: list[tuple[str, Words, Branch]] = [(kinds[e.kind].plural, words[e.id], _part(e, whole)) for e in entries]
    rows += [(k.plural, kind_words(k), _plain(k)) for k in kinds.values()]
    rows += [(TEMPLATES, template_words(t), _template(t)) for t in templates]
    groups: dict[str, Branch] = {}
    icons = {k.plural: k.icon or k.name for k in kinds.values()}
    for title, _, row in ordered(query, rows, lambda row: row[1]):
        groups.setdefault(title, Branch(title, "", None, icons.get(title, "template"))).children.append(row)
    for group in groups.values():
        group.detail = str(len(group.children))
    return list(groups.values())


def part_words(catalog: Catalog) -> Mapping[str, Words]:
    """By id, what each part type can be found by."""
    return _part_words(catalog, catalog.entries())


@lru_cache(maxsize=4)
def _part_words(catalog: Catalog, entries: tuple[PartEntry, ...]) -> Mapping[str, Words]:
    known: dict[str, list[str]] = {}
    for alias, part_id in catalog.aliases.items():
        known.setdefault(part_id, []).append(alias)
    uses = template_uses()
    found: dict[str, Words] = {}
    for entry in entries:
        names = (entry.id.rsplit("/", 1)[-1], *known.get(entry.id, ()))
        kind = (entry.vendor, *_of_kind(entry.kind), *_also(entry))
        found[entry.id] = Words(entry.title, names, kind, weight=float(uses.get(entry.id, 0)))
    return found


def _also(entry: PartEntry) -> tuple[str, ...]:
    """Words for what its title says in others: who made it once, and what it speaks."""
    spoken = set(entry.title.casefold().replace("(", " ").replace(")", " ").replace(",", " ").split())
    maker = (_ONCE,) if entry.vendor == "NVIDIA" and entry.kind in _NETWORK else ()
    if spoken & _INFINIBAND:
        return (*maker, "infiniband")
    return (*maker, *(("roce",) if entry.kind in _NETWORK else ()))


def _of_kind(name: str) -> tuple[str, ...]:
    kind = part_kinds().get(name)
    own = () if kind is None else (kind.title, kind.plural)
    return (name.replace("_", " "), *own, *SYNONYMS.get(name, ()))


def kind_words(kind: PartKind) -> Words:
    """What a part without a type can be found by; products come before it."""
    return Words(f"Any {kind.title}", (), _of_kind(kind.name), weight=TEMPLATE_WEIGHT / 2)


def _template(template: Template) -> Branch:
    return Branch(
        template.title, "", ("template", template.id), "server", template.intent, (TEMPLATE_MIME, template.id)
    )


def _plain(kind: PartKind) -> Branch:
    title = f"Any {kind.title}"
    return Branch(title, "", ("part", kind.name), kind.name, title, (PART_MIME, kind.name))


def _part(entry: PartEntry, whole: Mapping[str, WholeServer]) -> Branch:
    maker = "" if entry.title.startswith(entry.vendor) else f"{entry.vendor} "
    tip = f"{maker}{entry.title}\n{entry.id}"
    detail = ""
    if entry.kind == "server":
        server = whole.get(entry.id)
        detail = contents_of(server)
        if server is None:
            tip += "\nOnly the chassis is known: put in what it holds, or import the machine"
        else:
            tip += f"\nComes with its contents, as in the template {server.template.title}"
    return Branch(entry.title, detail, ("part", entry.id), entry.kind, tip, (PART_MIME, entry.id))


def contents_of(server: WholeServer | None) -> str:
    """What the palette says about the contents of a server."""
    if server is None:
        return "chassis only"
    template = server.template
    if template.servers == 1 and template.gpus:
        return f"{template.gpus} GPUs" if template.gpus > 1 else "1 GPU"
    return "complete"

"""The palette: templates and parts one can drag into a design, by kind, searchable."""

from __future__ import annotations

from collections.abc import Sequence

from designer.catalog.loader import Catalog
from designer.catalog.parttype import PartKind, part_kinds
from designer.gui.viewmodels.fuzzy import ranked, score
from designer.gui.viewmodels.table import Branch
from designer.interchange.templates import Template

PART_MIME = "application/x-designer-part"
TEMPLATE_MIME = "application/x-designer-template"
FAVOURITES, RECENT = "Favourites", "Recently used"


def tree(
    catalog: Catalog,
    templates: Sequence[Template],
    query: str = "",
    recent: Sequence[str] = (),
    favourites: Sequence[tuple[str, str]] = (),
) -> list[Branch]:
    """Branches of the palette; with a query only what matches, best first in each kind.

    Parameters
    ----------
    recent
        Part types used lately, newest first.
    favourites
        ``part`` or ``template``, and its id; those not known any more are left out.
    """
    query = query.strip()
    roots: list[Branch] = []
    servers = [_template(t) for t in ranked(query, templates, lambda t: f"{t.title} {t.id} {t.intent}")]
    if servers:
        roots.append(Branch("Templates", str(len(servers)), None, "template", children=servers))
    entries = catalog.find(query) if query else catalog.entries()
    titles = {e.id: e for e in entries}
    if not query:
        used = [titles[i] for i in recent if i in titles]
        if used:
            rows = [_part(e.id, e.title, e.vendor, e.kind) for e in used]
            roots.insert(0, Branch(RECENT, "", None, "part", children=rows))
        known = {("template", t.id): _template(t) for t in templates}
        known |= {("part", e.id): _part(e.id, e.title, e.vendor, e.kind) for e in entries}
        known |= {("part", k.name): _plain(k) for k in part_kinds().values()}
        marked = [known[key] for key in favourites if key in known]
        if marked:
            roots.insert(0, Branch(FAVOURITES, "", None, "part", children=marked))
    for kind in sorted(part_kinds().values(), key=lambda k: (k.order, k.name)):
        rows = [_part(e.id, e.title, e.vendor, e.kind) for e in entries if e.kind == kind.name]
        if not query or score(query, kind.title) is not None:
            rows.append(_plain(kind))
        if rows:
            roots.append(Branch(kind.plural, str(len(rows)), None, kind.icon or kind.name, kind.help, children=rows))
    return roots


def _template(template: Template) -> Branch:
    return Branch(
        template.title, "", ("template", template.id), "server", template.intent, (TEMPLATE_MIME, template.id)
    )


def _plain(kind: PartKind) -> Branch:
    return _part(kind.name, f"Any {kind.title}", "no type", kind.name)


def _part(part_id: str, title: str, vendor: str, kind: str) -> Branch:
    tip = f"{vendor} {title}\n{part_id}".strip() if "/" in part_id else title
    return Branch(title, "", ("part", part_id), kind, tip, (PART_MIME, part_id))

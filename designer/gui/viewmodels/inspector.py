"""The inspector: what is selected, as a form. Built from the fields of kinds, so a new part kind needs nothing here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from designer.catalog.describe import ValueRow, describe
from designer.catalog.loader import load_catalog
from designer.catalog.parttype import Field, fitting_links, link_kinds, part_kinds, value_of
from designer.design.address import Address, Ref, address_text, block_at
from designer.design.document import Block, Design, Group, Link, LinkValues, Part, Wiring
from designer.design.edit import Edit
from designer.design.edits.annotations import ChangeAnnotations
from designer.design.edits.groups import ChangeGroups, SetGroupId, SetReplicas
from designer.design.edits.links import ChangeLinks
from designer.design.edits.parts import ChangeParts, SetAttribute, SetPartId, SetType, SetValue
from designer.design.edits.properties import SetPolicy, SetProperties
from designer.design.edits.wirings import ChangeWirings
from designer.design.joining import patterns
from designer.design.rates import raw_rate
from designer.engine.results import Analysis, WorkloadResult
from designer.engine.routes.channel_rows import at_part, of_link
from designer.errors import DesignerError, DocumentError
from designer.fields import Quantity
from designer.gui.viewmodels.cables import Recabled, is_cable, let_through, with_ports
from designer.gui.viewmodels.forms import SEVERAL, Entry, Form, Section
from designer.gui.viewmodels.places import Picked
from designer.gui.viewmodels.vm_form import vms_form
from designer.sources import Status
from designer.units import DIMENSIONS, format_line_rate, format_quantity

_GESTURE = "inspector"


def inspect(
    design: Design, selection: frozenset[Picked], analysis: Analysis | None = None, result: WorkloadResult | None = None
) -> Form:
    """The form of what is selected; of the design itself where nothing is."""
    if not selection:
        return _design_form(design)
    whats = {ref.what for _, ref in selection}
    blocks = {within for within, _ in selection}
    if len(whats) > 1 or len(blocks) > 1:
        return Form(selection, f"{len(selection)} things", ", ".join(sorted(whats)), "select")
    within, what = next(iter(blocks)), next(iter(whats))
    ids = tuple(sorted(ref.id for _, ref in selection))
    block = block_at(design, within)
    where = address_text(within)
    if what == "parts":
        form = _parts_form(design, within, [block.parts[i] for i in ids], where, analysis)
        return replace(form, asked=_limiting(result, {f"{where}/{i}" if where else i for i in ids}))
    if what in ("links", "wirings"):
        things: list[Link | Wiring] = [(block.links if what == "links" else block.wirings)[i] for i in ids]
        form = _links_form(within, things, what, where, analysis, result, block.parts)
        return _with_cards(form, design, block, things)
    if what == "groups":
        return _groups_form(within, [block.groups[i] for i in ids], where)
    if what == "annotations":
        return _notes_form(design, ids)
    if what == "vms":
        return vms_form(design, [design.vms[i] for i in ids], analysis, result)
    return Form((within, what, ids), ids[0], what)


_WHATS: Final = {"links": "Link", "wirings": "Link", "groups": "Group", "annotations": "Note", "vms": "VM"}


def kind_of_selection(design: Design, selection: frozenset[Picked]) -> str:
    """What is selected, in a word: GPU, Link, or Selection where things differ; empty for nothing."""
    kinds: set[str] = set()
    for within, ref in selection:
        kind = _WHATS.get(ref.what, "")
        if ref.what == "parts":
            part = block_at(design, within).parts.get(ref.id)
            known = part_kinds().get(part.kind) if part is not None else None
            kind = known.title if known is not None else "Part"
        kinds.add(kind)
    return kinds.pop() if len(kinds) == 1 else "Selection" if kinds else ""


def _design_form(design: Design) -> Form:
    def text(name: str, title: str) -> Entry:
        value = str(getattr(design, name))
        return Entry(name, title, value, value, "text", make=lambda t: SetProperties({name: t.strip()}))

    def flag(name: str, title: str, note: str) -> Entry:
        on = bool(getattr(design.policy, name))
        return Entry(
            name,
            title,
            "yes" if on else "no",
            "yes" if on else "no",
            "flag",
            note=note,
            make=lambda t: SetPolicy({name: t == "yes"}),
        )

    policy = (
        flag("gpudirect", "GPUDirect", "adapters and peers reach GPU memory over PCIe without a stop in host memory"),
        flag("rail_affinity", "Rail affinity", "rank i talks to rank i over its own rail"),
        flag("numa_local", "NUMA local", "data is read from the nearest host memory"),
        flag("relay_through_gpu", "Relay through GPUs", "GPUs pass data on where there is no direct link"),
        flag("pcie_acs", "PCIe access control", "peer traffic goes up to the root complex"),
        Entry(
            "ecmp",
            "Equal paths",
            design.policy.ecmp,
            design.policy.ecmp,
            "choice",
            (("split", "split"), ("hash", "hash"), ("adaptive", "adaptive")),
            note="whether flows spread over equal paths evenly, are hashed to one each, or are routed packet by packet",
            make=lambda t: SetPolicy({"ecmp": t}),
        ),
        Entry(
            "peer_level",
            "Peers of collectives",
            design.policy.peer_level,
            design.policy.peer_level,
            "choice",
            (
                ("auto", "as the library chooses"),
                ("switch", "below one switch"),
                ("socket", "of one socket"),
                ("system", "everywhere"),
            ),
            note="how far collectives write to peers over PCIe (NCCL_P2P_LEVEL); farther ones stop in host memory",
            make=lambda t: SetPolicy({"peer_level": t}),
        ),
        Entry(
            "memory_tier",
            "Buffers in",
            design.policy.memory_tier,
            design.policy.memory_tier,
            "choice",
            (("auto", "DRAM where there is some"), ("dram", "DRAM"), ("hbm", "HBM"), ("cxl", "CXL"), ("pmem", "PMEM")),
            note="the tier of host memory that buffers and copies use",
            make=lambda t: SetPolicy({"memory_tier": t}),
        ),
    )
    return Form(
        ("design",),
        design.title or design.name,
        design.intent,
        "template",
        (Section("Design", (text("title", "Title"), text("intent", "Intent"))), Section("Traffic policy", policy)),
    )


# ---- parts


def _limiting(result: WorkloadResult | None, paths: set[str]) -> str:
    """The value of some parts that the workload waits for: their rate of a precision, or of their memory."""
    for one in result.binding if result is not None else ():
        if one.id in paths and one.what == "compute":
            return f"flops_{one.why.split()[0]}"
        if one.id in paths and one.label.endswith("(memory bandwidth)"):
            return "memory_bandwidth"
    return ""


def _parts_form(
    design: Design,
    within: Address,
    parts: Sequence[Part],
    where: str,
    analysis: Analysis | None,
) -> Form:
    ids = tuple(p.id for p in parts)
    kinds = {p.kind for p in parts}
    first = parts[0]
    kind = part_kinds().get(first.kind) if len(kinds) == 1 else None
    title = first.label if len(parts) == 1 else f"{len(parts)} {kind.plural if kind else 'parts'}"
    sections = [Section("Part", tuple(_identity(design, within, parts, len(kinds) == 1)))]
    if kind is not None:
        rows = {r.name: r for r in _type_rows(design, first)}
        given = [f for f in kind.fields if any(design.quantity(p, f.name) is not None for p in parts)]
        rest = [f for f in kind.fields if f not in given]
        values = tuple(_value(design, within, ids, parts, f, rows.get(f.name)) for f in given)
        if values:
            sections.append(Section("Values", values))
        if rest:
            blank = tuple(_value(design, within, ids, parts, f, None) for f in rest)
            sections.append(Section("Not given", blank, "collapsed"))
    sections.append(Section("Attributes", tuple(_attributes(within, ids, parts)), "collapsed"))
    if len(parts) == 1:
        prefix = f"{where}/" if where else ""
        load = _load_of_part(prefix + first.id, analysis)
        if load:
            sections.insert(1, Section("Load", load))
    subtitle = " · ".join(x for x in (kind.title if kind else "", where or "") if x)
    return Form((within, "parts", ids), title, subtitle, first.kind, tuple(sections))


def _identity(design: Design, within: Address, parts: Sequence[Part], equal: bool) -> Iterable[Entry]:
    ids = tuple(p.id for p in parts)
    if len(parts) == 1:
        yield Entry(
            "name",
            "Name",
            parts[0].name or parts[0].id,
            parts[0].name,
            "text",
            make=lambda t: ChangeParts(ids, {"name": t.strip()}, within=within),
        )
        yield Entry(
            "id",
            "Id",
            parts[0].id,
            parts[0].id,
            "text",
            required=True,
            note="in paths and references; all that refer to it follow",
            make=lambda t: SetPartId(parts[0].id, t.strip(), within=within),
        )
    types = {p.type for p in parts}
    now = next(iter(types)) if len(types) == 1 else SEVERAL
    if equal:
        catalog = load_catalog()
        choices = [("", "no type")] + [(e.id, e.title) for e in catalog.entries(parts[0].kind)]
        choices += [
            (t.id, t.title) for t in design.part_types.values() if t.kind == parts[0].kind and t.id not in catalog
        ]
        shown = dict(choices).get(now, now)

        def change_type(text: str) -> Edit:
            known = catalog.get(text) if text and text not in design.part_types else None
            return Recabled(SetType(ids, text, known, known.sources if known else {}, within=within), ids, within)

        yield Entry("type", "Type", shown, now, "choice", tuple(choices), make=change_type)
    notes = {p.note for p in parts}
    note = notes.pop() if len(notes) == 1 else SEVERAL
    yield Entry("note", "Note", note, note, "text", make=lambda t: ChangeParts(ids, {"note": t}, within=within))


def _attributes(within: Address, ids: tuple[str, ...], parts: Sequence[Part]) -> Iterable[Entry]:
    """Free texts of parts, those all share or differ in, and a line for one more; an empty text takes one away."""
    for name in dict.fromkeys(name for part in parts for name in part.attributes):
        texts = {part.attributes.get(name, "") for part in parts}
        shown = texts.pop() if len(texts) == 1 else SEVERAL
        yield Entry(
            f"attributes.{name}",
            name,
            shown,
            shown,
            "text",
            make=lambda t, name=name: SetAttribute(ids, name, t.strip() or None, within=within, gesture=_GESTURE),
        )
    yield Entry("attributes", "New", "", "", "text", note="as name = text", make=lambda t: _attribute(ids, t, within))


def _attribute(ids: tuple[str, ...], text: str, within: Address) -> Edit:
    name, sign, value = (each.strip() for each in text.partition("="))
    if not (name and sign and value):
        raise DocumentError(f"{text!r} is no attribute", remedy="write it as: role = vmotion")
    return SetAttribute(ids, name, value, within=within)


def _type_rows(design: Design, part: Part) -> tuple[ValueRow, ...]:
    part_type = design.type_of(part)
    return describe(part_type) if part_type is not None else ()


def _value(
    design: Design, within: Address, ids: tuple[str, ...], parts: Sequence[Part], field: Field, row: ValueRow | None
) -> Entry:
    quantities = [design.quantity(p, field.name) for p in parts]
    overridden = any(field.name in p.overrides for p in parts)
    first = quantities[0]
    same = all(q == first for q in quantities)

    def make(text: str) -> Edit:
        text = text.strip()
        quantity = Quantity(value=_typed(field.dimension, text), source="", status=Status.ASSUMED) if text else None
        return with_ports(design, ids, SetValue(ids, field.name, quantity, within=within, gesture=_GESTURE), within)

    if first is None and same:
        return Entry(field.name, field.title, "", "", field.dimension, note=field.help, make=make)
    if not same or first is None:
        return Entry(
            field.name, field.title, SEVERAL, "", field.dimension, note=field.help, make=make, overridden=overridden
        )
    spelled = str(first.value) if not isinstance(first.value, bool) else ("yes" if first.value else "no")
    value = value_of(parts[0].kind, field.name, first)
    status, source, band = str(first.status), first.source, ""
    if row is not None and not overridden:
        source, band = row.source_title or row.source, row.band
    shown = (
        format_quantity(value, field.dimension, 4) if value is not None and field.dimension in DIMENSIONS else spelled
    )
    return Entry(
        field.name,
        field.title,
        shown,
        spelled,
        field.dimension,
        status=status,
        source=source,
        band=band,
        note=first.note or field.help,
        overridden=overridden,
        make=make,
        value=value,
    )


def _typed(dimension: str, text: str) -> str | int | bool:
    if dimension == "count" and text.isdigit():
        return int(text)
    if dimension == "flag":
        return text == "yes"
    return text


def _load_of_part(path: str, analysis: Analysis | None) -> tuple[Entry, ...]:
    if analysis is None or "*" in path:
        return ()
    arriving, leaving = at_part(analysis.channels, path)
    found: list[Entry] = []
    for name, title, channels in (("in", "Arriving", arriving), ("out", "Leaving", leaving)):
        if not channels:
            # a line all the same, so that the form keeps its shape from one workload to the next
            found.append(Entry(name, title, "nothing", bar=0.0))
        else:
            total, busiest = sum(c.load for c in channels), max(channels, key=lambda c: c.utilization)
            found.append(
                Entry(
                    name,
                    title,
                    f"{format_quantity(total, 'rate')}, busiest link {busiest.utilization * 100:.0f}%",
                    note=busiest.id,
                    bar=min(1.0, busiest.utilization),
                )
            )
    return tuple(found)


# ---- links and wirings


def _links_form(
    within: Address,
    things: Sequence[Link | Wiring],
    what: str,
    where: str,
    analysis: Analysis | None,
    result: WorkloadResult | None,
    parts: Any,
) -> Form:
    ids = tuple(t.id for t in things)
    first = things[0]

    def edit(changes: dict[str, object]) -> Edit:
        if what == "links":
            return ChangeLinks(ids, changes, within=within, gesture=_GESTURE)
        return ChangeWirings(ids, changes, within=within, gesture=_GESTURE)

    sections = [Section("Link", tuple(_link_entries(things, edit, parts)))]
    if isinstance(first, Wiring) and len(things) == 1:
        names = tuple((n, n) for n in patterns())
        sections.append(
            Section(
                "Pattern",
                (
                    Entry(
                        "pattern",
                        "Pattern",
                        first.pattern,
                        first.pattern,
                        "choice",
                        names,
                        make=lambda t: edit({"pattern": t}),
                    ),
                    Entry("a", "From", first.a, first.a, "text", required=True, make=lambda t: edit({"a": t.strip()})),
                    Entry("b", "To", first.b, first.b, "text", required=True, make=lambda t: edit({"b": t.strip()})),
                ),
            )
        )
    if len(things) == 1:
        prefix = f"{where}/" if where else ""
        load = tuple(_load_of_link(prefix + first.id, analysis, result, parts))
        if load:
            sections.insert(0, Section("Load", load))
    kind = link_kinds().get(first.kind)
    title = f"{_end(parts, first.a)} – {_end(parts, first.b)}" if len(things) == 1 else f"{len(things)} links"
    subtitle = " · ".join(x for x in (kind.title if kind else first.kind, where) if x)
    return Form((within, what, ids), title, subtitle, "connect", tuple(sections))


def _with_cards(form: Form, design: Design, block: Block, things: Sequence[Link | Wiring]) -> Form:
    """The form with a line on the card that lets less through than its cable is drawn with."""
    one = things[0]
    found = let_through(design, block, one) if len(things) == 1 and isinstance(one, Link) else None
    if found is None:
        return form
    rate, name = found
    text = f"{_rate(one.kind, rate)}, all that {name} can do"
    entry = Entry("let_through", "Lets through, per direction", text, note="the analysis counts no more than this")
    sections = tuple(replace(s, entries=(*s.entries, entry)) if s.title == "Link" else s for s in form.sections)
    return replace(form, sections=sections)


def _link_entries(
    things: Sequence[Link | Wiring], edit: Callable[[dict[str, object]], Edit], parts: Any
) -> Iterable[Entry]:
    first = things[0]

    def common(name: str) -> Any:
        values = {getattr(t, name) for t in things}
        return values.pop() if len(values) == 1 else SEVERAL

    kinds = _fitting(first, parts) if len(things) == 1 else tuple(link_kinds())
    choices = tuple((k, link_kinds()[k].title) for k in kinds)
    kind = str(common("kind"))
    known = link_kinds().get(kind)
    yield Entry(
        "kind", "Kind", known.title if known else kind, kind, "choice", choices, make=lambda t: edit({"kind": t})
    )
    count = common("count")
    yield Entry(
        "count",
        "Parallel links",
        str(count),
        str(count),
        "count",
        required=True,
        make=lambda t: edit({"count": int(t)}),
        value=float(count) if isinstance(count, int) else None,
    )
    rate, status = raw_rate(first)
    given = common("bandwidth_per_direction")
    spelled = "" if given is None else str(given)
    yield Entry(
        "bandwidth_per_direction",
        "Bandwidth, one link, per direction",
        _rate(first.kind, rate),
        spelled,
        "rate",
        status=str(status),
        source=first.source,
        value=rate if given is None or given != SEVERAL else None,
        note=first.note,
        make=lambda t: edit({"bandwidth_per_direction": t.strip() or None}),
    )
    if kind == "pcie":
        for name, title in (("generation", "PCIe generation"), ("lanes", "PCIe lanes")):
            now = common(name)
            yield Entry(
                name,
                title,
                "–" if now is None else str(now),
                "" if now is None else str(now),
                "count",
                make=lambda t, name=name: edit({name: int(t) if t else None}),
                value=float(now) if isinstance(now, int) else None,
            )
    status_choices = tuple((str(s), str(s)) for s in Status)
    now = str(common("status"))
    yield Entry("status", "How sure", now, now, "choice", status_choices, make=lambda t: edit({"status": Status(t)}))


def _rate(kind: str, rate: float) -> str:
    """A raw rate as people of that kind of link know it: cables in bits."""
    return format_line_rate(rate, 4) if is_cable(kind) else format_quantity(rate, "rate", 4)


def _fitting(link: LinkValues, parts: Any) -> tuple[str, ...]:
    if isinstance(link, Link) and link.a in parts and link.b in parts:
        found = fitting_links(parts[link.a].kind, parts[link.b].kind)
        return found if link.kind in found else (link.kind, *found)
    return tuple(link_kinds())


def _end(parts: Any, path: str) -> str:
    """The part at an end of a link as the drawing names it; its path where it is in another block."""
    part = parts.get(path.rpartition("/")[2].partition(".")[0])
    return part.label if isinstance(part, Part) else path


def _load_of_link(path: str, analysis: Analysis | None, result: WorkloadResult | None, parts: Any) -> Iterable[Entry]:
    if analysis is None or "*" in path:
        return
    bottleneck = {b.id for b in result.binding} if result is not None else set[str]()
    for row in of_link(analysis.channels, path):
        text = f"{format_quantity(row.load, 'rate')} of {format_quantity(row.capacity, 'rate')} raw"
        yield Entry(
            row.id,
            f"{_end(parts, row.source)} → {_end(parts, row.target)}",
            text + (", limits" if row.id in bottleneck else ""),
            note=f"{row.utilization * 100:.0f}% of what it can achieve",
            bar=min(1.0, row.utilization),
        )


# ---- groups and notes


def _groups_form(within: Address, groups: Sequence[Group], where: str) -> Form:
    ids = tuple(g.id for g in groups)
    first = groups[0]
    if len(groups) > 1:
        return Form((within, "groups", ids), f"{len(groups)} groups", where, "group")
    entries = (
        Entry(
            "name",
            "Name",
            first.label,
            first.name,
            "text",
            make=lambda t: ChangeGroups(ids, {"name": t.strip()}, within=within),
        ),
        Entry(
            "id",
            "Id",
            first.id,
            first.id,
            "text",
            required=True,
            note="in paths and references; all that refer to it follow",
            make=lambda t: SetGroupId(first.id, t.strip(), within=within),
        ),
        Entry(
            "replicas",
            "Members",
            str(first.replicas),
            str(first.replicas),
            "count",
            required=True,
            value=float(first.replicas),
            make=lambda t: SetReplicas(first.id, int(t), within=within, gesture=_GESTURE),
        ),
        Entry(
            "naming",
            "Member names",
            first.naming,
            first.naming,
            "text",
            note="node{001} gives node001, node002 …; {outer} is the name around, {all:001} counts through all groups",
            make=lambda t: ChangeGroups(ids, {"naming": t.strip()}, within=within),
        ),
        Entry("exceptions", "Exceptions", ", ".join(map(str, sorted(first.exceptions))) or "none"),
        Entry(
            "note", "Note", first.note, first.note, "text", make=lambda t: ChangeGroups(ids, {"note": t}, within=within)
        ),
    )
    subtitle = f"group × {first.replicas}" + (f" · {where}" if where else "")
    return Form((within, "groups", ids), first.label, subtitle, "group", (Section("Group", entries),))


def _notes_form(design: Design, ids: tuple[str, ...]) -> Form:
    if len(ids) != 1:
        return Form(("annotations", ids), f"{len(ids)} notes", "", "edit")
    note = design.annotations[ids[0]]
    entry = Entry("text", "Text", note.text, note.text, "text", make=lambda t: ChangeAnnotations(ids, {"text": t}))
    return Form(("annotations", ids), "Note", "", "edit", (Section("Note", (entry,)),))


def explain(error: DesignerError) -> str:
    """An error as one line under a field."""
    return f"{error.text} — {error.remedy}" if error.remedy else error.text


__all__ = ["Picked", "Ref", "explain", "inspect"]

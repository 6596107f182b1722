"""Whether a whole document holds together: looked at when a design is opened or imported.

What makes a document impossible (a link or a wiring to nothing, a circle of containers) refuses it. A wiring whose
pattern does not fit the numbers of its parts is an error too, but the design opens, so that it can be mended: changing
a number of replicas may bring it about; so does a workload that cannot be read. All else is what a person should look
at (a value of no such name, more links than ports).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from designer.catalog.parttype import PartType, fitting_links, link_kinds, part_kinds, problems_of
from designer.design.address import Address, address_text, place
from designer.design.document import Block, Design, Group, Link, Part, Wiring
from designer.design.elaborate import distinct_links, elaborate
from designer.design.joining import patterns
from designer.design.legality import misfit
from designer.design.port_usage import equal_parts, overfull, usage
from designer.design.references import reaches
from designer.design.selectors import parse_selector
from designer.design.validation import check_size
from designer.errors import AnalysisError, DocumentError
from designer.findings import Finding, Severity
from designer.spelling import did_you_mean
from designer.workload.kind import read_settings, workload_kinds

#: so many problems are reported at most
MAX_PROBLEMS = 200
#: code of a wiring whose pattern does not fit the numbers of its parts
WIRING = "DOC-WIRING"
#: code of a workload whose settings cannot be read
WORKLOAD = "DOC-WORKLOAD"
#: codes of links that cannot be as they are drawn: ports that do not fit, and more links than ports
MISFIT = "DOC-MISFIT"
PORTS = "DOC-PORTS"
#: errors with which a design opens, so that they can be mended
_MENDABLE = frozenset({WIRING, WORKLOAD, MISFIT, PORTS})


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, with its place in the document and what to do."""

    code: str
    severity: Severity
    place: str
    text: str
    remedy: str
    where: tuple[str, ...] = ()

    @property
    def refuses(self) -> bool:
        """True if a document with this problem cannot be opened."""
        return self.severity is Severity.ERROR and self.code not in _MENDABLE

    def finding(self) -> Finding:
        """The same as a finding."""
        return Finding(self.code, self.severity, f"{self.place}: {self.text}", self.where, self.remedy)


def examine(design: Design) -> tuple[Problem, ...]:
    """Everything that is wrong with a design, errors first, at most ``MAX_PROBLEMS``."""
    try:
        check_size(design, "groups")
    except DocumentError as error:
        return (_fatal("DOC-SIZE", error.place or "groups", error.text, error.remedy or ""),)
    found: list[Problem] = []
    for problem in _all_problems(design):
        found.append(problem)
        if len(found) >= MAX_PROBLEMS:
            break
    if not any(p.refuses for p in found):
        found += _elaboration_problems(design)
    return tuple(sorted(found, key=lambda p: p.severity is not Severity.ERROR))


def demand_sound(design: Design) -> list[Finding]:
    """The findings about a design that can be opened.

    Raises
    ------
    DocumentError
        If it cannot: the first reason, and how many more there are.
    """
    problems = examine(design)
    errors = [p for p in problems if p.refuses]
    if errors:
        first = errors[0]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise DocumentError(f"{first.text}{more}", place=first.place, remedy=first.remedy)
    return [p.finding() for p in problems]


def _fatal(code: str, at: str, text: str, remedy: str, *where: str) -> Problem:
    return Problem(code, Severity.ERROR, at, text, remedy, where)


def _warn(code: str, at: str, text: str, remedy: str, *where: str) -> Problem:
    return Problem(code, Severity.WARNING, at, text, remedy, where)


def _all_problems(design: Design) -> Iterator[Problem]:
    yield from _block(design, design, ())
    for part_type in design.part_types.values():
        yield from _part_type(part_type)
    yield from _references(design)
    yield from _workloads(design)


def _block(design: Design, block: Block, within: Address) -> Iterator[Problem]:
    yield from _containment(block, within)
    for part in block.parts.values():
        yield from _part(design, part, within)
    for link in block.links.values():
        yield from _link(block, link, within)
    for wiring in block.wirings.values():
        yield from _wiring_problems(block, wiring, within)
    for group in block.groups.values():
        yield from _group(design, block, group, within)


def _containment(block: Block, within: Address) -> Iterator[Problem]:
    sound: set[str] = set()
    for part in block.parts.values():
        if part.parent is None:
            continue
        if part.parent not in block.parts:
            yield _fatal(
                "DOC-DANGLING",
                place(within, "parts", part.id, "parent"),
                f"it is contained in {part.parent!r}, which does not exist",
                "give it another container or none",
                path_text(within, part.id),
            )
            continue
        trail: list[str] = []
        seen: set[str] = set()
        at: str | None = part.id
        while at is not None and at not in sound and at not in seen:
            seen.add(at)
            trail.append(at)
            at = block.parts[at].parent if at in block.parts else None
        if at is not None and at in seen:
            yield _fatal(
                "DOC-CIRCLE",
                place(within, "parts", part.id, "parent"),
                "it contains itself",
                "break the circle of parents",
                path_text(within, part.id),
            )
        sound.update(trail)


def path_text(within: Address, item_id: str) -> str:
    """Path of something in the block at an address, for people and findings."""
    return f"{address_text(within)}/{item_id}" if within else item_id


def _part(design: Design, part: Part, within: Address) -> Iterator[Problem]:
    kind = part_kinds().get(part.kind)
    part_type = design.part_types.get(part.type)
    if kind is not None and not part.overrides and (part_type.kind == part.kind if part_type else not part.type):
        # nearly every part of nearly every design
        return
    at, path = place(within, "parts", part.id), path_text(within, part.id)
    if kind is None:
        yield _warn(
            "DOC-KIND",
            f"{at}.kind",
            f"the kind {part.kind!r} is unknown; the part is kept as it is",
            "update designer, or choose a known kind",
            path,
        )
    if part.type and part_type is None:
        yield _warn(
            "DOC-TYPE",
            f"{at}.type",
            f"the design does not carry the part type {part.type!r}",
            "choose the type again from the catalog",
            path,
        )
    if part_type is not None and part_type.kind != part.kind:
        yield _warn(
            "DOC-TYPE",
            f"{at}.type",
            f"{part_type.title} is a {part_type.kind}, the part is a {part.kind}",
            "choose a type of the part's kind",
            path,
        )
    if kind is None:
        return
    for name, quantity in part.overrides.items():
        field = kind.field(name)
        if field is None:
            yield _warn(
                "DOC-VALUE",
                f"{at}.overrides.{name}",
                f"a {kind.title} has no such value",
                "remove the value, or check its name",
                path,
            )
            continue
        for text in problems_of(field, quantity):
            yield _fatal("DOC-VALUE", f"{at}.overrides.{name}", text, _remedy(text), path)


def _part_type(part_type: PartType) -> Iterator[Problem]:
    kind = part_kinds().get(part_type.kind)
    if kind is None:
        return
    at = f"part_types.{part_type.id}"
    for name, quantity in part_type.values.items():
        field = kind.field(name)
        if field is None:
            yield _warn(
                "DOC-VALUE",
                f"{at}.values.{name}",
                f"a {kind.title} has no such value",
                "remove the value, or check its name",
                part_type.id,
            )
            continue
        for text in problems_of(field, quantity):
            yield _fatal("DOC-VALUE", f"{at}.values.{name}", text, _remedy(text), part_type.id)


def _remedy(text: str) -> str:
    # what the unit parser says ends in a remedy of its own
    return "" if " — " in text else "correct the value"


def _link(block: Block, link: Link, within: Address) -> Iterator[Problem]:
    ends_here = link.a in block.parts and link.b in block.parts and link.a != link.b
    if ends_here and link.kind in link_kinds():
        # nearly every link of nearly every design
        return
    at, path = place(within, "links", link.id), path_text(within, link.id)
    for side, end in (("a", link.a), ("b", link.b)):
        if not reaches(block, end):
            yield _fatal(
                "DOC-DANGLING",
                f"{at}.{side}",
                f"it ends at {end!r}, which does not exist",
                "delete the link or give it another end",
                path,
            )
        elif end not in block.parts and not _is_one(end):
            yield _fatal(
                "DOC-DANGLING",
                f"{at}.{side}",
                f"it ends at {end!r}, which means several parts",
                "name one part, or make it a wiring",
                path,
            )
    if link.a == link.b:
        yield _fatal("DOC-SELF", at, "both ends are the same part", "delete the link", path)
    yield from _link_kind(link.kind, at, path)


def _is_one(path: str) -> bool:
    """True if a path that reaches something names one part alone."""
    try:
        return parse_selector(path).is_single
    except DocumentError:
        return True  # an id that is no pattern


def _link_kind(kind: str, at: str, path: str) -> Iterator[Problem]:
    if kind not in link_kinds():
        yield _warn(
            "DOC-KIND",
            f"{at}.kind",
            f"the link kind {kind!r} is unknown; the link is kept as it is",
            "update designer, or choose a known kind",
            path,
        )


def _wiring_problems(block: Block, wiring: Wiring, within: Address) -> Iterator[Problem]:
    at, path = place(within, "wirings", wiring.id), path_text(within, wiring.id)
    if wiring.pattern not in patterns():
        yield _fatal(
            "DOC-VALUE",
            f"{at}.pattern",
            f"there is no wiring pattern {wiring.pattern!r}",
            f"use one of {', '.join(patterns())}",
            path,
        )
    for side, selector in (("a", wiring.a), ("b", wiring.b)):
        if not reaches(block, selector):
            yield _fatal(
                "DOC-DANGLING",
                f"{at}.{side}",
                f"{selector!r} chooses no parts",
                "delete the wiring, or check the path against the outline",
                path,
            )
    yield from _link_kind(wiring.kind, at, path)


def _group(design: Design, block: Block, group: Group, within: Address) -> Iterator[Problem]:
    at, path = place(within, "groups", group.id), path_text(within, group.id)
    if group.parent is not None and group.parent not in block.parts:
        yield _fatal(
            "DOC-DANGLING",
            f"{at}.parent",
            f"it is contained in {group.parent!r}, which does not exist",
            "give it another container or none",
            path,
        )
    for index in group.exceptions:
        if not 0 <= index < group.replicas:
            yield _fatal(
                "DOC-EXCEPTION",
                f"{at}.exceptions.{index}",
                f"it is outside the group of {group.replicas}",
                f"use members 0 to {group.replicas - 1}",
                path,
            )
    yield from _block(design, group.content, (*within, (group.id, None)))
    for index, inner in group.exceptions.items():
        if inner is not group.content:
            yield from _block(design, inner, (*within, (group.id, index)))


def _references(design: Design) -> Iterator[Problem]:
    for vm in design.vms.values():
        targets = [("host", vm.host), *((f"devices.{i}.part", d.part) for i, d in enumerate(vm.devices))]
        for name, path in targets:
            if path is not None and not reaches(design, path):
                yield _warn(
                    "DOC-REFERENCE",
                    f"vms.{vm.id}.{name}",
                    f"there is no part {path!r}",
                    "choose a part of the design",
                    vm.id,
                )
    rack_of: dict[str, str] = {}
    for rack in design.racks.values():
        if rack.part is not None and not reaches(design, rack.part):
            text = f"there is no part {rack.part!r}"
            yield _warn("DOC-REFERENCE", f"racks.{rack.id}.part", text, "choose a rack of the design", rack.id)
        for path in rack.units:
            at, known = f"racks.{rack.id}.units.{path}", rack_of.setdefault(path, rack.id)
            if not reaches(design, path):
                text = f"there is no part {path!r}"
                yield _warn("DOC-REFERENCE", at, text, "choose a part of the design", rack.id)
            elif known != rack.id:
                text = f"{path!r} is in {known!r} already"
                yield _warn("DOC-REFERENCE", at, text, "take it out of one of both racks", rack.id)
    for assertion in design.assertions.values():
        if assertion.workload is not None and assertion.workload not in design.workloads:
            yield _warn(
                "DOC-REFERENCE",
                f"assertions.{assertion.id}.workload",
                f"there is no workload {assertion.workload!r}",
                "choose a workload of the design",
                assertion.id,
            )
    if design.default_workload and design.default_workload not in design.workloads:
        yield _warn(
            "DOC-REFERENCE",
            "default_workload",
            f"there is no workload {design.default_workload!r}",
            "choose a workload of the design",
        )


def _workloads(design: Design) -> Iterator[Problem]:
    for spec in design.workloads.values():
        at, kind = f"workloads.{spec.id}", workload_kinds().get(spec.kind)
        if kind is None:
            yield _warn(
                "DOC-KIND",
                f"{at}.kind",
                f"the workload kind {spec.kind!r} is unknown; the workload is kept as it is",
                did_you_mean(spec.kind, workload_kinds(), "update designer, or choose a known kind"),
                spec.id,
            )
            continue
        try:
            read_settings(kind, spec.settings, f"{at}.settings")
        except AnalysisError as error:
            yield _fatal(WORKLOAD, error.place or at, error.text, error.remedy or "correct the workload", spec.id)


def _elaboration_problems(design: Design) -> list[Problem]:
    try:
        elaborate(design)
    except DocumentError as error:
        return [_fatal(WIRING, error.place or "design", error.text, error.remedy or "correct it")]
    return [*islice(chain(_misfits(design), _ports(design)), MAX_PROBLEMS)]


def _misfits(design: Design) -> Iterator[Problem]:
    """Links between parts that do not understand each other, one of each kind of pair."""
    net = usage(design).net
    assert net is not None
    if not net.n_links:
        return
    arrays, (first, counts) = net.arrays, distinct_links(net)
    ends = [arrays.part_def[end[first]] for end in (arrays.link_a, arrays.link_b)]
    kinds = {kind: n for n, kind in enumerate(sorted({d.kind for d in net.link_defs}))}
    names = list(kinds)
    kind_of = np.array([kinds[d.kind] for d in net.link_defs], dtype=np.int64)[arrays.link_def[first]]

    def asked(row: int) -> tuple[Part, Part, str]:
        a, b = (net.part_defs[int(end[row])] for end in ends)
        return a, b, names[int(kind_of[row])]

    # of a design drawn part by part most links join parts of the same types: these are asked about once
    equal = equal_parts(net)
    pair = (equal[ends[0]] * len(equal) + equal[ends[1]]) * len(kinds) + kind_of
    _, some, which = np.unique(pair, return_index=True, return_inverse=True)
    bad = np.array([bool(misfit(design, *asked(row))) for row in some.tolist()], dtype=bool)
    for row in np.flatnonzero(bad[which]).tolist():
        a, b, kind = asked(row)
        why, number, count = misfit(design, a, b, kind), int(first[row]), int(counts[row])
        where = (net.path(int(net.link_a[number])), net.path(int(net.link_b[number])))
        more = f" (and {count - 1:,} links like it)" if count > 1 else ""
        code = MISFIT if kind in fitting_links(a.kind, b.kind) else PORTS
        remedy = "use another kind of link, or parts that fit"
        yield _fatal(code, net.link_path(number), f"{why}{more}", remedy, *where)


def _ports(design: Design) -> Iterator[Problem]:
    """Parts at which more links end than they have ports or lanes for, each definition once."""
    for full in overfull(design):
        yield _fatal(
            PORTS,
            full.path,
            f"its links need {full.taken} {full.what}, it has {full.total}",
            "lower the count of its links, or choose a larger part",
            full.path,
        )

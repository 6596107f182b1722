"""The outline: a design as a tree of parts and groups, which mirrors the canvas for keyboard and screen reader."""

from __future__ import annotations

from collections.abc import Mapping

from designer.catalog.parttype import part_kinds
from designer.design.address import Address, Ref
from designer.design.document import Block, Design
from designer.design.selectors import natural_key
from designer.gui.viewmodels.table import Branch

_MOST = 20_000


def tree(design: Design, query: str = "") -> list[Branch]:
    """Branches of a design; with a query only those that match it, and what contains them."""
    budget = [_MOST]
    roots = _block(design, (), design, budget)
    extra = [
        ("Workloads", "workloads", {w.id: (w.title or w.id, w.kind) for w in design.workloads.values()}),
        ("Virtual machines", "vms", {v.id: (v.name or v.id, v.host or "") for v in design.vms.values()}),
        (
            "Notes",
            "annotations",
            {a.id: (a.text.splitlines()[0] if a.text else a.id, "") for a in design.annotations.values()},
        ),
    ]
    for title, what, items in extra:
        if items:
            roots.append(_extra(title, what, items))
    return _matching(roots, query.casefold().split()) if query.strip() else roots


def _extra(title: str, what: str, items: Mapping[str, tuple[str, str]]) -> Branch:
    rows = [Branch(name, detail, ((), Ref(what, key))) for key, (name, detail) in items.items()]  # type: ignore[arg-type]
    return Branch(title, str(len(rows)), None, children=rows)


def _block(block: Block, within: Address, design: Design, budget: list[int]) -> list[Branch]:
    made: dict[str, Branch] = {}
    for part_id in sorted(block.parts, key=natural_key):
        budget[0] -= 1
        if budget[0] < 0:
            break
        part = block.parts[part_id]
        kind = part_kinds().get(part.kind)
        part_type = design.type_of(part)
        detail = part_type.title if part_type else (kind.title if kind else part.kind)
        made[part_id] = Branch(part.label, detail, (within, Ref("parts", part_id)), part.kind, tip=part_id)
    roots: list[Branch] = []
    order = {k: (part_kinds()[block.parts[k].kind].order if block.parts[k].kind in part_kinds() else 99) for k in made}
    for part_id in sorted(made, key=lambda k: order[k]):
        parent = block.parts[part_id].parent
        (made[parent].children if parent in made else roots).append(made[part_id])
    for group in block.groups.values():
        inside = _block(group.content, (*within, (group.id, None)), design, budget) if budget[0] > 0 else []
        count = f"× {group.replicas}" if group.replicas > 1 else ""
        branch = Branch(group.label, count, (within, Ref("groups", group.id)), "group", children=inside)
        for member, own in sorted(group.exceptions.items()):
            content = _block(own, (*within, (group.id, member)), design, budget) if budget[0] > 0 else []
            branch.children.append(Branch(f"{group.label} {member + 1}", "exception", None, "group", children=content))
        (made[group.parent].children if group.parent in made else roots).append(branch)
    return roots


def _matching(branches: list[Branch], words: list[str]) -> list[Branch]:
    found: list[Branch] = []
    for branch in branches:
        text = f"{branch.title} {branch.detail} {branch.tip}".casefold()
        inside = _matching(branch.children, words)
        if inside or all(w in text for w in words):
            found.append(
                Branch(
                    branch.title,
                    branch.detail,
                    branch.key,
                    branch.icon,
                    branch.tip,
                    branch.drag,
                    inside or branch.children,
                )
            )
    return found

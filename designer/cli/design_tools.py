"""What a program may ask of designs in one folder: each method is one tool, stated by its docstring.

Everything answered is data as JSON knows it. Designs are named by a file in the folder or the id of a template. Nothing
is written unless the folder was opened for writing and the call says ``dry_run = false``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from designer import atomic
from designer.catalog.describe import describe
from designer.catalog.loader import load_catalog
from designer.catalog.sources import load_sources
from designer.checks.analysing import analyze
from designer.cli.confined import Folder
from designer.cli.documents import analysis_document, bottleneck_document, ids_of
from designer.cli.output import finding_dict
from designer.design import legality
from designer.design.diff import diff
from designer.design.document import WorkloadSpec
from designer.design.edits.workloads import AddWorkloads
from designer.design.integrity import demand_sound
from designer.design.legality import can_connect, can_contain
from designer.design.query import summarize
from designer.errors import DesignerError, DocumentError, FormatError, raised_in
from designer.finding_codes import CODES
from designer.interchange.changes import apply_changes
from designer.interchange.native.envelope import SUFFIX, written_by
from designer.interchange.native.reader import load
from designer.interchange.native.writer import save
from designer.interchange.overrides import SOURCE, overridden
from designer.interchange.templates import find_template, list_templates
from designer.pages.workload import overview, page_of
from designer.present.markdown import to_markdown
from designer.report.assembly import Given, compose_report
from designer.report.settings import load_settings
from designer.report.writing import rendered
from designer.rules.door import check
from designer.rules.pages import markdown
from designer.rules.rule import rules
from designer.sources import Estimate
from designer.testing.files import CHECKS, find, open_suite
from designer.testing.formats import as_document, run_suite

if TYPE_CHECKING:
    from designer.design.document import Design
    from designer.engine.results import WorkloadResult
    from designer.findings import Finding
    from designer.present.blocks import Page

#: so many rows are answered unless more are asked for
_MOST: Final = 200
#: characters of a page that is answered
ANSWER_LIMIT: Final = 2_000
_MORE: Final = "\n\n… call again with full = true for the rest"
_FILE_LIKE: Final = re.compile(r"[\\/]|\.(json|jsonl|csv|toml)\Z", re.IGNORECASE)


class DesignTools:
    """The tools.

    Parameters
    ----------
    writes
        True if calls may write into the folder.
    """

    def __init__(self, folder: Folder, writes: bool = False) -> None:
        self.folder = folder
        self.writes = writes

    @property
    def tools(self) -> Sequence[Any]:
        """The methods that are tools."""
        return (
            self.list_designs,
            self.open_design,
            self.find_parts,
            self.can_connect,
            self.edit,
            self.analyze,
            self.explain,
            self.explain_code,
            self.test,
            self.report,
        )

    def list_designs(self) -> dict[str, Any]:
        """The designs and test files in the folder, and the templates to start from."""

        found = sorted(p for p in self.folder.root.rglob("*") if p.name.endswith((SUFFIX, CHECKS)) and p.is_file())
        names = [self.folder.name(p) for p in found if self.folder.holds(p)]
        return {
            "designs": [n for n in names if n.endswith(SUFFIX)],
            "tests": [n for n in names if n.endswith(CHECKS)],
            "templates": [{"id": t.id, "title": t.title, "gpus": t.gpus} for t in list_templates()],
        }

    def open_design(self, design: str, ids: bool = False) -> dict[str, Any]:
        """What is in a design: parts and links by kind, workloads, groups, and what a person should look at.

        With ids every part, link, wiring and group is listed as well, by the id that edits name it by.
        """

        opened, findings = self._open(design)
        stated = {
            **summarize(opened, design),
            "title": opened.title,
            "intent": opened.intent,
            "workload_kinds": {w.id: w.kind for w in opened.workloads.values()},
            "findings": _findings(list(dict.fromkeys([*findings, *_check_rules(opened)]))),
        }
        if ids:
            stated["ids"] = dict(ids_of(opened, ""))
        return stated

    def find_parts(self, query: str = "", kind: str = "") -> dict[str, Any]:
        """Part types of the catalog by words or kind; one that is named by its id is stated in full, with sources."""

        catalog = load_catalog()
        if query in catalog:
            part = catalog.get(query)
            values = {
                r.name: {"text": r.text, "band": r.band, "status": str(r.status), "source": r.source_title}
                for r in describe(part)
            }
            return {"id": part.id, "kind": part.kind, "title": part.title, "values": values}
        entries = catalog.find(query, kind or None) if query else catalog.entries(kind or None)
        return {"parts": [{"id": e.id, "title": e.title, "vendor": e.vendor} for e in list(entries)[:_MOST]]}

    def can_connect(self, design: str, a: str, b: str, kind: str = "") -> dict[str, Any]:
        """Whether a link may join two parts: the kinds that fit, room for how many, or the reason why not."""

        opened, _ = self._open(design)
        verdict = legality.can_connect(opened, a, b, kind or None)
        return {"ok": verdict.ok, "kinds": list(verdict.kinds), "room": verdict.room, "reason": verdict.reason}

    def edit(
        self,
        design: str,
        changes: dict[str, Any] | None = None,
        set: list[str] | None = None,
        workloads: list[dict[str, Any]] | None = None,
        save_as: str = "",
        dry_run: bool = True,
    ) -> dict[str, Any]:
        """Change a design: what would differ, which findings come and go, and what it does to its workloads.

        changes is an object: {"parts": {"gpu*": {"type": "gpu/nvidia/h200-sxm"}}, "links": {"a--b": {"count": 2}},
        "groups": {"hosts": 16}, "policy": {"gpudirect": false}, "remove": ["nic1"], "add": {"parts": [...],
        "links": [{"a": "gpu0", "b": "nic0", "kind": "pcie"}]}, "vms": {...}, "servers": ...}. set holds texts such as
        "workloads.h2d.to=gpu0". workloads holds new ones with id, kind and settings. A link that may not be drawn is
        refused with the reason. Only with dry_run false, and where writing was allowed, is anything written: to the
        design itself, or to save_as.
        """

        before, _ = self._open(design)
        self.demand_inside(set or [])
        self.demand_inside(workloads or [])
        after = self._apply_changes(before, changes or {})
        after = _with_workloads(overridden(after, set or ()), workloads or ())
        demand_sound(after)
        old, new = _findings(_check_rules(before)), _findings(_check_rules(after))
        stated: dict[str, Any] = {
            "changes": diff(before, after).lines(_MOST),
            "new_findings": [f for f in new if f not in old],
            "gone_findings": [f for f in old if f not in new],
            "effect": _effect(before, after),
            "written": None,
        }
        if not dry_run:
            stated["written"] = self._save(design, after, save_as)
        return stated

    def analyze(self, design: str, workload: str = "", channels: int = 20, full: bool = False) -> dict[str, Any]:
        """Run the workloads of a design, or one: what they reach and what binds; with full every metric with its band
        and sources, and the busiest channels.
        """

        opened, findings = self._open(design)
        found = analyze(opened, [workload] if workload else None, file=design, curves=False)
        stated = [*findings, *found.findings, *(f for w in found.workloads for f in w.findings)]

        def document() -> dict[str, Any]:
            made = analysis_document(found, stated, channels)
            for one in made["workloads"]:
                one["flows"] = one["flows"][: max(0, channels)]
            return made

        pages = [page_of(w, opened, design, findings=tuple(findings)) for w in found.workloads]
        return answer_of(pages[0] if len(pages) == 1 else overview(pages, opened, design), full, document)

    def explain(self, design: str, workload: str, metric: str = "", full: bool = False) -> dict[str, Any]:
        """Why a workload takes as long as it does: what binds and what next; with full, or for one metric, the metrics
        with their bands and sources.
        """

        result = self._analyze_one(design, workload)
        if metric and metric not in result.metrics:
            raise FormatError(f"there is no metric {metric!r}", remedy=f"there are {', '.join(result.metrics)}")
        shipped = load_sources()
        own = self._open(design)[0].part_types
        records = {key: source for part_type in own.values() for key, source in part_type.sources.items()}
        chosen = {name: m for name, m in result.metrics.items() if not metric or name == metric}

        def source(key: str) -> dict[str, str]:
            known = shipped.get(key) or records.get(key)
            return (
                {"key": key}
                if known is None
                else {"key": key, "title": known.title, "publisher": known.publisher, "url": known.url}
            )

        page = page_of(result, self._open(design)[0], design)
        return answer_of(
            page,
            full or bool(metric),
            lambda: {
                "workload": result.id,
                "title": result.title,
                "metrics": {
                    name: {
                        "value": m.value,
                        "unit": m.unit,
                        "low": m.low,
                        "high": m.high,
                        "how": m.note,
                        "sources": [source(key) for key in m.sources],
                    }
                    for name, m in chosen.items()
                },
                "binding": [bottleneck_document(b) for b in result.binding],
                "next": [bottleneck_document(b) for b in result.next],
                "findings": _findings(result.findings),
            },
        )

    def explain_code(self, code: str) -> dict[str, Any]:
        """The page of a design rule, or what the code of a finding means."""

        rule = rules().get(code)
        if rule is not None:
            return {"code": code, "title": rule.name, "page": markdown(rule)}
        if code in CODES:
            return {"code": code, "title": CODES[code].title, "page": ""}
        raise FormatError(f"there is no finding {code!r}", remedy="take a code from the findings of a design")

    def test(self, path: str = ".") -> dict[str, Any]:
        """Run design tests: a *.checks.toml, a design with assertions, or all in a folder."""

        place = self.folder.file(path)
        if not place.exists():
            raise FormatError("there is no such file", file=path, remedy="see list_designs")
        tests: list[Any] = []
        errors: list[str] = []
        for file in find([str(place)]):
            try:
                if not self.folder.holds(file):
                    self.folder.file(str(file))
                suite = open_suite(file)
                self.demand_inside([w.settings for w in suite.design.workloads.values()])
                tests += run_suite(suite)
            except DesignerError as error:
                errors.append(str(error).replace(str(self.folder.root), "."))
        return {**as_document(tests), "errors": errors}

    def report(
        self,
        design: str = "",
        designs: list[str] | None = None,
        output: str = "",
        prices: str = "",
        dry_run: bool = True,
    ) -> dict[str, Any]:
        """The design report of a design; returns its chapters. designs adds further designs to compare with it.

        output names the file to write, which ends in .html, .pdf or .md.
        """

        given: list[Given] = []
        names = [*([design] if design else ()), *(name for name in designs or () if name != design)]
        if not names:
            raise FormatError("report needs a design", place="design", remedy="name a file or a template")
        for name in names:
            opened, findings = self._open(name)
            given.append(Given(opened, name, tuple(findings)))
        settings = load_settings(None, self.folder.file(prices) if prices else None)
        # refused before the report is made, which takes seconds
        target = None if dry_run else self._target(output, (".html", ".pdf", ".md"))
        found = compose_report(given, settings, version=written_by())
        stated: dict[str, Any] = {
            "title": found.title,
            "chapters": [chapter.title for chapter in found.chapters],
            "written": None,
        }
        if target is not None:
            atomic.write(target, rendered(found, target.suffix))
            stated["written"] = self.folder.name(target)
        return stated

    @property
    def writing(self) -> frozenset[str]:
        """Names of the tools that may write a file."""
        return frozenset({"edit", "report"})

    def opened(self, name: str) -> Design:
        """A design of the folder or a template."""
        return self._open(name)[0]

    def saved(self, design: Design, name: str) -> str:
        """Write a new design into the folder; its name there."""

        target = self._target(name, (SUFFIX,))
        if target.exists():
            raise FormatError("the file exists already", file=name, remedy="choose another name")
        save(design, target)
        return self.folder.name(target)

    def _open(self, name: str) -> tuple[Design, list[Finding]]:
        """A design of the folder or a template."""

        place = self.folder.file(name)
        with raised_in(file=name):
            loaded = load(place if place.exists() or name.endswith(".json") else find_template(name))
        self.demand_inside([w.settings for w in loaded.design.workloads.values()])
        return loaded.design, list(loaded.findings)

    def demand_inside(self, value: object) -> None:
        """Refuse settings that name files outside the folder."""
        for text in _texts(value):
            at = text.partition("=")[2].strip() if "=" in text else text
            if (Path(at).is_absolute() or _FILE_LIKE.search(at)) and not self.folder.holds(self.folder.root / at):
                self.folder.file(at)

    def _apply_changes(self, before: Design, changes: Mapping[str, Any]) -> Design:
        """The changed design; links that may not be drawn are refused with the reason."""

        added = changes.get("add")
        links = added.get("links") if isinstance(added, dict) else None
        if not isinstance(links, list) or not links:
            after = apply_changes(before, changes, SOURCE)
        else:
            # one after the other, so that each takes its ports before the next is asked about
            assert isinstance(added, dict)
            after = apply_changes(before, {**changes, "add": {k: v for k, v in added.items() if k != "links"}}, SOURCE)
            for k, link in enumerate(links):
                place = f"changes.add.links[{k}]"
                if not isinstance(link, dict) or not all(isinstance(link.get(end), str) for end in ("a", "b")):
                    raise FormatError("a link needs both ends", place=place, remedy='{"a": "gpu0", "b": "nic0"}')
                verdict = can_connect(after, link["a"], link["b"], link.get("kind"))
                if not verdict.ok:
                    remedy = "ask can_connect, or take another part"
                    raise DocumentError(f"this may not be linked: {verdict.reason}", place=place, remedy=remedy)
                count = link.get("count", 1)
                if verdict.room is not None and isinstance(count, int) and count > verdict.room:
                    raise DocumentError(
                        f"this may not be linked: there is room for {verdict.room}, not {count}",
                        place=place,
                        remedy="ask for fewer",
                    )
                one = {"kind": verdict.kinds[0], **link}
                after = apply_changes(after, {"add": {"links": [one]}}, SOURCE)
        for part in after.parts.values():
            above = after.parts.get(part.parent) if part.parent is not None else None
            if part.id in before.parts or above is None:
                continue
            verdict = can_contain(after, above.kind, part.kind)
            if not verdict.ok:
                raise DocumentError(
                    f"{part.id} may not stand there: {verdict.reason}",
                    place="changes.add.parts",
                    remedy="give it another parent",
                )
        return after

    def _target(self, name: str, suffixes: Sequence[str]) -> Path:
        """The file to write to."""
        if not self.writes:
            raise FormatError("writing was not allowed", file=name or None, remedy="start: designer mcp FOLDER --write")
        target = self.folder.file(name)
        if not target.name.lower().endswith(tuple(suffixes)) or target == self.folder.root:
            raise FormatError("this is no name for it", file=name, remedy=f"end it with {', '.join(suffixes)}")
        if target.exists() and not target.is_file():
            raise FormatError("this is no plain file", file=name, remedy="choose another name")
        return target

    def _save(self, design: str, after: Design, save_as: str) -> str:
        if not save_as and not self.folder.file(design).exists():
            raise FormatError("a template cannot be changed", file=design, remedy="name a file in save_as")
        target = self._target(save_as or design, (SUFFIX,))
        if save_as and target.exists() and target != self.folder.file(design):
            raise FormatError("the file exists already", file=save_as, remedy="choose another name")
        save(after, target)
        return self.folder.name(target)

    def _analyze_one(self, design: str, workload: str) -> WorkloadResult:
        opened, _ = self._open(design)
        return analyze(opened, [workload], file=design, curves=False).workloads[0]


def _check_rules(design: Design) -> list[Finding]:
    return check(design)


def _findings(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    return [finding_dict(f) for f in findings[:_MOST]]


def _with_workloads(design: Design, given: Sequence[Mapping[str, Any]]) -> Design:
    from pydantic import ValidationError

    for k, raw in enumerate(given):
        try:
            spec = WorkloadSpec.model_validate(dict(raw))
        except ValidationError as error:
            text = str(error.errors()[0]["msg"])
            raise FormatError(
                text, place=f"workloads[{k}]", remedy='write {"id": …, "kind": …, "settings": {…}}'
            ) from None
        design = AddWorkloads((spec,)).apply(design)
    return design


def _effect(before: Design, after: Design) -> dict[str, Any]:
    """Metrics of every workload before and after, those that differ, the default workload first, in at most 2 kB.

    Notes
    -----
    Where they take more, the main metric of each workload stays, and as many workloads as fit.
    """
    names = sorted(after.workloads, key=lambda name: name != after.default_workload)
    found = {name: _moved(before, after, name) for name in names}
    moved = {name: rows for name, rows in found.items() if rows}
    for most in (None, 3, 1):
        stated = {name: dict(list(rows.items())[:most]) for name, rows in moved.items()}
        if len(json.dumps(stated).encode()) <= ANSWER_LIMIT:
            break
    left = 0
    while len(json.dumps(stated).encode()) > ANSWER_LIMIT:
        stated.popitem()
        left += 1
    return {"low_value_high": stated, **({"more_workloads": left} if left else {})}


def _rounded_ends(found: Estimate) -> list[float]:
    """Low end, value and high end to four digits."""
    return [float(f"{end:.4g}") for end in (found.low, found.value, found.high)]


def _moved(before: Design, after: Design, name: str) -> dict[str, Any]:
    """Metrics of one workload that differ, or why there are none."""
    try:
        new = analyze(after, [name], curves=False).workloads[0].metrics
        known = name in before.workloads
        old = analyze(before, [name], curves=False).workloads[0].metrics if known else {}
    except DesignerError as error:
        return {"reason": str(error)}
    return {
        key: {"unit": m.unit, "before": _rounded_ends(old[key]) if key in old else None, "after": _rounded_ends(m)}
        for key, m in new.items()
        if key not in old or old[key].value != m.value
    }


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def answer_of(page: Page, full: bool, document: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """A page of at most 2 kB, or the whole one with its document."""

    return reply_of(to_markdown(page), full, document)


def reply_of(text: str, full: bool, document: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """A text of at most 2 kB, or all of it with its document."""
    if full:
        return {"answer": text, "document": dict(document())}
    cut = len(text.encode()) > ANSWER_LIMIT
    if cut:
        room = ANSWER_LIMIT - len(_MORE.encode())
        text = text.encode()[:room].decode("utf-8", "ignore").rsplit("\n", 1)[0] + _MORE
    return {"answer": text, "cut": cut}

"""Checks and findings: what does not hold, what was accepted, and how to test the machine once it is built."""

from __future__ import annotations

import re

from designer.design.document import Design
from designer.engine.results import WorkloadResult
from designer.findings import Finding, Severity
from designer.present.limits import short_of
from designer.present.words import counted_by
from designer.report.chapter import ChapterKind, muted, strong, text
from designer.report.document import Align, Block, Chapter, Follows, Head, Row, Span, Table, Text, rich
from designer.report.names import in_names
from designer.report.subject import Context, Subject
from designer.report.wording import DASH, continued, ends, in_words, listed, quantity, sentence, whole_clauses
from designer.rules.runner import check

_STYLE = {Severity.ERROR: "alarm", Severity.WARNING: "warn", Severity.INFO: "muted"}
_MOST = 24
_TEXT = 260
#: a title ends with so much of the worst finding
_CLAUSE = 90
#: ids of parts that differ by their number
_NUMBERED = re.compile(r"(?<=[A-Za-z_\[])\d+")


def build(context: Context, subject: Subject) -> Chapter:
    """The chapter."""
    stated = check(subject.design, today=context.date)
    known = {(f.code, f.text) for f in subject.findings}
    order = list(Severity)
    every = [f for f in subject.findings if f.code != "ASSERT-UNEVALUATED"]
    every += [f for f in stated.findings if (f.code, f.text) not in known]
    every.sort(key=lambda f: order.index(f.severity))
    folded = _fold_findings(every)
    blocks: list[Block] = []
    if every:
        heads = (Head("Severity"), Head("Rule"), Head("Finding"), Head("Remedy"))
        aside = f"the worst {_MOST} of {len(folded)} kinds" if len(folded) > _MOST else ""
        blocks.append(Table("Findings", heads, tuple(_row(subject, f, n) for f, n in folded[:_MOST]), aside))
    if stated.waived:
        heads = (Head("Rule"), Head("Finding"), Head("Reason"), Head("Until"))
        rows = [
            Row(
                (
                    strong(w.waiver.code),
                    text(whole_clauses(in_names(subject.stock, w.finding.text), _TEXT)),
                    text(w.waiver.reason),
                    muted(w.waiver.expires or "for good"),
                )
            )
            for w in stated.waived[:_MOST]
        ]
        blocks.append(Table("Waived", heads, tuple(rows)))
    tests = _acceptance(subject)
    if tests:
        r = Align.RIGHT
        heads = (
            Head("Test"),
            Head("Command"),
            Head("Expected", r),
            Head("80% band", r),
            Head("If it is lower, look at"),
        )
        note = rich("Run each on the idle machine, three times; below the lower end of the band something is wrong.")
        blocks.append(Table("Acceptance", heads, tuple(tests), "run when the machine is installed", note, small=True))
    counts = [(s, sum(f.severity is s for f in every)) for s in Severity]
    words = [in_words(n, str(s) if s is not Severity.INFO else "remark") for s, n in counts]
    title = sentence(listed(words))
    if stated.waived:
        title += f"; {in_words(len(stated.waived), 'finding')} waived with a reason"
    elif every:
        title += f": {_briefly(in_names(subject.stock, every[0].text))}"
    remedies = list(dict.fromkeys(f.remedy for f in every if f.remedy and f.severity is not Severity.INFO))
    follows: tuple[Text, ...] = tuple(rich(f"{sentence(r)}.") for r in remedies[:3])
    blocks.append(Follows(follows or (rich("Nothing has to be mended before the order."),)))
    return Chapter(
        context.key("findings", subject),
        "Checks and findings",
        title,
        "What does not hold, and how is the machine accepted?",
        tuple(blocks),
        rich(
            "Rules look at the drawing, analyses at its workloads; a waiver keeps a finding in the list with its"
            " reason."
        ),
        context.lettered(subject),
    )


def _fold_findings(findings: list[Finding]) -> list[tuple[Finding, int]]:
    """Findings that differ in the numbers of what they name alone, once, with how many there are."""
    found: dict[tuple[str, str], tuple[Finding, int]] = {}
    for finding in findings:
        key = (finding.code, _NUMBERED.sub("#", finding.text))
        first, n = found.get(key, (finding, 0))
        found[key] = (first, n + 1)
    return list(found.values())


def _briefly(stated: str) -> str:
    """The first clause of a finding, as a title can end with it."""
    clauses = stated.split(": ")
    # what is before the first colon may be no more than whom the finding is about
    clause = next((c for c in clauses if " " in c), clauses[0]).split(";")[0]
    if len(clause) > _CLAUSE:
        cut = clause[:_CLAUSE]
        clause = cut.rsplit(", ", 1)[0] if ", " in cut[_CLAUSE // 3 :] else whole_clauses(clause, _CLAUSE)
    return continued(clause)


def _row(subject: Subject, finding: Finding, equal: int) -> Row:
    stated = in_names(subject.stock, finding.text)
    stated = whole_clauses(stated, _TEXT)
    if equal > 1:
        stated += f" (and {equal - 1:,} like it)"
    return Row(
        (
            rich(Span(str(finding.severity), _STYLE[finding.severity], sign=str(finding.severity))),
            muted(finding.code),
            text(sentence(stated)),
            muted(sentence(finding.remedy) if finding.remedy else "–"),
        )
    )


def _acceptance(subject: Subject) -> list[Row]:
    """Tests a technician runs, with what the analysis expects; commands are those of the tools everybody uses."""
    rows: list[Row] = []
    gpus = subject.stock.accelerators
    for w in subject.results:
        if w.kind == "collective" and "bus_bandwidth" in w.metrics:
            kind = "all_reduce_perf" if "reduce" in w.id else "all_gather_perf"
            command = f"mpirun -np {gpus} {kind} -b 1G -e 1G -f 2 -g 1"
            rows.append(_test(subject.design, w.title, command, w, "bus_bandwidth"))
        elif w.kind == "transfer" and "data_rate_per_gpu" in w.metrics:
            local = "h2d" in w.id or "host" in w.title.lower()
            command = (
                "nvbandwidth -t host_to_all_memcpy_ce"
                if local
                else "fio --name=read --rw=read --bs=1M --direct=1 --ioengine=libaio --iodepth=32 --numjobs=8"
            )
            rows.append(_test(subject.design, w.title + ", a GPU", command, w, "data_rate_per_gpu"))
        elif w.kind == "training" and "step_time" in w.metrics:
            name = "tokens_per_second" if "tokens_per_second" in w.metrics else "samples_per_second"
            rows.append(_test(subject.design, w.title, "the training job itself, after 50 steps", w, name))
        elif w.kind == "migration" and "migration_time" in w.metrics:
            rows.append(_test(subject.design, w.title, "migrate the machine from its console", w, "migration_time"))
    return rows


def _test(design: Design, title: str, command: str, w: WorkloadResult, metric: str) -> Row:
    e = w.metrics[metric]
    suspect = short_of(w.binding, design) or "–"
    what = counted_by(metric, design.workloads.get(w.id))
    return Row(
        (
            strong(title),
            rich(Span(command, "code")),
            text(quantity(e.value, e.unit, what)),
            muted(DASH.join(ends(e, what))),
            text(suspect),
        )
    )


CHAPTER = ChapterKind("findings", "Checks and findings", 150, of_design=build)

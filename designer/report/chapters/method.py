"""Method and limits: how figures come about, what is left out, and how to repeat them."""

from __future__ import annotations

from designer.report.chapter import ChapterKind, strong, text
from designer.report.document import Block, Chapter, Head, Row, Span, Table, rich
from designer.report.subject import Context, Subject
from designer.report.tables.power import FITS, draws, total
from designer.report.wording import counted

_STEPS = (
    ("Drawing", "parts, links, wirings and groups of the design file; groups are multiplied out"),
    ("Routes", "every transfer takes the ways the hardware and its drivers take; ties are split or hashed"),
    ("Shares", "flows share links fairly; what is full first sets the rate, then the next"),
    ("Estimates", "published models of computing, collectives, storage and migration, with their constants"),
    ("Bands", "80 %: eight of ten measurements are expected inside; assumed values widen them"),
    ("What limits", "a bottleneck is found by doubling its capacity and computing everything again"),
    ("Purchases", "the edit is made in the document and the whole design is analysed again"),
)
_LIMITS = (
    ("Steady rates", "queueing, incast and congestion control of networks are not modelled"),
    ("Alone", "each workload is estimated alone unless it names others that run at the same time"),
    ("Placement", "jobs fill the accelerators they name; schedulers are not modelled"),
)


def build(context: Context) -> Chapter:
    """The chapter."""
    heads = (Head("Step"), Head("What happens"))
    blocks: list[Block] = [
        Table("From drawing to figure", heads, tuple(Row((strong(a), text(b))) for a, b in _STEPS), small=True)
    ]
    limits = [*_LIMITS]
    left_out: list[tuple[str, str]] = []
    plans = [s.plan for s in context.subjects]
    if any(not p.drawn for p in plans):
        limits.append(
            ("Positions", "where no racks are drawn, positions and cable lengths are a proposal by height and power")
        )
    limits.append(("Power", f"accelerators: {FITS['accelerator']}, {FITS['error']}; {FITS['around']}"))
    if context.settings.prices is None:
        left_out.append(("Cost", "no price list was given; none is ever guessed"))
    if not any(s.targets for s in context.subjects):
        left_out.append(
            ("Targets", "the design promises nothing; write targets into it or into the settings of the report")
        )
    for subject in context.subjects:
        no_weight = [c for c in subject.stock.classes if subject.stock.number(c.part, "weight") is None]
        if no_weight:
            left_out.append(
                ("Weight", f"{counted(len(no_weight), 'kind')} of unit{_of(context, subject)} without a weight")
            )
        if total(draws(subject.design, None))[0] <= 0:
            left_out.append(("Power", f"no unit{_of(context, subject)} states its power, nor do its parts"))
        sweeps = any(w.curves for w in subject.results)
        if not sweeps and subject.results:
            left_out.append(
                ("Sweeps", f"the design{_of(context, subject)} is large: scaling and size sweeps were left out")
            )
    blocks.append(
        Table(
            "Limits",
            (Head("About"), Head("What is not in it")),
            tuple(Row((strong(a), text(b))) for a, b in limits),
            small=True,
        )
    )
    if left_out:
        blocks.append(
            Table(
                "Not in this report",
                (Head("What"), Head("Why")),
                tuple(Row((strong(a), text(b))) for a, b in left_out),
                small=True,
            )
        )
    names = " ".join(s.file or s.design.name for s in context.subjects)
    rows = [
        Row((strong("Designs"), text(", ".join(s.design.name for s in context.subjects)))),
        Row((strong("Program"), text(context.version or "designer"))),
        Row((strong("Report"), rich(Span(f"designer report {names} -o report.html", "code")))),
        Row(
            (
                strong("Figures"),
                rich(
                    Span(
                        f"designer analyze {context.subjects[0].file or context.subjects[0].design.name} --json", "code"
                    )
                ),
            )
        ),
    ]
    blocks.append(Table("To repeat this report", (Head(""), Head("")), tuple(rows), small=True))
    return Chapter(
        "method",
        "Method and limits",
        "Every figure is computed from the drawing; congestion and schedulers are left out",
        "How do figures come about, and what is not in them?",
        tuple(blocks),
        rich("Nothing is typed in: the same design gives the same report."),
    )


def _of(context: Context, subject: Subject) -> str:
    return f" of design {subject.letter}" if len(context.subjects) > 1 else ""


CHAPTER = ChapterKind("method", "Method and limits", 910, of_report=build)
